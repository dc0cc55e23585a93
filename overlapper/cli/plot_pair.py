"""``overlapper plot pair``: a dot plot of two reads."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import begun, load_compute

EXAMPLES = """
overlapper plot pair reads.fastq.gz read1 read8 -o pair.svg
overlapper plot pair reads.fastq.gz read1 read8 --preset clr --min-seed 12 -o pair.svg
"""


def plot_pair(
    reads: options.ReadFiles,
    first: Annotated[str, typer.Argument(metavar="A", help="Name of the read on the horizontal axis.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Name of the read on the vertical axis.")],
    output: Annotated[str, options.output("Picture, .svg.")],
    min_seed: Annotated[int, options.bases("Shortest exact match that is drawn.")] = 15,
    preset: Annotated[str, options.preset("Preset for the alignment: ont, clr or hifi.")] = "ont",
    reference: options.Reference = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Draw a dot plot of two reads, with their seeds and their alignment.

    Both reads are drawn on their forward strands. Matches on the same strand rise, those on opposite strands
    fall.
    """
    check_files({"--output": output, "--log": log}, (*reads, reference))
    if min_seed < 1:
        raise typer.BadParameter(f"--min-seed is {min_seed}, expected 1 or more")
    if first == second:
        raise typer.BadParameter("A and B are the same read: name two")
    threads = load_compute(threads=threads)

    import numpy as np

    from overlapper.errors import InputError
    from overlapper.io import read_fastx
    from overlapper.io.outputs import check_ending, write_text
    from overlapper.overlap.presets import check_preset
    from overlapper.plots import align_pair, plot_pair

    check_ending(output, [".svg"])
    check_preset(preset)
    with begun(quiet=quiet, log=log) as (progress, _):
        progress.report("reading")
        table = read_fastx(*reads, reference=reference, threads=threads)
        numbers = {name: i for i, name in enumerate(table.names)}
        for name in (first, second):
            if name not in numbers:
                raise InputError(
                    f"there is no read {name!r}", file=", ".join(reads),
                    remedy="A name is what stands before the first blank of a record's first line.",
                )  # fmt: skip
        progress.report("aligning")
        pair = align_pair(
            table.take(np.array([numbers[first], numbers[second]])), min_seed=min_seed, preset=preset
        )
        write_text(output, plot_pair(pair))
        progress.note(f"{len(pair.seeds):>15,} exact matches")
        progress.note(f"{len(pair.overlap):>15,} alignments")
