"""The header of SAM and BAM files."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlapper.errors import FormatError, ParameterError
from overlapper.tables import Reads
from overlapper.version import __version__

_NAME_REMEDY = "Rename it"


def parse_read_group(text: str) -> dict[str, str]:
    r"""Return the fields of a read group.

    Parameters
    ----------
    text : str
        ``ID:x`` and other fields, between tabs or ``\t``; ``@RG`` may come first.

    Raises
    ------
    ParameterError
        When a field is none of the form ``TAG:value``, or there is no ID.

    Examples
    --------
    >>> parse_read_group("@RG\\tID:run1\\tSM:sample")
    {'ID': 'run1', 'SM': 'sample'}
    """
    fields = [field for field in text.replace("\\t", "\t").split("\t") if field != "@RG"]
    for field in fields:
        tag, colon, value = field.partition(":")
        if len(tag) != 2 or not tag.isalnum() or not colon or not value or not value.isprintable():
            raise ParameterError(
                f"the read group has the field {field!r}, expected TAG:value, such as SM:name"
            )
    group = dict(field.split(":", 1) for field in fields)
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
    names = reference.names
    for name in names:
        if not name.isascii() or name[0] in "*=" or set(name) & set("\\,\"'`()[]{}<>"):
            raise FormatError(
                f"the reference sequence {name!r} has a name that SAM does not allow", remedy=_NAME_REMEDY
            )
    header["SQ"] = [{"SN": name, "LN": length} for name, length in zip(names, lengths, strict=True)]
    if group:
        header["RG"] = [group]
    program = {"ID": "overlapper", "PN": "overlapper", "VN": __version__}
    header["PG"] = [program | ({"CL": " ".join(command.split())} if command else {})]
    return header
