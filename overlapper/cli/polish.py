"""``overlapper polish``: unitigs raised to the consensus of the reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from overlapper.cli import options
from overlapper.cli.config import configured
from overlapper.cli.outputs import OUTPUT, check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, begun, load_compute
from overlapper.cli.stage_runs import StageRun

if TYPE_CHECKING:
    from overlapper.correction.polish import Polished
    from overlapper.runtime.clock import Clock

EXAMPLES = """
overlapper polish unitigs.gfa reads.fastq.gz -o polished.fasta
overlapper polish unitigs.fasta reads.fastq.gz --rounds 1 -o polished.fastq.gz
"""


def polish(
    layout: Annotated[
        str, typer.Argument(metavar="LAYOUT", help="Unitigs: GFA 1 with sequences (.gfa, .gfa.gz), or FASTA.")
    ],
    reads: options.ReadFiles,
    output: Annotated[
        str,
        options.output(
            "Polished unitigs: FASTA if the name ends in .fasta or .fa, else FASTQ; compressed if it ends "
            "in .gz. - is FASTQ on standard output."
        ),
    ] = "-",
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rounds of polishing. Each later round places the reads on the unitigs "
            "that the round before polished.",
            show_default="2",
        ),
    ] = None,
    preset: options.Preset = "auto",
    min_length: options.MinLength = 0,
    min_quality: options.MinQuality = 0.0,
    no_duplex_parents: options.NoDuplexParents = False,
    max_depth: options.MaxDepth = None,
    depth: options.Depth = None,
    memory: options.Memory = None,
    plan: options.Plan = False,
    workdir: options.Workdir = None,
    workers: options.Workers = 0,
    scheduler: options.Scheduler = None,
    threads: options.Threads = 0,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    stats: options.Stats = None,
    reference: options.Reference = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Replace unitigs by the consensus of the reads that belong to them."""
    outputs = {OUTPUT: output, "--write-config": write_config, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (layout, *reads, config, reference))
    check_name(output, "--output", "FASTA", "FASTQ")
    threads = load_compute(threads=threads)

    from overlapper.cli.record import Record
    from overlapper.correction.polish import read_unitigs
    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.records import write_reads
    from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
    from overlapper.params.text import to_toml
    from overlapper.runtime.clock import Clock

    given = {"rounds": rounds, "max_depth": max_depth, "depth": depth}
    params = configured(CorrectParams(thresholds=POLISHING_THRESHOLDS), config, given)
    parts = FastxParts(
        *reads, keep_qualities=True, read_filter=ReadFilter(min_length, min_quality, no_duplex_parents),
        reference=reference, threads=threads,
    )  # fmt: skip
    run = StageRun(parts, preset, output, workdir, memory, workers, scheduler, threads, "cpu", 0, params)
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        if plan:
            run.print_plan(progress, 0, read_unitigs(layout).sequences.total_bases)
            return
        files.open(output, write_config, stats, threads=threads)
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        clock = Clock()
        made = _polished(run, layout, progress, files, clock)
        clock.lap("polishing")
        progress.report("writing")
        write_reads(files[output], made.unitigs.sequences)
        clock.lap("writing")
        warnings = made.all_warnings()
        counts = {**parts.left_out, **made.funnel}
        facts = {
            "counts": counts,
            "held": made.held.facts(),
            "warnings": warnings,
            "seconds": clock.seconds,
            "memory": clock.memory,
            **run.facts(),
        }
        files.write(write_config, lambda: to_toml(params))
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts(made.funnel)
        progress.note(made.held.sentence(), *warnings)


def _polished(run: StageRun, layout: str, progress: Progress, files: RunFiles, clock: Clock) -> Polished:
    """Polish the unitigs of a file, in memory or on disk."""
    from overlapper.correction.polish import polish_packed, read_unitigs
    from overlapper.io.identity import Input, digest_of_arrays, digest_of_reads

    progress.report("reading")
    unitigs = read_unitigs(layout)
    digest = digest_of_reads(unitigs.sequences) + digest_of_arrays(unitigs.circular)
    layouts = [Input("unitigs", [layout], digest)]
    store, resources = files.enter_context(run.opened(progress, lambda heads: layouts))
    clock.lap("reading")
    return polish_packed(unitigs, store, resources, run.params, preset=run.preset, report=progress.report)
