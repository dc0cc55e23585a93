"""The header of SAM and BAM files."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Sequence

import numpy as np

from overlapper.errors import FormatError, ParameterError, shortened
from overlapper.tables import Reads
from overlapper.version import __version__

LONGEST_NAME = 254
"""Bytes of a name, by the SAM specification."""


def check_reference_names(reference: Reads) -> None:
    """Raise a `FormatError` if SAM does not allow the name of a reference sequence."""
    for name in reference.names:
        odd = not name.isascii() or name[0] in "*=" or set(name) & set("\\,\"'`()[]{}<>")
        if odd or len(name) > LONGEST_NAME:
            raise FormatError(
                f"the reference sequence {shortened(name)} has a name that SAM does not allow",
                remedy="Rename it",
            )


def check_read_names(reads: Reads) -> None:
    """Raise a `FormatError` if SAM has no room for the name of a read, or takes it for something else."""
    sizes = np.diff(reads.name_offsets)
    first = reads.name_bytes[reads.name_offsets[:-1]]
    for read in np.flatnonzero((first == ord("@")) | (first == ord("*")) & (sizes == 1)).tolist()[:1]:
        raise FormatError(
            f"the read {shortened(reads.name(read))} has a name that SAM takes for a line of its header, "
            "or for none",
            remedy="Rename it, or write PAF.",
        )
    if sizes.max(initial=0) > LONGEST_NAME:
        read = int(sizes.argmax())
        raise FormatError(
            f"the read {shortened(reads.name(read))} has a name of {sizes[read]} bytes, but SAM allows "
            f"{LONGEST_NAME}",
            remedy="Rename it, or write PAF.",
        )


def parse_read_group(text: str) -> dict[str, str]:
    r"""Return the fields of a read group.

    Parameters
    ----------
    text : str
        ``ID:x`` and other fields, between tabs or ``\t``; ``@RG`` may come first.

    Raises
    ------
    ParameterError
        When a field is none of the form ``TAG:value``, several in one, or there twice, or there is no ID.

    Examples
    --------
    >>> parse_read_group("@RG\\tID:run1\\tSM:sample")
    {'ID': 'run1', 'SM': 'sample'}
    """
    fields = [field for field in text.replace("\\t", "\t").split("\t") if field != "@RG"]
    for field in fields:
        tag, colon, value = field.partition(":")
        if (
            len(tag) != 2
            or not tag.isascii()
            or not tag.isalnum()
            or not colon
            or not value
            or not value.isprintable()
        ):
            raise ParameterError(
                f"the read group has the field {shortened(field)}, expected TAG:value, such as SM:name"
            )
        if re.search(r"\s[A-Za-z][A-Za-z0-9]:", value):
            raise ParameterError(
                f"the read group has the field {shortened(field)}, which looks like several with blanks "
                r"between them, expected tabs, or \t: 'ID:run1\tSM:sample'"
            )
    group = dict(field.split(":", 1) for field in fields)
    if len(group) < len(fields):
        raise ParameterError(f"the read group {shortened(text)} has a field twice")
    if "ID" not in group:
        raise ParameterError(f"the read group is {text!r}, expected a field ID:name")
    return group


def sam_header(
    reference: Reads, group: dict[str, str] | None, command: str, given: Sequence[Sequence[str]] = ()
) -> str:
    """Return the text of a header.

    Of the headers of the reads' files it has, each line once, the read groups, unless one is given, the
    programs, and the comments. Groups and programs without an ID are left out. As of ``samtools``, this
    program follows each program that no other one follows; where programs of two files have the same ID and
    differ, that of the later file gets another ID.

    Parameters
    ----------
    group : dict of str to str or None
        Fields of the read group of all reads; None for those that they have.
    command : str
        How the program was called.
    given : sequence of sequences of str
        Lines of the headers of the reads' files.
    """
    check_reference_names(reference)
    lines = ["@HD\tVN:1.6\tSO:unsorted\tGO:query"]
    lengths = np.maximum(reference.lengths, 1).tolist()
    lines += [f"@SQ\tSN:{name}\tLN:{n}" for name, n in zip(reference.names, lengths, strict=True)]
    if group:
        lines.append("\t".join(["@RG", *(f"{tag}:{value}" for tag, value in group.items())]))
    else:
        lines += _read_groups(given)
    programs = _programs(given)
    # Names of files need not be UTF-8, which a header is.
    command = " ".join(command.encode(errors="backslashreplace").decode().split())
    follows = {field("PP", line) for line in programs.values()}
    for last in [name for name in programs if name not in follows] or [""]:
        name = _free("overlapper", programs)
        fields = {"ID": name, "PN": "overlapper", "PP": last, "VN": __version__, "CL": command}
        programs[name] = "\t".join(["@PG", *(f"{tag}:{text}" for tag, text in fields.items() if text)])
    comments = dict.fromkeys(line for header in given for line in header if line.startswith("@CO"))
    return "\n".join([*lines, *programs.values(), *comments]) + "\n"


def field(tag: str, line: str) -> str:
    """Return a field of a line of a header; nothing where it has none of that tag."""
    found = (text[3:] for text in line.split("\t")[1:] if text.startswith(f"{tag}:"))
    return next(found, "")


def _read_groups(given: Sequence[Sequence[str]]) -> list[str]:
    groups: dict[str, str] = {}
    for line in (line for header in given for line in header if line.startswith("@RG\t")):
        name = field("ID", line)
        if name and groups.setdefault(name, line) != line:
            raise FormatError(
                f"two files have read groups {shortened(name)} that differ",
                remedy="Rename one of them (samtools addreplacerg does), or give one for all reads "
                "(--read-group).",
            )
    return list(groups.values())


def _programs(given: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the lines of programs by their ID."""
    programs: dict[str, str] = {}
    for header in given:
        lines = {field("ID", line): line for line in header if line.startswith("@PG\t")}
        lines.pop("", None)
        renamed = {
            name: _free(name, programs) if programs.get(name, line) != line else name
            for name, line in lines.items()
        }
        for name, line in lines.items():
            for tag in ("ID", "PP"):
                old = field(tag, line)
                line = line.replace(f"\t{tag}:{old}", f"\t{tag}:{renamed.get(old, old)}", 1)
            programs.setdefault(renamed[name], line)
    return programs


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken, with a number behind it if it has to be."""
    numbered = (f"{name}.{number}" for number in itertools.count(1))
    return next(one for one in itertools.chain([name], numbered) if one not in taken)
