"""``overlapper correct``: raw reads in, corrected reads with qualities out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from overlapper.cli import options
from overlapper.cli.config import configured
from overlapper.cli.footer import words_called
from overlapper.cli.outputs import OUTPUT, check_choice, check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, begun, load_compute
from overlapper.cli.stage_runs import StageRun

if TYPE_CHECKING:
    from overlapper.correction.reads import Corrected
    from overlapper.io.read_store import ReadStore
    from overlapper.tables import Overlaps, Reads

EXAMPLES = """
overlapper correct reads.fastq.gz -o corrected.fastq.gz
overlapper correct reads.fa --overlaps overlaps.paf.gz --rounds 1 -o corrected.fastq
overlapper correct reads.bam --uncovered trim --table changes.tsv -o corrected.fastq.gz
"""


def correct(
    reads: options.ReadFiles,
    output: Annotated[
        str,
        options.output(
            "Corrected reads: BAM if the name ends in .bam, SAM if in .sam, FASTA if in .fasta or .fa, else "
            "FASTQ; compressed if it ends in .gz. - is FASTQ on standard output."
        ),
    ] = "-",
    overlaps: Annotated[
        str | None, options.file("Use these overlaps in the first round instead of finding them.")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rounds of correction. Each later round finds overlaps of the reads that "
            "the round before corrected.",
            show_default="2",
        ),
    ] = None,
    preset: options.Preset = "auto",
    min_length: options.MinLength = 0,
    min_quality: options.MinQuality = 0.0,
    no_duplex_parents: options.NoDuplexParents = False,
    uncovered: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What to do with bases that fewer than two other reads cover: keep them, trim them off "
            "the ends of reads, or split reads there.",
        ),
    ] = "keep",
    tags: options.Tags = "all",
    max_depth: options.MaxDepth = None,
    depth: options.Depth = None,
    haplotype_filter: Annotated[
        bool | None,
        typer.Option(
            "--haplotype-filter/--no-haplotype-filter",
            help="Do not let reads of other haplotypes and of other copies of a repeat vote.",
            show_default="True",
        ),
    ] = None,
    table: Annotated[
        str | None, options.file("Write a tab-separated table of what happened to every read.")
    ] = None,
    memory: options.Memory = None,
    plan: options.Plan = False,
    workdir: options.Workdir = None,
    workers: options.Workers = 0,
    scheduler: options.Scheduler = None,
    threads: options.Threads = 0,
    device: options.Device = "auto",
    gpu_memory: options.GpuMemory = 0,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    stats: options.Stats = None,
    reference: options.Reference = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Correct reads by the reads that overlap them.

    Every base gets a quality, and unknown bases (N) are predicted. Reads keep their tags, and calls of base
    modifications where the base is still the same. The result depends only on the reads and the parameters.
    """
    outputs = {
        OUTPUT: output, "--table": table, "--write-config": write_config, "--stats": stats, "--log": log,
    }  # fmt: skip
    inputs = check_files(outputs, (*reads, overlaps, config, reference))
    check_name(output, "--output", "FASTA", "FASTQ", "BAM", "SAM")
    check_choice("--uncovered", uncovered, "keep", "trim", "split")
    threads = load_compute(device, threads)

    from overlapper.cli.record import Record
    from overlapper.correction.carried_tags import OF_GIVEN_BASES
    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.records import is_fasta, write_reads
    from overlapper.io.tags import TagChoice
    from overlapper.params.correction import CorrectParams
    from overlapper.params.text import to_toml

    given = {"rounds": rounds, "max_depth": max_depth, "depth": depth, "haplotype_filter": haplotype_filter}
    params = configured(CorrectParams(), config, given)
    parts = FastxParts(
        *reads, keep_qualities=True, read_filter=ReadFilter(min_length, min_quality, no_duplex_parents),
        tags=None if is_fasta(output) else TagChoice.of(tags, OF_GIVEN_BASES), reference=reference,
        threads=threads,
    )  # fmt: skip
    run = StageRun(
        parts, preset, output, workdir, memory, workers, scheduler, threads, device, gpu_memory, params
    )
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        if plan:
            run.print_plan(progress, params.rounds)
            return
        as_bam = output.endswith((".bam", ".sam", ".sam.gz"))
        files.open(None if as_bam else output, write_config, table, stats, threads=threads)
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        made, store = _corrected(run, overlaps, uncovered, progress, files)
        progress.report("writing")
        write = _unaligned(output, run, files) if as_bam else partial(write_reads, files[output])
        calls: Counter[str] = Counter()
        for reads_made, of_part in made.tagged_parts(store, threads):
            write(reads_made)
            calls.update(of_part)
        funnel = {**parts.left_out, **made.funnel, **calls}
        facts = {
            "funnel": funnel,
            "held": made.held.facts(),
            "warnings": made.warnings,
            "seconds": made.seconds,
            **run.facts(),
        }
        files.write(table, made.changes.to_tsv)
        files.write(write_config, lambda: to_toml(params))
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts({**made.funnel, **calls})
        progress.note(made.held.sentence(), *made.warnings)


def _unaligned(output: str, run: StageRun, files: RunFiles) -> Callable[[Reads], None]:
    """Return what writes reads as unaligned records of BAM or SAM."""
    from overlapper.io.mappings import MappingOptions, open_mappings
    from overlapper.tables import Mappings, Reads

    options = MappingOptions(command=words_called(), headers=run.parts.headers())
    writer = files.enter_context(open_mappings(output, Reads.empty(), options, threads=run.threads))
    return lambda reads: writer.write(reads, Mappings.empty())


def _corrected(
    run: StageRun, overlaps: str | None, uncovered: str, progress: Progress, files: RunFiles
) -> tuple[Corrected, ReadStore]:
    """Correct the reads, in memory or on disk; return them, and the given ones.

    What the result is read from stays until files are closed.
    """
    from overlapper.correction.reads import correct_packed
    from overlapper.correction.uncovered import Uncovered
    from overlapper.io import read_overlaps
    from overlapper.io.identity import Input, digest_of_table

    found: list[Overlaps] = []

    def given_overlaps(heads: Reads) -> list[Input]:
        # Files may have both sides of each overlap; each is to vote once.
        found.extend([read_overlaps(overlaps, heads).distinct()] if overlaps else [])
        return [Input("overlaps", [str(overlaps)], digest_of_table(table)) for table in found]

    store, resources = files.enter_context(run.opened(progress, given_overlaps))
    run.note_devices(int(store.lengths.sum()), progress)
    made = correct_packed(
        store, resources, found.pop() if found else None, run.params, preset=run.preset,
        uncovered=Uncovered(uncovered), report=progress.report,
    )  # fmt: skip
    return made, store
