"""``overlapper polish``: unitigs raised to the consensus of the reads."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from overlapper.cli.config import configured
from overlapper.cli.options import (
    Config,
    Depth,
    Device,
    GpuMemory,
    Log,
    Memory,
    MinLength,
    MinQuality,
    Plan,
    Preset,
    Quiet,
    ReadFiles,
    Reference,
    Stats,
    Threads,
    Verbose,
    Workdir,
    WriteConfig,
)
from overlapper.cli.outputs import check_name, check_outputs
from overlapper.cli.progress import Progress, compile_notice
from overlapper.cli.run_files import RunFiles, load_compute
from overlapper.cli.stage_runs import held_run, parts_with_qualities, print_plan, stored_run

EXAMPLES = """
overlapper polish unitigs.gfa reads.fastq.gz -o polished.fasta
overlapper polish unitigs.fasta reads.fastq.gz --rounds 1 -o polished.fastq.gz
"""

COMPILE_SECONDS = 60


def polish(
    layout: Annotated[
        str, typer.Argument(metavar="LAYOUT", help="Unitigs: GFA 1 with sequences (.gfa, .gfa.gz), or FASTA.")
    ],
    reads: ReadFiles,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Polished unitigs: FASTA if the name ends in .fasta or .fa, else FASTQ; gzipped if it ends "
            "in .gz; - is FASTQ on standard output.",
        ),
    ] = "-",
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Later rounds lay the reads on the polished unitigs.", show_default="2"),
    ] = None,
    preset: Preset = "auto",
    min_length: MinLength = 0,
    min_quality: MinQuality = 0.0,
    max_depth: Depth = None,
    memory: Memory = None,
    plan: Plan = False,
    workdir: Workdir = None,
    threads: Threads = 0,
    device: Device = "auto",
    gpu_memory: GpuMemory = 0,
    config: Config = None,
    write_config: WriteConfig = None,
    stats: Stats = None,
    reference: Reference = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log: Log = None,
) -> None:
    """Replace unitigs by the consensus of the reads that lie on them."""
    inputs = [path for path in (layout, *reads, config, reference) if path is not None]
    outputs = {
        "--output (standard output by default)": output,
        "--write-config": write_config,
        "--stats": stats,
        "--log": log,
    }
    check_outputs(outputs, inputs)
    check_name(output, "--output", "FASTA", "FASTQ")

    load_compute(device)

    from overlapper.cli.record import Record
    from overlapper.correct.polish import polish as polish_unitigs
    from overlapper.correct.polish import read_unitigs
    from overlapper.correct.stored_polish import polish_stored
    from overlapper.io.identity import Input, digest_of_arrays, digest_of_reads
    from overlapper.io.records import write_reads
    from overlapper.overlap.presets import check_preset
    from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
    from overlapper.params.text import to_toml
    from overlapper.runtime.clock import Clock
    from overlapper.runtime.gpu.devices import named, select_devices
    from overlapper.runtime.threads import available_threads
    from overlapper.tiled.plan import Budget
    from overlapper.tiled.workdir import check_workdir

    if workdir:
        check_workdir(workdir)
    check_preset(preset)
    devices = select_devices(device)
    threads = threads or available_threads()
    options = {"rounds": rounds, "max_depth": max_depth}
    params = configured(CorrectParams(thresholds=POLISHING_THRESHOLDS), config, options)
    parts = parts_with_qualities(reads, min_length, min_quality, reference, threads)
    with (
        Progress(quiet, verbose=verbose, log=log) as progress,
        compile_notice(progress, COMPILE_SECONDS, "polish", threads),
        RunFiles() as files,
    ):
        chosen = {"preset": preset, **dataclasses.asdict(params)}
        if plan:
            bases = read_unitigs(layout).sequences.total_bases
            with stored_run(workdir, output, parts, chosen, progress) as (store, _, _):
                print_plan(store, memory or 0, threads, preset, 0, bases)
            return
        files.open(output, write_config, stats, threads=threads)
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        progress.note(f"consensus on {named(devices, threads)}")
        clock = Clock()
        progress.report("reading")
        unitigs = read_unitigs(layout)
        digest = digest_of_reads(unitigs.sequences) + digest_of_arrays(unitigs.circular)
        layouts = [Input("unitigs", [layout], digest)]
        voting: dict[str, Any] = {
            "preset": preset, "device": device, "gpu_memory": gpu_memory, "report": progress.report,
        }  # fmt: skip
        if memory:
            store, place, stages = files.enter_context(
                stored_run(workdir, output, parts, chosen, progress, lambda heads: layouts)
            )
            clock.lap("reading")
            budget = Budget.of(memory, threads)
            made = polish_stored(unitigs, store, place, budget, params, stages=stages, **voting)
        else:
            given, _, stages = files.enter_context(
                held_run(workdir, parts, chosen, progress, lambda heads: layouts)
            )
            clock.lap("reading")
            made = polish_unitigs(unitigs, given, params, threads=threads, stages=stages, **voting)
        clock.lap("polishing")
        progress.report("writing")
        write_reads(files[output], made.unitigs.sequences)
        clock.lap("writing")
        facts = {
            "counts": {**parts.left_out, **made.funnel}, "seconds": clock.seconds, "memory": clock.memory,
            "devices": [device.name for device in devices], "params": dataclasses.asdict(params),
        }  # fmt: skip
        files.write(write_config, lambda: to_toml(params))
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts(made.funnel)
        for line in made.warnings:
            progress.note(line)
