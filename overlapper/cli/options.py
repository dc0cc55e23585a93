"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from overlapper.cli.sizes import parse_size


def output_option(help: str, metavar: str = "FILE") -> Any:
    """Return the option that names what a command writes."""
    return typer.Option("--output", "-o", metavar=metavar, help=help)


def file_option(help: str, *names: str) -> Any:
    """Return an option that names a file; its own name is that of the parameter where none is given."""
    return typer.Option(*names, metavar="FILE", help=help)


BothSides = Annotated[
    bool,
    typer.Option(
        "--both-sides", help="PAF: write each overlap a second time, with query and target exchanged."
    ),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="DEVICE",
        help="What finds the consensus: cpu, cuda (all GPUs), cuda:0,2 (some), or auto: GPUs if there are "
        "any. Never changes the result.",
    ),
]
GpuMemory = Annotated[
    int,
    typer.Option(
        parser=parse_size, metavar="SIZE", help="Memory to take on each GPU, such as 8G; 0: what is free."
    ),
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        metavar="target",
        help="PAF: write the overlaps of each target together, targets sorted by name, as correctors want "
        "them.",
    ),
]
Log = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the lines of the log to a file, too, whatever the terminal shows."
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        parser=parse_size,
        metavar="SIZE",
        help="Main memory to stay within, such as 4G, by working in tiles.",
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Only read the reads, and print what a run in a budget would take.")
]
Preset = Annotated[
    str,
    typer.Option(
        "--preset",
        "-p",
        metavar="NAME",
        help="ont, clr, hifi, or auto, which estimates the error rate; minimap2's names are taken, too.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
ReadFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="READS...",
        help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed; - is standard input.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option("--cram-reference", metavar="FILE", help="FASTA file that CRAM files were written against."),
]
Threads = Annotated[
    int, typer.Option("--threads", "-t", min=0, help="0: all that are available. Never changes the result.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show counts of 0, too.")]
Workdir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="Folder that keeps what is finished: run again, a killed run goes on from there."
    ),
]


def check_sides(both_sides: bool, group_by: str | None, *outputs: str) -> None:
    """Refuse groups by anything but targets, and files that are not PAF."""
    from overlapper.io.sided import check_paf

    if group_by not in (None, "target"):
        raise typer.BadParameter(f"--group-by is {group_by}, expected target")
    if both_sides or group_by:
        for output in outputs:
            check_paf(output)
