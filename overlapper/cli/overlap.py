"""``overlapper overlap``: from reads to overlaps."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_choice, check_files
from overlapper.cli.overlap_request import OverlapRequest, checked_changes
from overlapper.cli.overlap_run import find_and_write
from overlapper.cli.run_files import begun, load_compute
from overlapper.runtime.output_stats import stats_beside

EXAMPLES = """
overlapper overlap reads.fastq.gz -o overlaps.paf.gz
overlapper overlap reads.fa --extender gact -o overlaps.paf --stats funnel.json
overlapper overlap reads.fa --memory 4G --workdir work -o overlaps.paf.gz
overlapper overlap reads.fa --both-sides --group-by target -o for_correctors.paf
overlapper overlap reads.fastq.gz --copies separate -o within_copies.paf
"""

PHASES = ("reading", "sorting reads", "choosing parameters", "seeding", "overlapping", "writing")
"""Of a run without ``--copies``, which the lines of progress count."""


def overlap(
    reads: options.ReadFiles,
    output: Annotated[
        str,
        options.output("Overlaps: .paf, .paf.gz or .parquet. - is PAF on standard output."),
    ] = "-",
    preset: options.Preset = "auto",
    min_length: options.MinLength = 0,
    min_quality: options.MinQuality = 0.0,
    no_duplex_parents: options.NoDuplexParents = False,
    finder: Annotated[
        str | None, typer.Option(metavar="NAME", help="How candidates are found: dsoft (default) or spgemm.")
    ] = None,
    extender: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="chain (default): coordinates. xdrop: score and exact ends. gact: alignment with CIGAR. "
            "exact: overlaps that match to the last base, for corrected reads.",
        ),
    ] = None,
    kmer_length: Annotated[
        int | None, typer.Option("--kmer-length", "-k", help="Length of a seed in bases.")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            "-w",
            help="Window of minimizers: of this many successive k-mers, the one with the "
            "smallest hash is a seed.",
        ),
    ] = None,
    min_overlap: Annotated[
        int | None, options.bases("Shortest overlap that is reported (default 100).")
    ] = None,
    keep_internal: Annotated[
        bool,
        typer.Option(
            "--keep-internal", help="Also report internal matches, which are mostly caused by repeats."
        ),
    ] = False,
    best: Annotated[
        int | None,
        typer.Option(min=0, help="Report only the N best overlaps of each read end (default 0: all)."),
    ] = None,
    both_sides: options.BothSides = False,
    group_by: options.GroupBy = None,
    best_of_pair: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Report at most N overlaps of a pair of reads, the best ones (default 1; 0: all). Reads "
            "of tandem repeats overlap in several ways.",
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Tell haplotypes and copies of repeats apart. The reads are corrected for this, so the "
            "run takes about ten times as long. keep: add a tag with the number of differences (cd). "
            "separate: also leave out overlaps between different copies.",
        ),
    ] = None,
    threads: options.Threads = 0,
    device: Annotated[
        str,
        options.device(
            "Where candidates are extended: cpu, cuda (all GPUs), cuda:0,2 (some GPUs), or auto, which "
            "takes GPUs if there are any and the extender runs on them; for the extender chain only from "
            "10 Mb of reads per thread. Never changes the result."
        ),
    ] = "auto",
    gpu_memory: options.GpuMemory = 0,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    stats: options.KeptStats = None,
    reference: options.Reference = None,
    memory: options.Memory = None,
    workdir: options.Workdir = None,
    plan: options.Plan = False,
    workers: options.Workers = 0,
    scheduler: options.Scheduler = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Find the overlaps of all pairs of reads.

    Each pair of reads is reported once, under the read that comes first in the input. The result depends only
    on the reads and the parameters.
    """
    given = {
        "finder": finder,
        "extender": extender,
        "kmer_length": kmer_length,
        "window": window,
        "min_overlap": min_overlap,
        "keep_internal": keep_internal or None,
        "best": best,
        "best_of_pair": best_of_pair,
    }
    check_choice("--copies", copies, "keep", "separate")
    if copies and (workdir is not None or any((memory, plan, workers, scheduler))):
        raise typer.BadParameter(
            "--copies works in memory: leave out --memory, --workdir, --plan and the like"
        )
    beside = None if stats or plan else stats_beside(output)
    outputs = {
        OUTPUT: output, "--write-config": write_config, "--stats": stats,
        "the statistics next to the overlaps": beside, "--log": log,
    }  # fmt: skip
    inputs = check_files(outputs, (*reads, config, reference))
    write_config, stats = (None, None) if plan else (write_config, stats)
    # Start the GPU driver early only if a GPU is likely: `auto` uses one for chains only on large read sets,
    # which is decided once the reads are there.
    likely = extender not in (None, "chain") or device.startswith("cuda")
    threads = load_compute(device if likely else "cpu", threads)

    from overlapper.cli.record import Record, keep_stats
    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.writers import check_format

    read_filter = ReadFilter(min_length, min_quality, no_duplex_parents)
    changes = checked_changes(config, given)
    parts = FastxParts(*reads, read_filter=read_filter, reference=reference, threads=threads)
    check_format(output)
    request = OverlapRequest(
        parts, preset, output, workdir, memory, workers, scheduler, threads, device, gpu_memory,
        options.checked_sides(both_sides, group_by, output), changes, plan,
    )  # fmt: skip
    phases = () if copies else PHASES
    with begun(phases=phases, quiet=quiet, verbose=verbose, log=log) as (progress, files):
        record = Record(inputs, threads, read_filter, digests=stats is not None)
        files.open(write_config, stats)
        result = find_and_write(request, copies, progress, files)
        if result is None:
            return
        result = dataclasses.replace(result, funnel={**parts.left_out, **result.funnel})
        files.write(write_config, result.params.to_toml)
        files.write(stats, lambda: result.to_json(record.document()))
        files.flush(stats)  # a pipe that nobody reads ends the run before any file has its name
        files.close()
        if beside:
            keep_stats(beside, result.to_json(record.document(output)), progress)
        progress.note(result.why)
        progress.counts(result.funnel)
        if not result.funnel.get("overlaps"):
            progress.note(result.emptied())
