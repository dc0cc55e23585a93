"""``overlapper assemble``: reads in, polished contigs out, in a folder that a killed run goes on in."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli import options
from overlapper.cli.assembly_log import PHASES, tell_assembly
from overlapper.cli.config import configured
from overlapper.cli.footer import words_called
from overlapper.cli.outputs import check_choice, check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, begun, load_compute
from overlapper.cli.stage_runs import StageRun
from overlapper.errors import EmptyResultError

if TYPE_CHECKING:
    from overlapper.assembly.contigs import Assembled
    from overlapper.io.mappings import MappingOptions
    from overlapper.io.read_store import ReadStore
    from overlapper.tables import Reads

EXAMPLES = """
overlapper assemble reads.fastq.gz -o assembly
overlapper assemble run1.fq.gz run2.fq.gz --correct always -o corrected_assembly
overlapper assemble amplicons.fa --min-overlap 500 -o amplicon_assembly
"""

ALWAYS = (
    "contigs.fasta", "contigs.gfa", "contigs.noseq.gfa", "contigs.tsv", "contigs.doubt.bed",
    "contigs.doubt.vcf", "stats.json",
)  # fmt: skip
LEFT_OUT, LOG = "contigs.left_out.tsv", "assemble.log"
OF_HAPLOTYPES = (
    "contigs.hap1.p_ctg.fasta", "contigs.hap1.p_ctg.gfa",
    "contigs.hap2.p_ctg.fasta", "contigs.hap2.p_ctg.gfa",
    "contigs.p_ctg.fasta", "contigs.p_ctg.gfa", "contigs.phase_blocks.tsv",
)  # fmt: skip
_PART_BASES = 1 << 24
_FILES_AT_A_TIME = 4
"""Most files that are written at a time: each takes memory. In a memory budget it is one."""


def _parent(which: str, number: str) -> Any:
    return options.file(
        f"Reads of the {which} parent, accurate or short ones; may be given several times. Haplotype "
        f"{number} is then of this parent from end to end. One parent is enough.",
        f"--parent{number}",
    )


def assemble(
    reads: options.ReadFiles,
    output: Annotated[
        str,
        options.output(
            "Folder for the results. Its subfolder stages keeps the result of every stage, so that the "
            "same command continues a killed run. Files of reads can be added later.",
            "DIR",
        ),
    ],
    preset: Annotated[
        str,
        options.preset(
            "ont, clr, hifi, one of minimap2's names, or auto. The error rate is always estimated from the "
            "reads; the preset is used only if too few reads overlap for that.",
            "-x",
        ),
    ] = "auto",
    min_length: options.MinLength = 0,
    min_quality: options.MinQuality = 0.0,
    no_duplex_parents: options.NoDuplexParents = False,
    correct: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Correct the reads before they are laid out: always, never, or auto, which decides by the "
            "error rate.",
            show_default="auto",
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="What to do with haplotypes and copies of repeats that are nearly the same. separate: "
            "correct the reads and keep copies in contigs of their own. collapse: join them. auto: "
            "separate if the reads have less than 4 % of errors, as HiFi and ONT R10 reads have.",
            show_default="auto",
        ),
    ] = None,
    haplotypes: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="What to do with two haplotypes. phase: write both of them, and primary contigs, in "
            "addition to the contigs. collapse: write contigs only. auto: phase if copies are kept "
            "apart and the reads come from two haplotypes.",
            show_default="auto",
        ),
    ] = None,
    correct_rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rounds of correction.",
            show_default="2, up to 4 if many reads still change",
        ),
    ] = None,
    polish_rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rounds of polishing.",
            show_default="0 for contigs of exact overlaps, 2 for others",
        ),
    ] = None,
    min_overlap: options.LayoutOverlap = None,
    end_errors: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            min=0,
            max=1,
            help="Cut off ends of contigs that fewer than three reads cover if the reads have a higher error "
            "rate than this. 1: cut off none.",
            show_default=str(0.01),
        ),
    ] = None,
    min_relative_depth: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Leave out contigs with less than this share of the depth of the main contig, such as "
            "contamination and reads of other barcodes. 0: leave out none.",
            show_default="0.0",
        ),
    ] = None,
    telomere: Annotated[
        str | None,
        typer.Option(
            metavar="MOTIF",
            help="What chromosomes begin with, such as CCCTAA. Ends of contigs with it are not cut off, and "
            "contigs.tsv names them.",
            show_default="",
        ),
    ] = None,
    rotate_to: Annotated[
        str | None,
        options.file(
            "FASTA file of sequences that circular contigs begin with, such as dnaA. Circles that none of "
            "them maps to begin at a place that their own sequence gives.",
            "--rotate-to",
        ),
    ] = None,
    parent1: Annotated[list[str] | None, _parent("first", "1")] = None,
    parent2: Annotated[list[str] | None, _parent("second", "2")] = None,
    hic: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--hic",
            metavar="FILE1 FILE2",
            help="First and second reads of Hi-C pairs, in the same order. They join phase blocks, so that "
            "haplotype 1 is the same one from end to end of a chromosome.",
        ),
    ] = None,
    ul: Annotated[
        list[str] | None,
        options.file(
            "Ultra-long reads, which may be noisy; may be given several times. They join contigs of accurate "
            "reads across repeats that these do not span.",
            "--ul",
        ),
    ] = None,
    reads_out: Annotated[
        str | None,
        options.file(
            "Write all reads as BAM, sorted and indexed, aligned to the contigs that they belong to, with "
            "their tags, and with HP and PS where haplotypes are told apart.",
            "--reads-out",
        ),
    ] = None,
    tags: options.Tags = "all",
    depth: options.Depth = None,
    memory: options.Memory = None,
    plan: options.Plan = False,
    workers: options.Workers = 0,
    scheduler: options.Scheduler = None,
    threads: options.Threads = 0,
    device: options.Device = "auto",
    gpu_memory: options.GpuMemory = 0,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    reference: options.Reference = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Assemble reads into contigs.

    Finds overlaps, corrects the reads if they need it, lays them out, and polishes the result if it needs it.
    The output folder then holds contigs.fasta, contigs.gfa, contigs.noseq.gfa, contigs.tsv, contigs.doubt.bed
    (stretches that may be wrong, and why), contigs.doubt.vcf (what else reads have there), stats.json and,
    without --log, assemble.log. If there are two haplotypes, it also holds contigs.hap1.p_ctg,
    contigs.hap2.p_ctg and contigs.p_ctg (each as .fasta and .gfa) and contigs.phase_blocks.tsv. If contigs
    were left out, it holds contigs.left_out.tsv.
    """
    places = {name: os.path.join(output, name) for name in (*ALWAYS, *OF_HAPLOTYPES, LEFT_OUT, LOG)}
    check_name(output, "--output")
    stages = os.path.join(output, "stages")
    outputs = {
        "--output": output, **places, "the folder of stages": stages, "--write-config": write_config,
        "--log": log, "--reads-out": reads_out,
    }  # fmt: skip
    others = parent1 or [], parent2 or [], hic or (), ul or []
    inputs = check_files(outputs, (*reads, config, reference, rotate_to, *itertools.chain(*others)))
    phases = any(others[:3])
    _check_choices(correct, copies, haplotypes or ("phase" if phases else None))
    if phases and haplotypes == "collapse":
        raise typer.BadParameter("parents and Hi-C tell haplotypes apart: leave out --haplotypes collapse")
    threads = load_compute(device, threads)

    from overlapper.cli.record import Record
    from overlapper.io.fastx import FastxParts
    from overlapper.io.mappings import check_bam_place, check_mappings_format
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.tags import TagChoice
    from overlapper.params.assembly import AssembleParams, WhenToCorrect
    from overlapper.params.shortcuts import of_assembly
    from overlapper.params.text import to_toml

    given = of_assembly(
        correct=correct, copies=copies, haplotypes=haplotypes, correct_rounds=correct_rounds,
        polish_rounds=polish_rounds, min_overlap=min_overlap, end_errors=end_errors,
        min_relative_depth=min_relative_depth, depth=depth, telomere=telomere, phases=phases,
    )  # fmt: skip
    params = configured(AssembleParams(), config, given)
    if reads_out:
        check_mappings_format(reads_out, _sorted_bam())
    parts = FastxParts(
        *reads, keep_qualities=True, read_filter=ReadFilter(min_length, min_quality, no_duplex_parents),
        tags=TagChoice.of(tags, [b"HP", b"PS"]) if reads_out else None, reference=reference, threads=threads,
    )  # fmt: skip
    run = StageRun(
        parts, preset, output, stages, memory, workers, scheduler, threads, device, gpu_memory, params,
        option="--output",
    )  # fmt: skip
    _make_folder_of_log(log, output)
    with begun(phases=PHASES, quiet=quiet, verbose=verbose, log=log) as (progress, files):
        if plan:
            rounds = params.correction.rounds + params.correction.further_rounds
            rounds = 0 if params.correct is WhenToCorrect.NEVER else rounds
            dataclasses.replace(run, workdir=None).print_plan(progress, rounds)
            return
        if reads_out and (os.path.isdir(output) or not _lies_in(reads_out, output)):
            check_bam_place(reads_out)
        record = Record(inputs, threads, parts.read_filter)
        log_place = None if log else places[LOG]
        made, store = _assembled(run, rotate_to, others, log_place, progress, files)
        if reads_out and len(made.contigs):
            progress.report("aligning reads to contigs")
            progress.counts(made.write_reads(reads_out, store, _sorted_bam(parts.headers()), threads))
        progress.report("writing")
        facts = {"devices": run.facts()["devices"], **record.document()}
        contents = _contents(made, store.names(), made.to_json(parts.left_out, facts))
        files.open(*(places[name] for name in contents), write_config)
        lines = {places[name]: of_file for name, of_file in contents.items()}
        files.write_together(lines, 1 if memory else min(threads, _FILES_AT_A_TIME))
        files.write(write_config, lambda: to_toml(params))
        files.close()
        former = {*OF_HAPLOTYPES, LEFT_OUT} - contents.keys()
        if former := {name for name in former if os.path.lexists(places[name])}:
            progress.note(f"left from an earlier run with other parameters: {', '.join(sorted(former))}")
        tell_assembly(progress, made, list(contents["contigs.tsv"]), output, list(contents), verbose)
    if not len(made.contigs):
        raise EmptyResultError(made.why_empty())


