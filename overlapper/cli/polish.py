"""``overlapper polish``: unitigs raised to the consensus of the reads."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from overlapper.cli.in_budget import print_plan, stored_run
from overlapper.cli.options import (
    Device,
    GpuMemory,
    Log,
    Memory,
    Plan,
    Preset,
    Quiet,
    ReadFiles,
    Reference,
    Threads,
    Verbose,
    Workdir,
    output_option,
)
from overlapper.cli.outputs import check_name, check_outputs
from overlapper.cli.progress import Progress, compile_notice
from overlapper.cli.resume import inputs_of, stages_in

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
        output_option(
            "Polished unitigs: FASTA if the name ends in .fasta or .fa, else FASTQ; gzipped if it ends "
            "in .gz; - is FASTQ on standard output."
        ),
    ],
    rounds: Annotated[
        int, typer.Option(min=1, help="Later rounds lay the reads on the polished unitigs.")
    ] = 2,
    preset: Preset = "auto",
    max_depth: Annotated[int, typer.Option(min=3, max=255, help="Reads that vote on a base.")] = 40,
    memory: Memory = None,
    plan: Plan = False,
    workdir: Workdir = None,
    threads: Threads = 0,
    device: Device = "auto",
    gpu_memory: GpuMemory = 0,
    reference: Reference = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log: Log = None,
) -> None:
    """Replace unitigs by the consensus of the reads that lie on them."""
    inputs = [path for path in (layout, *reads, reference) if path is not None]
    check_outputs({"--output": output, "--log": log}, inputs)
    check_name(output, "--output", "FASTA", "FASTQ")

    from overlapper.runtime.compile.startup import load_numba, tune_malloc

    load_numba()
    tune_malloc()

    from overlapper.correct.polish import polish as polish_unitigs
    from overlapper.correct.polish import read_unitigs
    from overlapper.correct.stored_polish import polish_stored
    from overlapper.io import read_fastx
    from overlapper.io.identity import Input, digest_of_arrays, digest_of_reads
    from overlapper.io.outputs import OutputFile
    from overlapper.io.records import write_reads
    from overlapper.overlap.presets import check_preset
    from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
    from overlapper.runtime.gpu.devices import named, select_devices
    from overlapper.runtime.threads import available_threads
    from overlapper.sketch.canonical import canonical_order, in_order
    from overlapper.tiled.plan import Budget
    from overlapper.tiled.workdir import check_workdir

    if workdir:
        check_workdir(workdir)
    check_preset(preset)
    devices = select_devices(device)
    threads = threads or available_threads()
    params = CorrectParams(rounds=rounds, max_depth=max_depth, thresholds=POLISHING_THRESHOLDS)
    with (
        Progress(quiet, verbose=verbose, log=log) as progress,
        compile_notice(progress, COMPILE_SECONDS, "polish", threads),
        ExitStack() as files,
    ):
        chosen = {"preset": preset, **dataclasses.asdict(params)}
        if plan:
            bases = read_unitigs(layout).sequences.total_bases
            with stored_run(workdir, output, reads, reference, chosen, threads, progress) as (store, _, _):
                print_plan(store, memory or 0, threads, preset, 0, bases)
            return
        out_file = files.enter_context(OutputFile(output, threads=threads))
        progress.note(f"consensus on {named(devices, threads)}")
        progress.report("reading")
        unitigs = read_unitigs(layout)
        digest = digest_of_reads(unitigs.sequences) + digest_of_arrays(unitigs.circular)
        layouts = [Input("unitigs", [layout], digest)]
        voting: dict[str, Any] = {
            "preset": preset, "device": device, "gpu_memory": gpu_memory, "report": progress.report,
        }  # fmt: skip
        if memory:
            store, place, stages = files.enter_context(
                stored_run(
                    workdir, output, reads, reference, chosen, threads, progress, lambda store: layouts
                )
            )
            budget = Budget.of(memory, threads)
            made = polish_stored(unitigs, store, place, budget, params, stages=stages, **voting)
        else:
            given = read_fastx(*reads, keep_qualities=True, reference=reference, threads=threads)
            stages = files.enter_context(
                stages_in(workdir, lambda: [*layouts, *inputs_of(given, reads, reference)], chosen, progress)
            )
            given = in_order(given, canonical_order(given, threads), threads)
            made = polish_unitigs(unitigs, given, params, threads=threads, stages=stages, **voting)
        progress.report("writing")
        write_reads(out_file, made.unitigs.sequences)
        files.close()
        progress.counts(made.funnel)
        for line in made.warnings:
            progress.note(line)
