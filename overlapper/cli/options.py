"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from overlapper.cli.sizes import parse_depth, parse_size


def output(text: str, metavar: str = "FILE") -> Any:
    """Return ``--output``, with what a command says of what it writes."""
    return typer.Option("--output", "-o", metavar=metavar, help=text)


def bases(text: str, *names: str, **settings: Any) -> Any:
    """Return an option whose value is a number of bases, such as 5k."""
    return typer.Option(*names, parser=parse_size, metavar="BASES", help=text, **settings)


def size(text: str) -> Any:
    """Return an option whose value is a number of bytes, such as 4G."""
    return typer.Option(parser=parse_size, metavar="SIZE", help=text)


def file(text: str, *names: str, **settings: Any) -> Any:
    """Return an option that names a file."""
    return typer.Option(*names, metavar="FILE", help=text, **settings)


def device(text: str) -> Any:
    """Return an option that says what computes."""
    return typer.Option(metavar="DEVICE", help=text)


def preset(text: str) -> Any:
    """Return ``--preset``, which ``-x`` names, too, as in minimap2."""
    return typer.Option("--preset", "-p", "-x", metavar="NAME", help=text)


BothSides = Annotated[
    bool,
    typer.Option(
        "--both-sides", help="PAF: write each overlap a second time, with query and target exchanged."
    ),
]
Config = Annotated[str | None, file("Parameters, a TOML file; options given here go first.")]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth",
        parser=parse_depth,
        metavar="N|all",
        help="Reads on a base that are enough: of deeper molecules, reads beyond that are set aside, "
        "or, to be corrected, divided into groups. The time goes by the square of what is left.",
        show_default="160",
    ),
]
Device = Annotated[
    str,
    device(
        "What finds overlaps: cpu, cuda (all GPUs), cuda:0,2 (some), or auto: GPUs if there are any and the "
        "reads are many. Never changes the result."
    ),
]
GpuMemory = Annotated[int, size("Memory to take on each GPU, such as 8G; 0: what is free.")]
GroupBy = Annotated[
    str | None,
    typer.Option(
        metavar="target",
        help="PAF: write the overlaps of each target together, targets sorted by name, as correctors want "
        "them.",
    ),
]
LayoutOverlap = Annotated[
    int | None,
    bases(
        "Shortest overlap that counts in the layout, and shortest part of a read. More than overlap reports: "
        "short ones are more often those of repeats.",
        show_default="2000",
    ),
]
Log = Annotated[str | None, file("Write the lines of the log to a file, too, whatever the terminal shows.")]
Memory = Annotated[int | None, size("Main memory to stay within, such as 4G, by working in tiles.")]
MaxDepth = Annotated[
    int | None, typer.Option(min=3, max=255, help="Reads that vote on a base.", show_default="40")
]
MinLength = Annotated[int, bases("Leave out shorter reads.", "--min-length")]
MinQuality = Annotated[
    float,
    typer.Option(
        "--min-quality",
        metavar="Q",
        help="Leave out reads of a lower mean quality, by error probabilities, as nanoq and chopper take it.",
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Only read the reads, and print what a run in a budget would take.")
]
Preset = Annotated[
    str,
    preset("ont, clr, hifi, or auto, which estimates the error rate; minimap2's names are taken, too."),
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
    file("FASTA file that CRAM files were written against.", "--cram-reference"),
]
_STATS = "Write counts, parameters and times of the run, and what it was run on, as JSON."
Stats = Annotated[str | None, file(_STATS)]
KeptStats = Annotated[str | None, file(_STATS, "--stats", show_default="OUTPUT.stats.json")]
Threads = Annotated[
    int, typer.Option("--threads", "-t", min=0, help="0: all that are available. Never changes the result.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show all counts, those of 0, too.")]
Workdir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="Folder that keeps what is finished: run again, a killed run goes on from there."
    ),
]
WriteConfig = Annotated[str | None, file("Write all parameters as used, a TOML file for --config.")]


def checked_sides(both_sides: bool, group_by: str | None, output: str) -> dict[str, bool]:
    """Return how overlaps are written, as `overlapper.io.sided.open_sided` takes it.

    Groups by anything but targets are refused, and so are files that are not PAF.
    """
    from overlapper.io.sided import check_paf

    if group_by not in (None, "target"):
        raise typer.BadParameter(f"--group-by is {group_by}, expected target")
    if both_sides or group_by:
        check_paf(output)
    return {"both_sides": both_sides, "by_target": group_by is not None}
