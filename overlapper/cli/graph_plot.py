"""``overlapper graph plot``: a picture of an assembly graph."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import load_compute

EXAMPLES = """
overlapper graph plot layout.gfa -o layout.png
overlapper graph plot layout.gfa -o layout.svg --width 360
"""


def graph_plot(
    gfa: Annotated[
        str, typer.Argument(metavar="GFA", help="Assembly graph, GFA 1, of any program; - is standard input.")
    ],
    output: Annotated[str, options.output("Picture: .svg or .png, by its name.")],
    width: Annotated[
        int,
        typer.Option(
            metavar="PIXELS", help="Width on the screen that it is for; a narrow picture has fewer names."
        ),
    ] = 1152,
) -> None:
    """Draw an assembly graph.

    A segment is a line, its length the square root of its bases, its width its depth; the longest have their
    name and length beside them. Readable up to some hundred segments. PNG needs the extra plot.
    """
    check_files({"--output": output}, [gfa])
    load_compute()

    from overlapper.graph.gfa import read_gfa
    from overlapper.graph.plot import FORMATS, plot_graph
    from overlapper.io.outputs import check_ending

    check_ending(output, FORMATS)
    plot_graph(read_gfa(gfa), output, width=width)
