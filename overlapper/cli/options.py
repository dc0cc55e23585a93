"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Preset = Annotated[
    str, typer.Option("--preset", "-p", help="ont, clr, hifi, or auto, which estimates the error rate.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Reference = Annotated[str | None, typer.Option(help="FASTA file that CRAM files were written against.")]
Threads = Annotated[
    int, typer.Option("--threads", "-t", min=0, help="0: all that are available. Never changes the result.")
]
Workdir = Annotated[
    str | None,
    typer.Option(help="Folder that keeps what is finished: run again, a killed run goes on from there."),
]