def _make_folder_of_log(log: str | None, output: str) -> None:
    """Make the folder of the results if the log lies in it: the log is written before all else."""
    if log and _lies_in(log, output):
        with contextlib.suppress(OSError):  # which is told when the log is opened
            os.makedirs(output, exist_ok=True)


def _lies_in(path: str, folder: str) -> bool:
    return os.path.realpath(os.path.dirname(path)) == os.path.realpath(folder)


def _sorted_bam(headers: Sequence[Sequence[str]] = ()) -> MappingOptions:
    from overlapper.io.mappings import MappingOptions

    return MappingOptions(sort=True, index=True, command=words_called(), headers=headers)


def _assembled(
    run: StageRun,
    rotate_to: str | None,
    others: tuple[Sequence[str], ...],
    log: str | None,
    progress: Progress,
    files: RunFiles,
) -> tuple[Assembled, ReadStore]:
    """Assemble the reads, in memory or on disk, and return both.

    The log begins when the folder of the results is there.
    """
    from overlapper.assembly.contigs import assemble_packed
    from overlapper.assembly.hic import HicReads
    from overlapper.io.fastx import FastxParts, read_fastx
    from overlapper.io.sources import open_input
    from overlapper.runtime.streams import is_stream

    for path in itertools.chain(*others):
        if not is_stream(path):
            with open_input(path):  # they are read last; a name that is wrong is told at once
                pass
    one, other = (FastxParts(*paths, threads=run.threads) if paths else None for paths in others[:2])
    pairs = [FastxParts(path, part_bases=_PART_BASES, threads=run.threads) for path in others[2]]
    ultra_long = FastxParts(*others[3], part_bases=_PART_BASES, threads=run.threads) if others[3] else None
    first = read_fastx(rotate_to) if rotate_to else None
    store, resources = files.enter_context(run.opened(progress))
    if log:
        progress.log_into(log)
    run.note_devices(int(store.lengths.sum()), progress)
    made = assemble_packed(
        store,
        resources,
        run.params,
        preset=run.preset,
        first=first,
        parents=(one, other) if one or other else None,
        hic=HicReads(pairs, others[2]) if pairs else None,
        ultra_long=ultra_long,
        report=progress.report,
    )
    return made, store


