"""The header of SAM and BAM files."""

from __future__ import annotations

import re
from typing import Any

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


def sam_header(reference: Reads, group: dict[str, str] | None, command: str) -> dict[str, Any]:
    """Return a header as pysam takes it.

    Parameters
    ----------
    reference : Reads
    group : dict of str to str or None
        Fields of the read group.
    command : str
        How the program was called.

    Raises
    ------
    FormatError
        When SAM does not allow the name of a reference sequence.
    """
    header: dict[str, Any] = {"HD": {"VN": "1.6", "SO": "unsorted", "GO": "query"}}
    lengths = np.maximum(reference.lengths, 1).tolist()
    check_reference_names(reference)
    header["SQ"] = [{"SN": name, "LN": length} for name, length in zip(reference.names, lengths, strict=True)]
    if group:
        header["RG"] = [group]
    # Names of files need not be UTF-8, which a header is.
    command = command.encode(errors="backslashreplace").decode()
    program = {"ID": "overlapper", "PN": "overlapper", "VN": __version__}
    header["PG"] = [program | ({"CL": " ".join(command.split())} if command else {})]
    return header
