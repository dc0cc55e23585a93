"""Checks of what the user names: no file is written twice or read as well, and names fit their formats."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping

import typer

_ENDINGS = {
    "FASTA": (".fasta", ".fa", ".fna"), "FASTQ": (".fastq", ".fq"), "SAM": (".sam",), "BAM": (".bam",),
    "CRAM": (".cram",), "PAF": (".paf",), "Parquet": (".parquet",), "GFA": (".gfa",), "JSON": (".json",),
    "HTML": (".html", ".htm"), "PDF": (".pdf",), "TSV": (".tsv",),
}  # fmt: skip


_OTHER_COMPRESSIONS = (".zst", ".xz", ".bz2", ".bgz", ".lz4", ".zip")

OUTPUT = "--output (standard output by default)"


def check_files(outputs: Mapping[str, str | None], inputs: Iterable[str | None]) -> list[str]:
    """Refuse empty names, to write to one file twice or to one that is read, and to read a pipe twice.

    What is written beside an output counts, too.

    Parameters
    ----------
    outputs : mapping of str to str or None
        Path by what the user knows the option as; `None` where it was not given.
    inputs : iterable of str or None
        The same of what is read.

    Returns
    -------
    list of str
        The inputs that were given.
    """
    given = [path for path in inputs if path is not None]
    if "" in given:
        raise typer.BadParameter("the name of an input is empty")
    places: dict[str, str] = {}
    for option, path in outputs.items():
        if path == "":
            raise typer.BadParameter(f"{option} is an empty name")
        if path is not None:
            place = path if path == "-" else os.path.realpath(path)
            if place in places:
                raise typer.BadParameter(f"{places[place]} and {option} must differ")
            places[place] = option
    for option, path in outputs.items():
        for place in map(os.path.realpath, _beside(path or "")):
            if place in places:
                raise typer.BadParameter(f"the file written next to {option} and {places[place]} must differ")
            places[place] = option
    read = {os.path.realpath(path): path for path in given if path != "-"}
    for place in places:
        if place in read:
            raise typer.BadParameter(f"{read[place]} is an input: name another output")
    seen = set()
    for path in given:
        if (pipe := _pipe(path)) in seen:
            raise typer.BadParameter(
                "standard input can be read only once: name a file"
                if path == "-"
                else f"{path} is a pipe, which can be read only once: write it to a file, and name that file"
            )
        seen |= {pipe} - {None}
    return given


def _beside(path: str) -> list[str]:
    """Return the files that may be written beside an output: tables of Parquet, indices of BAM."""
    if path.endswith(".parquet"):
        from overlapper.io.parquet import names_path

        return [names_path(path)]
    return [path + ".bai", path + ".csi"] if path.endswith(".bam") else []


def _pipe(path: str) -> tuple[int, int] | None:
    """Return device and inode of a pipe, by which it is known under any name; None for anything else."""
    try:
        about = os.fstat(0) if path == "-" else os.stat(path)
    except (OSError, ValueError):
        return (0, 0) if path == "-" else None
    if path == "-" or stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode):
        return about.st_dev, about.st_ino
    return None


def check_name(path: str | None, option: str, *formats: str) -> None:
    """Refuse a name that promises another format, or compression, than what is written there.

    Names that promise none pass.

    Parameters
    ----------
    option : str
        What the user names it with.
    *formats : str
        Of `_ENDINGS`; none for a folder.
    """
    name = (path or "").lower().removesuffix(".gz")
    if name.endswith(_OTHER_COMPRESSIONS):
        raise typer.BadParameter(
            f"{path} is named like a compressed file, but {option} can only be plain or .gz"
        )
    promised = next((format_ for format_, endings in _ENDINGS.items() if name.endswith(endings)), None)
    if promised and promised not in formats:
        is_written = " or ".join(formats) or "a folder"
        raise typer.BadParameter(f"{path} is named like a {promised} file, but {option} is {is_written}")


def check_choice(option: str, value: str | None, *choices: str) -> None:
    """Refuse a value that an option does not offer; None, of an option that was not given, passes."""
    if value is not None and value not in choices:
        *first, last = choices
        raise typer.BadParameter(f"{option} is {value}, expected {', '.join(first)} or {last}")
