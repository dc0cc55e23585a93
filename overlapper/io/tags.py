"""Tags: what records of SAM, BAM and CRAM, and comments of FASTA and FASTQ, say of reads besides.

**A tag** is ``NAME:TYPE:VALUE``, as the SAM specification defines it, of type A, i, f, Z, H or B. In a
comment (all that follows a name on its line) tags are what is between tabs, as ``samtools fastq -T '*'`` and
``samtools import`` have it; what is none, such as ``runid=5`` or a number that its
type has no room for, counts for nothing. Of several of one name the
first one counts.

**Kept** they are as text, with tabs between them, in a column of `overlapper.tables.Reads`, in the order they
came in. BAM has numbers in a form that text can say exactly: floats get as many digits as that takes.

**Of alignments** are tags that say something of how a read lay on a reference. They hold no longer where it
is aligned anew, and are dropped unless they are asked for by name: those that ``samtools reset`` drops, and
those that minimap2 and this program write.

**Base modifications** (MM, ML, MN) refer to the read as it was sequenced, from its first base on, whatever
strand its record is on: they are right for all records that have all of its bases. They are dropped where MN
says that they are of another length than the read has, or a record is hard-clipped and has no MN, and where a
record has no bases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from overlapper.errors import ParameterError, shortened
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

OUTDATED = "without their base modifications, which are of other bases than their records have"
"""What reads are counted as whose base modifications are dropped."""
MODIFICATIONS = frozenset({b"MM", b"ML", b"MN", b"Mm", b"Ml"})
"""Base modifications, by their names today and by those they had before."""
_OF_ALIGNMENTS = frozenset(
    b"AS CC CG CP H0 H1 H2 HI IH MC MD MQ NH NM SA TS tp cm s1 s2 de dv ms nn rl cs cg".split()
)
_NUMBER = rb"[-+]?(?:[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?|inf|nan)"
_TAG = re.compile(
    rb"[A-Za-z][A-Za-z0-9]:(?:A:[!-~]|i:[-+]?[0-9]+|f:%b|Z:[ -~]*|H:(?:[0-9A-F]{2})*"
    rb"|B:[cCsSiI](?:,[-+]?[0-9]+)*|B:f(?:,%b)*)" % (_NUMBER, _NUMBER)
)
_BITS = {b"c": 8, b"s": 16, b"i": 32}
"""Of whole numbers; capital letters are for those without a sign, and ``i`` outside of B for both."""
_NAME = re.compile("[A-Za-z][A-Za-z0-9]")
_PARENT = re.compile(rb"[\t ]dx:i:-1(?![^\t])")


class TagChoice(NamedTuple):
    """Which tags are kept."""

    names: frozenset[bytes] | None = None
    """None for all but those of alignments."""
    without: frozenset[bytes] = frozenset()
    """Those that are not kept in any case."""

    @classmethod
    def of(cls, text: str, without: Iterable[bytes] = ()) -> TagChoice | None:
        """Return the choice of an option: names between commas, or ``all``; None for ``none``.

        Raises
        ------
        ParameterError
            When it is neither.
        """
        if text in ("all", "none"):
            return cls(None, frozenset(without)) if text == "all" else None
        names = text.split(",")
        if odd := [name for name in names if not _NAME.fullmatch(name)]:
            raise ParameterError(
                f"no tag is called {shortened(odd[0])}, expected names such as RG or MM,ML, or all, or none"
            )
        return cls(frozenset(name.encode() for name in names), frozenset(without))

    def has(self, name: bytes) -> bool:
        """Tell whether tags of a name are kept."""
        wanted = name not in _OF_ALIGNMENTS if self.names is None else name in self.names
        return wanted and name not in self.without


def with_tags(reads: Reads, tags_of: Callable[[int], bytes]) -> Reads:
    """Return reads with other tags, those that a function gives of each."""
    texts = [tags_of(read) for read in range(len(reads))]
    joined = np.frombuffer(b"".join(texts), np.uint8)
    columns = {"tag_bytes": joined, "tag_offsets": offsets_of(np.array([len(t) for t in texts], np.int64))}
    return Reads(**(vars(reads) | columns))


def chosen(reads: Reads, choice: TagChoice | None) -> tuple[Reads, int]:
    """Choose tags from the comments of reads.

    Parameters
    ----------
    reads : Reads
        With whole comments for tags, with the blank before each.
    choice : TagChoice or None
        None for no tags.

    Returns
    -------
    Reads
    int
        Reads whose base modifications are of another length than they have.
    """
    if choice is None:
        return Reads(**(vars(reads) | {"tag_bytes": None, "tag_offsets": None})), 0
    outdated = 0

    def tags_of(read: int) -> bytes:
        nonlocal outdated
        found: dict[bytes, bytes] = {}
        for tag in reads.tags_of(read)[1:].split(b"\t"):
            if choice.has(tag[:2]) and _TAG.fullmatch(tag) and _has_room(tag):
                found.setdefault(tag[:2], tag)
        if not found.keys().isdisjoint(MODIFICATIONS) and not _fit(found, int(reads.lengths[read])):
            outdated += 1
            found = {name: tag for name, tag in found.items() if name not in MODIFICATIONS}
        return b"\t".join(found.values())

    return with_tags(reads, tags_of), outdated


def _has_room(tag: bytes) -> bool:
    """Tell whether a tag can hold its whole numbers."""
    kind, text = (tag[3:4], tag[5:]) if tag[3:4] != b"B" else (tag[5:6], tag[7:])
    if not text or not (bits := _BITS.get(kind.lower())):
        return True
    signed, unsigned = kind.islower(), kind.isupper() or tag[3:4] == b"i"
    numbers = np.fromstring(text.decode(), sep=",")
    least, most = -(2.0 ** (bits - 1)) if signed else 0, 2.0 ** (bits - (not unsigned)) - 1
    return bool(numbers.min() >= least and numbers.max() <= most)


def _fit(found: dict[bytes, bytes], length: int) -> bool:
    """Tell whether base modifications are those of a read of so many bases."""
    return length > 0 and (b"MN" not in found or int(found[b"MN"].rpartition(b":")[2]) == length)


def is_parent(comment: bytes) -> bool:
    """Tell whether a comment says that a duplex read was made from the read."""
    return _PARENT.search(comment) is not None


def without(tags: bytes, names: frozenset[bytes]) -> bytes:
    """Return tags but those of some names."""
    return b"\t".join(tag for tag in tags.split(b"\t") if tag[:2] not in names)


def value_of(tags: bytes, name: bytes) -> bytes | None:
    """Return the value of a tag; None where there is none of that name."""
    return next((tag[5:] for tag in tags.split(b"\t") if tag[:2] == name), None)


def texts_of(reads: Reads) -> tuple[np.ndarray, np.ndarray]:
    """Return the tags of all reads with a tab before each (uint8), and where those of each read start."""
    if reads.tag_bytes is None or reads.tag_offsets is None:
        return np.empty(0, np.uint8), np.zeros(len(reads) + 1, np.int64)
    some = np.diff(reads.tag_offsets) > 0
    tabs = np.full(int(some.sum()), ord("\t"), np.uint8)
    with_tabs = np.insert(reads.tag_bytes, reads.tag_offsets[:-1][some], tabs)
    return with_tabs, reads.tag_offsets + np.append(0, np.cumsum(some))


def of_record(record: object, fields: list[str]) -> Iterator[str]:
    """Yield the tags of a record of pysam, given as it writes them, which rounds floats."""
    for field in fields:
        name, kind = field[:2], field[3:6]
        if kind.startswith("f") or kind == "B:f":
            value = record.get_tag(name)  # type: ignore[attr-defined]
            floats = value if kind == "B:f" else [value]
            text = ",".join(str(np.float32(one)).removesuffix(".0") for one in floats)
            field = f"{name}:B:f,{text}" if kind == "B:f" else f"{name}:f:{text}"
        yield field