def _contents(made: Assembled, reads: Reads, stats: str) -> dict[str, Iterable[str]]:
    """Return the lines of all files of an assembly, by name."""
    from overlapper.assembly.contig_files import contig_fasta, contig_gfa, contig_table, left_out_table
    from overlapper.assembly.haplotype_files import haplotype_files
    from overlapper.correction.doubt import bed

    contigs = made.contigs
    table = list(
        contig_table(contigs, made.error_rate, made.doubt, made.phased, made.params.telomere, made.passages)
    )
    graphs = (contig_gfa(contigs, made.placed, reads, made.phased, bases=bases) for bases in (True, False))
    doubt = bed(made.doubt, contigs.sequences)
    vcf = made.undecided.vcf(contigs.sequences)
    lines = [contig_fasta(contigs), *graphs, table, doubt, vcf, stats.splitlines()]
    contents: dict[str, Iterable[str]] = dict(zip(ALWAYS, lines, strict=True))
    if made.haplotypes:
        contents |= zip(OF_HAPLOTYPES, haplotype_files(made.haplotypes, contigs), strict=True)
    if len(made.left_out):
        contents[LEFT_OUT] = left_out_table(made.left_out, made.names_left_out, contigs)
    return contents


def _check_choices(correct: str | None, copies: str | None, haplotypes: str | None) -> None:
    """Raise `typer.BadParameter` for values that are none, or that contradict each other."""
    check_choice("--correct", correct, "auto", "always", "never")
    check_choice("--copies", copies, "auto", "separate", "collapse")
    check_choice("--haplotypes", haplotypes, "auto", "phase", "collapse")
    if haplotypes == "phase" and (correct == "never" or copies == "collapse"):
        raise typer.BadParameter(
            "--haplotypes phase needs copies kept apart: leave out --correct never and --copies collapse"
        )
    if copies == "separate" and correct == "never":
        raise typer.BadParameter("--copies separate needs corrected reads: leave out --correct never")
