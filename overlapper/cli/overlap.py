"""``overlapper overlap``: from reads to overlaps."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from overlapper.cli.config import read_config
from overlapper.cli.in_memory import Request, run_in_memory
from overlapper.cli.in_tiles import Limits, run_in_tiles
from overlapper.cli.options import (
    BothSides,
    Config,
    GpuMemory,
    GroupBy,
    KeptStats,
    Log,
    Memory,
    MinLength,
    MinQuality,
    Preset,
    Quiet,
    ReadFiles,
    Reference,
    Threads,
    Verbose,
    Workdir,
    WriteConfig,
    check_sides,
)
from overlapper.cli.outputs import OUTPUT, check_choice, check_files
from overlapper.cli.run_files import begun, load_compute
from overlapper.cli.sizes import parse_size
from overlapper.runtime.output_stats import stats_beside

EXAMPLES = """
overlapper overlap reads.fastq.gz -o overlaps.paf.gz
overlapper overlap run1.bam run2.bam --preset ont --threads 16 -o overlaps.paf
overlapper overlap reads.fa --extender gact -o overlaps.paf --stats funnel.json
overlapper overlap reads.fa --memory 4G --workdir work -o overlaps.paf.gz
overlapper overlap reads.fa --both-sides --group-by target -o for_correctors.paf
overlapper overlap reads.fastq.gz --copies separate -o within_copies.paf
"""

COMPILE_SECONDS = 15
STEPS = 6


def overlap(
    reads: ReadFiles,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Overlaps: .paf, .paf.gz, .parquet, or .parquet/ for a folder of files by range of targets; "
            "- is PAF on standard output.",
        ),
    ] = "-",
    preset: Preset = "auto",
    min_length: MinLength = 0,
    min_quality: MinQuality = 0.0,
    finder: Annotated[
        str | None, typer.Option(metavar="NAME", help="How candidates are found: dsoft (default) or spgemm.")
    ] = None,
    extender: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="chain (default): coordinates; xdrop: score and ends; gact: alignment with CIGAR; exact: "
            "overlaps of corrected reads that match to the last base.",
        ),
    ] = None,
    kmer_length: Annotated[int | None, typer.Option("--kmer-length", "-k", help="Bases of a seed.")] = None,
    window: Annotated[
        int | None, typer.Option("--window", "-w", help="k-mers of which the smallest seeds.")
    ] = None,
    homopolymer_compressed: Annotated[
        bool, typer.Option("--homopolymer-compressed", help="Seed on reads with homopolymer runs collapsed.")
    ] = False,
    min_overlap: Annotated[
        int | None,
        typer.Option(
            parser=parse_size, metavar="BASES", help="Shortest overlap reported, in bases (default 100)."
        ),
    ] = None,
    keep_internal: Annotated[
        bool, typer.Option("--keep-internal", help="Report internal matches, which repeats cause, too.")
    ] = False,
    best: Annotated[
        int | None, typer.Option(min=0, help="Best overlaps of each read end to report (default 0: all).")
    ] = None,
    both_sides: BothSides = False,
    group_by: GroupBy = None,
    best_of_pair: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Overlaps of a read pair to report at most, the best (default 1; 0: all): tandem copies "
            "match in several ways.",
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Tell haplotypes and copies of repeats apart, by correcting the reads, which takes some ten "
            "times as long: keep tags each overlap with its differences of copies (cd), separate also leaves "
            "out those that join different copies.",
        ),
    ] = None,
    threads: Threads = 0,
    device: Annotated[
        str,
        typer.Option(
            metavar="DEVICE",
            help="What candidates are extended on: cpu, cuda (all GPUs), cuda:0,2 (some), or auto: GPUs if "
            "there are any and the extender has kernels for them. Never changes the result.",
        ),
    ] = "auto",
    gpu_memory: GpuMemory = 0,
    config: Config = None,
    write_config: WriteConfig = None,
    stats: KeptStats = None,
    reference: Reference = None,
    memory: Memory = None,
    disk: Annotated[
        int | None,
        typer.Option(
            parser=parse_size, metavar="SIZE", help="Disk that tiles may take besides the overlaps."
        ),
    ] = None,
    workdir: Workdir = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only read the reads, and print what a run in tiles would take.")
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            min=0,
            help="Processes that work on tiles (Dask), at most one for each processor; --threads is for all "
            "together.",
        ),
    ] = 0,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler whose workers do the tiles, tcp://HOST:PORT."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log: Log = None,
) -> None:
    """Find the overlaps of all pairs of reads.

    Every pair is reported once, unless more is asked for, under the read that comes first in the input. The
    result depends on the reads and the parameters alone.
    """
    options = {
        "finder": finder,
        "extender": extender,
        "kmer_length": kmer_length,
        "window": window,
        "homopolymer_compressed": homopolymer_compressed or None,
        "min_overlap": min_overlap,
        "keep_internal": keep_internal or None,
        "best": best,
        "best_of_pair": best_of_pair,
    }
    check_choice("--copies", copies, "keep", "separate")
    limits = Limits(memory or 0, disk or 0, workdir, plan, workers, scheduler)
    if copies and limits.given:
        raise typer.BadParameter(
            "--copies works in memory: leave out --memory, --workdir, --plan and the like"
        )
    beside = None if stats or plan else stats_beside(output)
    outputs = {
        OUTPUT: output, "--write-config": write_config, "--stats": stats,
        "the statistics beside the overlaps": beside, "--log": log,
    }  # fmt: skip
    inputs = check_files(outputs, (*reads, config, reference))
    if plan:
        stats = write_config = None  # nothing is written
    # Chains alone take no GPU that is not asked for; the registry of extenders, which knows, needs numba.
    load_compute(device if extender not in (None, "chain") or device.startswith("cuda") else "cpu")

    from overlapper.cli.record import Record, keep_stats
    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.writers import check_format
    from overlapper.overlap.presets import check_preset
    from overlapper.overlap.summary import Summary
    from overlapper.params.stages import Params
    from overlapper.runtime.threads import available_threads

    changes = _changes(read_config(config), options, f"file {config}")
    threads = threads or available_threads()
    parts = FastxParts(
        *reads, read_filter=ReadFilter(min_length, min_quality), reference=reference, threads=threads
    )
    check_preset(preset)
    check_format(output)
    check_sides(both_sides, group_by, output)
    sides = {"both_sides": both_sides, "by_target": group_by is not None}
    extending = changes.get("extender", Params().extender)
    request = Request(parts, output, sides, preset, changes, extending, threads, device, gpu_memory)
    with begun(
        f"overlap_{extending}", COMPILE_SECONDS, threads=threads, steps=0 if copies else STEPS, quiet=quiet,
        verbose=verbose, log=log,
    ) as (progress, files):  # fmt: skip
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        files.open(write_config, stats)
        result: Summary | None
        if limits.given:
            result = run_in_tiles(request, limits, progress, files)
        else:
            result = run_in_memory(request, copies, progress, files)
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


def _changes(config: dict[str, Any], given: dict[str, Any], where: str) -> dict[str, Any]:
    """Return both as one, the options above; what does not fit is told now, before the reads are read."""
    from overlapper.candidates.registry import finder
    from overlapper.extend.registry import extender
    from overlapper.params.shortcuts import merged, nested
    from overlapper.params.stages import Params

    options = nested(given)
    params = Params().changed(config, where=where).changed(options, where="options")
    finder(params.finder)
    extender(params.extender)
    return merged(config, options)
