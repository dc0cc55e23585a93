"""``overlapper correct``: raw reads in, corrected reads with qualities out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:
    from overlapper.tables import Overlaps, Reads

EXAMPLES = """
overlapper correct reads.fastq.gz -o corrected.fastq.gz
overlapper correct reads.fa --overlaps overlaps.paf.gz --rounds 1 -o corrected.fastq
overlapper correct reads.bam --uncovered trim --table changes.tsv -o corrected.fastq.gz
"""

COMPILE_SECONDS = 60


def correct(
    reads: ReadFiles,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Corrected reads: FASTA if the name ends in .fasta or .fa, else FASTQ; gzipped if it ends "
            "in .gz; - is FASTQ on standard output.",
        ),
    ] = "-",
    overlaps: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Overlaps of the reads for the first round, instead of finding them."
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Later rounds find the overlaps of the corrected reads.", show_default="2"),
    ] = None,
    preset: Preset = "auto",
    min_length: MinLength = 0,
    min_quality: MinQuality = 0.0,
    uncovered: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Bases that fewer than two other reads cover: keep them, trim them off the ends of reads, "
            "or split reads there.",
        ),
    ] = "keep",
    max_depth: Depth = None,
    haplotype_filter: Annotated[
        bool | None,
        typer.Option(
            "--haplotype-filter/--no-haplotype-filter",
            help="Leave out reads of other haplotypes and repeat copies.",
            show_default="True",
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what became of every read, a tab-separated table."),
    ] = None,
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
    """Correct reads by the reads that overlap them.

    Every base gets a quality; unknown bases are predicted. Qualities of one round take reads to err
    independently of each other, those of later rounds look at how much they do not. The result depends on the
    reads and the parameters alone.
    """
    inputs = [path for path in (*reads, overlaps, config, reference) if path is not None]
    outputs = {
        "--output (standard output by default)": output,
        "--table": table,
        "--write-config": write_config,
        "--stats": stats,
        "--log": log,
    }
    check_outputs(outputs, inputs)
    check_name(output, "--output", "FASTA", "FASTQ")
    if uncovered not in ("keep", "trim", "split"):
        raise typer.BadParameter(f"--uncovered is {uncovered}, expected keep, trim or split")

    load_compute(device)

    from overlapper.cli.record import Record
    from overlapper.correct.reads import correct as correct_reads
    from overlapper.correct.stored_rounds import correct_stored
    from overlapper.correct.uncovered import Uncovered
    from overlapper.io import read_overlaps
    from overlapper.io.identity import Input, digest_of_table
    from overlapper.io.records import write_reads
    from overlapper.overlap.presets import check_preset
    from overlapper.params.correction import CorrectParams
    from overlapper.params.text import to_toml
    from overlapper.runtime.gpu.devices import named, select_devices
    from overlapper.runtime.threads import available_threads
    from overlapper.tiled.plan import Budget
    from overlapper.tiled.workdir import check_workdir

    if workdir:
        check_workdir(workdir)
    check_preset(preset)
    devices = select_devices(device)
    options = {"rounds": rounds, "max_depth": max_depth, "haplotype_filter": haplotype_filter}
    params = configured(CorrectParams(), config, options)
    threads = threads or available_threads()
    parts = parts_with_qualities(reads, min_length, min_quality, reference, threads)
    with (
        Progress(quiet, verbose=verbose, log=log) as progress,
        compile_notice(progress, COMPILE_SECONDS, "correct", threads),
        RunFiles() as files,
    ):
        chosen = {"preset": preset, **dataclasses.asdict(params)}
        if plan:
            with stored_run(workdir, output, parts, chosen, progress) as (store, _, _):
                print_plan(store, memory or 0, threads, preset, params.rounds)
            return
        files.open(output, write_config, table, stats, threads=threads)
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        progress.note(f"consensus on {named(devices, threads)}")
        voting: dict[str, Any] = {
            "preset": preset, "uncovered": Uncovered(uncovered), "device": device, "gpu_memory": gpu_memory,
            "report": progress.report,
        }  # fmt: skip
        found: list[Overlaps] = []

        def given_overlaps(heads: Reads) -> list[Input]:
            found.extend([read_overlaps(overlaps, heads)] if overlaps else [])
            return [Input("overlaps", [str(overlaps)], digest_of_table(table)) for table in found]

        if memory:
            store, _, stages = files.enter_context(
                stored_run(workdir, output, parts, chosen, progress, given_overlaps)
            )
            made = correct_stored(
                store, Budget.of(memory, threads), found.pop() if found else None, params, stages=stages,
                **voting,
            )  # fmt: skip
        else:
            given, order, stages = files.enter_context(
                held_run(workdir, parts, chosen, progress, given_overlaps)
            )
            made = correct_reads(
                given, found.pop() if found else None, params, threads=threads, stages=stages, order=order,
                **voting,
            )  # fmt: skip
        progress.report("writing")
        for corrected in made.parts():
            write_reads(files[output], corrected)
        facts = {
            "funnel": {**parts.left_out, **made.funnel}, "seconds": made.seconds,
            "devices": [device.name for device in devices], "params": dataclasses.asdict(params),
        }  # fmt: skip
        files.write(table, made.changes.to_tsv)
        files.write(write_config, lambda: to_toml(params))
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts(made.funnel)
        for line in made.warnings:
            progress.note(line)
