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


def preset(text: str, *names: str) -> Any:
    """Return ``--preset``, with other names that it has: ``-x``, where minimap2 has it."""
    return typer.Option("--preset", "-p", *names, metavar="NAME", help=text)


BothSides = Annotated[
    bool,
    typer.Option(
        "--both-sides", help="PAF only: write each overlap a second time with query and target exchanged."
    ),
]
Config = Annotated[str | None, file("TOML file of parameters. Options on the command line override it.")]
Depth = Annotated[
    int | None,
    typer.Option(
        "--depth",
        parser=parse_depth,
        metavar="N|all",
        help="Highest depth that is used. From molecules that are deeper, such as plasmids, reads beyond "
        "it are set aside; correct divides them into groups instead. all: use every read. Time grows "
        "with the square of the depth.",
        show_default="160",
    ),
]
Device = Annotated[
    str,
    device(
        "Where overlaps are computed: cpu, cuda (all GPUs), cuda:0,2 (some GPUs), or auto, which takes "
        "GPUs if there are any and there are many reads. Never changes the result."
    ),
]
GpuMemory = Annotated[int, size("Memory to use on each GPU, such as 8G. 0: all that is free.")]
GroupBy = Annotated[
    str | None,
    typer.Option(
        metavar="target",
        help="PAF only: group overlaps by target, with targets sorted by name, as correctors need them.",
    ),
]
LayoutOverlap = Annotated[
    int | None,
    bases(
        "Shortest overlap that is used in the layout, and shortest part of a read; for a short read, 60 % of "
        "its bases, 500 or more, if that is less. Shorter overlaps are more often caused by repeats.",
        show_default="2000; for short reads less, so that 40 % of their bases lie beyond it",
    ),
]
Gfa = Annotated[
    str,
    typer.Argument(metavar="GFA", help="Assembly graph in GFA 1, from any program. - is standard input."),
]
Log = Annotated[str | None, file("Also write all log lines to this file.")]
Memory = Annotated[
    int | None, size("Memory budget, such as 4G. Data are then kept on disk, and the work is done in tiles.")
]
MaxDepth = Annotated[
    int | None, typer.Option(min=3, max=255, help="Most reads that vote on a base.", show_default="40")
]
MinLength = Annotated[int, bases("Leave out reads that are shorter.", "--min-length")]
MinQuality = Annotated[
    float,
    typer.Option(
        "--min-quality",
        metavar="Q",
        help="Leave out reads of lower mean quality. The mean is taken over error probabilities, as in "
        "nanoq and chopper.",
    ),
]
NoDuplexParents = Annotated[
    bool,
    typer.Option(
        "--no-duplex-parents",
        help="Leave out reads that duplex reads were made from (tag dx:i:-1, which dorado writes).",
    ),
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Only read the input, and print the memory and disk that a run within a budget would take.",
    ),
]
Preset = Annotated[
    str,
    preset(
        "ont, clr, hifi, or auto, which estimates the error rate from the reads. The names that "
        "minimap2 uses work, too.",
        "-x",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show nothing but errors.")]
ReadFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="READS...",
        help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed. - is standard input.",
    ),
]
Reference = Annotated[
    str | None,
    file("FASTA file of the reference that the CRAM files were written against.", "--cram-reference"),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a Dask scheduler whose workers share the work, tcp://HOST:PORT.",
    ),
]
_STATS = "Write counts, parameters, times and inputs of the run as JSON."
Stats = Annotated[str | None, file(_STATS)]
KeptStats = Annotated[str | None, file(_STATS, "--stats", show_default="OUTPUT.stats.json")]
Tags = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="Tags of SAM, BAM and CRAM records and of FASTA and FASTQ comments that are written again: "
        "names such as MM,ML, all, or none.",
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        "--threads", "-t", min=0, help="Threads to use. 0: all that are available. Never changes the result."
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show all counts, including those that are 0.")]
Workdir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Folder that keeps finished work. After a killed run, the same command continues from it. Files "
        "of reads can be added later.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="Processes that share the work (with Dask), at most one per processor. --threads is the number "
        "for all of them together.",
    ),
]
WriteConfig = Annotated[str | None, file("Write all parameters that were used to a TOML file, for --config.")]


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
