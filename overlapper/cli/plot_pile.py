"""``overlapper plot pile``: the overlaps along a read."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import begun, load_compute

EXAMPLES = """
overlapper plot pile overlaps.paf.gz read1 -o pile.svg
overlapper plot pile minimap2.paf read1 -o pile.svg
"""


def plot_pile(
    overlaps: Annotated[str, typer.Argument(metavar="OVERLAPS", help="Overlaps: .paf, .paf.gz or .parquet.")],
    read: Annotated[str, typer.Argument(metavar="READ", help="Name of the read.")],
    output: Annotated[str, options.output("Picture, .svg.")],
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Draw the overlaps along a read.

    A thick line shows where an overlap covers the read, a thin line how far the other read would reach. The
    background shows the number of overlaps that cover each base.
    """
    check_files({"--output": output, "--log": log}, [overlaps])
    threads = load_compute(threads=threads)

    from overlapper.io.outputs import check_ending, write_text
    from overlapper.io.writers import check_format, read_overlaps, reads_named
    from overlapper.plots import plot_pile

    check_ending(output, [".svg"])
    check_format(overlaps)
    with begun(quiet=quiet, log=log) as (progress, _):
        progress.report("reading overlaps")
        reads = reads_named(overlaps)
        table = read_overlaps(overlaps, reads, threads=threads)
        write_text(output, plot_pile(table, reads, read))
