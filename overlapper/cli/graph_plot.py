"""``overlapper graph plot``: a picture of an assembly graph."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import load_compute

EXAMPLES = """
overlapper graph plot layout.gfa -o layout.svg
overlapper graph plot layout.gfa -o layout.svg --width 360
"""


def graph_plot(
    gfa: options.Gfa,
    output: Annotated[str, options.output("Picture, .svg.")],
    width: Annotated[
        int,
        typer.Option(
            metavar="PIXELS",
            help="Width of the screen that the picture is for. A narrow picture shows fewer names.",
        ),
    ] = 1152,
) -> None:
    """Draw an assembly graph.

    Each segment is a line. Its length shows the square root of the bases, its width the depth; the longest
    segments are named. The picture is readable up to a few hundred segments.
    """
    check_files({"--output": output}, [gfa])
    load_compute()

    from overlapper.graph.gfa import read_gfa
    from overlapper.graph.plot import plot_graph
    from overlapper.io.outputs import check_ending

    check_ending(output, [".svg"])
    plot_graph(read_gfa(gfa), output, width=width)
