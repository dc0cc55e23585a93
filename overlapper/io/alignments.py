"""The reads of SAM, BAM and CRAM files as FASTQ text.

SAM is read here, a record a line, so that what is wrong is told of the record; BAM and CRAM are read by
htslib, through pysam. Of every record the name, the flag, the bases and the qualities count; where they are
asked for, its tags are the comment of the read (`overlapper.io.tags`).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import FormatError, InputError, OutputError, TruncatedError, shortened
from overlapper.io.folders import LINK, temporary_folder
from overlapper.io.lines import lines_of, name_problem, text_lines, whole
from overlapper.io.read_filter import LEFT_OUT
from overlapper.io.reads_builder import RECORD_REMEDY
from overlapper.io.sources import (
    BLOCK_BYTES,
    Content,
    check_rereadable,
    content_of,
    open_input,
    whole_lines,
)
from overlapper.io.tags import MODIFICATIONS, OUTDATED, of_record
from overlapper.tables.sam_flags import REVERSE, SECONDARY, SUPPLEMENTARY, UNMAPPED

NOT_PRIMARY = f"{LEFT_OUT}secondary or supplementary records alone"
CLIPPED = "shorter than sequenced: their records are hard-clipped"
_CLIPPED_ENDS = re.compile(r"^[0-9]+H|[0-9]H$")
_NOT_PRIMARY = SECONDARY | SUPPLEMENTARY
_COLUMNS, _MOST_FLAGS = 11, 0xFFFF
_BASES = re.compile(r"\*|[A-Za-z=.]+")
_COMPLEMENT = str.maketrans("ACGTURYKMBDHVacgturykmbdhv", "TGCAAYRMKVHDBtgcaayrmkvhdb")
_CRAM_WITH_END = b"\x02\x01"
"""The first version whose files end in a container that says so."""
_CRAM_END, _CRAM_END_BYTES = b"\xff\xff\xff\xff\x0f\xe0EOF", 38
"""What tells that container, and how long it is at most."""
_REPAIR = "Repair the record or leave it out; if it is the last one, the file is cut off."


class _Record(NamedTuple):
    """A record; bases and qualities (as in FASTQ) on the strand that was sequenced, None where not told.

    ``clipped`` tells whether the read had more bases, which the record leaves out.
    """

    name: str
    flag: int
    bases: str
    qualities: str | None
    clipped: bool
    tags: list[str]


class Wanted(NamedTuple):
    """What else is told of a file than its reads."""

    counts: dict[str, int]
    """Reads of which bases or base modifications are missing are added to, by why, when all records have
    come."""
    header: list[str]
    """Lines of the header are added, before the first record comes."""
    tags: bool = False
    """Whether reads have comments with their tags."""


def fastq_blocks(
    file: io.BufferedReader, path: str, reference: str | None, wanted: Wanted
) -> Iterator[bytes]:
    """Yield the primary records of BAM or CRAM as FASTQ, or FASTA where they have no qualities.

    A read that was aligned to the reverse strand is put back on the strand it was sequenced on.

    Parameters
    ----------
    file : file
        Open at its start; `sources.content_of` may have peeked into it.
    path : str
        For messages.
    reference : str or None
        FASTA file for CRAM.
    """
    return _fastq(_checked(_records(file, path, reference, wanted.header), path, wanted.tags), path, wanted)


def fastq_of_sam(blocks: Iterable[bytes], path: str, wanted: Wanted) -> Iterator[bytes]:
    """Yield the primary records of the text of a SAM file, as `fastq_blocks` does."""
    return _fastq(_sam_records(blocks, path, wanted), path, wanted)


def header_of(path: str) -> list[str]:
    """Return the lines of the header of a file on disk; none of text that is not SAM."""
    with open_input(path) as file:
        content = content_of(file)
    if content is Content.SAM:
        with contextlib.closing(text_lines(path)) as lines:
            return list(itertools.takewhile(lambda line: line.startswith("@"), lines))
    return [] if content is Content.TEXT else str(_header(path)).splitlines()


def _fastq(records: Iterable[_Record], path: str, wanted: Wanted) -> Iterator[bytes]:
    texts: list[str] = []
    size = clipped = outdated = 0
    primary, others = array("q"), array("q")  # hashes of names, which take less than names
    for number, record in enumerate(records, start=1):
        if record.flag & _NOT_PRIMARY:
            others.append(hash(record.name))
            continue
        primary.append(hash(record.name))
        clipped += record.clipped
        if not record.bases and not record.flag & UNMAPPED:
            raise FormatError(
                "is aligned but has no bases",
                file=path,
                record=f"{number} ({record.name})",
                remedy="Write the file with the bases of its primary records, or leave the record out.",
            )
        name, _, bases, qualities, _, tags = record
        if record.clipped and not any(tag.startswith("MN:") for tag in tags):
            complete = [tag for tag in tags if tag[:2].encode() not in MODIFICATIONS]
            outdated += len(complete) < len(tags)
            tags = complete
        name = "\t".join([name, *tags])
        texts.append(f">{name}\n{bases}\n" if qualities is None else f"@{name}\n{bases}\n+\n{qualities}\n")
        size += 2 * len(bases) + len(name)
        if size >= BLOCK_BYTES:
            yield "".join(texts).encode()
            texts, size = [], 0
    yield "".join(texts).encode()
    alone = len(np.setdiff1d(np.asarray(others), np.asarray(primary)))
    for why, number in ((NOT_PRIMARY, alone), (CLIPPED, clipped), (OUTDATED, outdated)):
        if number:
            wanted.counts[why] = wanted.counts.get(why, 0) + number


def _sam_records(blocks: Iterable[bytes], path: str, wanted: Wanted) -> Iterator[_Record]:
    number = 0
    for line in lines_of(whole_lines(blocks), path):
        if line.startswith("@") and not number:
            wanted.header.append(line)
            continue
        if not line:
            continue
        number += 1
        fields = line.split("\t")
        if problem := _problem(fields):
            name = fields[0] if not name_problem(fields[0]) else ""
            record = f"{number} ({shortened(name)[1:-1]})" if name else str(number)
            raise FormatError(problem, file=path, record=record, remedy=_REPAIR)
        name, flag, bases, qualities = fields[0], int(fields[1]), fields[9], fields[10]
        bases = "" if bases == "*" else bases
        if flag & REVERSE:
            bases, qualities = bases[::-1].translate(_COMPLEMENT), qualities[::-1]
        clipped = bool(_CLIPPED_ENDS.search(fields[5]))
        tags = fields[_COLUMNS:] if wanted.tags else []
        yield _Record(name, flag, bases, None if fields[10] == "*" else qualities, clipped, tags)


def _problem(fields: list[str]) -> str:
    """Return why the fields of a line are no record; nothing where they are."""
    if len(fields) < _COLUMNS:
        return f"has {len(fields)} columns, expected {_COLUMNS} or more"
    if problem := name_problem(fields[0]):
        return problem
    if whole(fields[1], _MOST_FLAGS) is None:
        return f"has {shortened(fields[1])} for its flags, expected a number from 0 to {_MOST_FLAGS}"
    if not _BASES.fullmatch(fields[9]):
        return f"has {shortened(fields[9])} for its bases, expected letters, or * for none"
    if fields[10] != "*" and len(fields[10]) != len("" if fields[9] == "*" else fields[9]):
        return f"has {len(fields[10])} qualities, but {len(fields[9].replace('*', ''))} bases"
    return ""


def _checked(records: Iterable[Any], path: str, with_tags: bool) -> Iterator[_Record]:
    """Yield records of pysam; what is between them and FASTQ is text, in which a name must not end a line."""
    for number, record in enumerate(records, start=1):
        tags: list[str] = []
        try:
            problem = name_problem(record.query_name or "")
        except UnicodeDecodeError:
            problem = "has a name that is not UTF-8 text"
        try:
            tags = list(of_record(record, record.to_string().split("\t")[_COLUMNS:])) if with_tags else []
        except (ValueError, KeyError):  # htslib says no more
            problem = problem or "has tags that are damaged"
        if problem:
            raise FormatError(problem, file=path, record=str(number), remedy=RECORD_REMEDY)
        yield _record_of(record, tags)


def _record_of(record: Any, tags: list[str]) -> _Record:
    # pysam turns those of reverse records round, and fails where there are none.
    scores = None if record.query_qualities is None else record.get_forward_qualities()
    qualities = None if scores is None else bytes(min(score, 93) + 33 for score in scores).decode()
    bases = record.get_forward_sequence() or ""
    clipped = (record.infer_read_length() or 0) > len(bases) > 0
    return _Record(record.query_name, record.flag, bases, qualities, clipped, tags)


def _records(file: io.BufferedReader, path: str, reference: str | None, header: list[str]) -> Iterator[Any]:
    import pysam

    is_cram = file.peek(4).startswith(b"CRAM")
    if reference is not None:
        if is_cram:
            check_rereadable(reference, "a reference is read again and again")
        with open_input(reference):
            pass
    try:
        if is_cram and not _ended(file):
            raise OSError("htslib reads to the end of what there is")
        with (
            _whole(file, path) as source,
            _silent(pysam),
            _linked((reference or _told_reference(source)) if is_cram else None) as link,
            pysam.AlignmentFile(source, check_sq=False, reference_filename=link) as alignments,
        ):
            header.extend(str(alignments.header).splitlines())
            yield from alignments.fetch(until_eof=True)
    except (OSError, ValueError):
        # pysam says no more than "truncated file", also where a reference is missing.
        if reference is not None and (other := _other_sequence(path, reference)):
            raise InputError(
                f"was written against another reference: {other}", file=path,
                remedy=f"Name the reference that it was written against instead of {reference}.",
            ) from None  # fmt: skip
        if is_cram and reference is None:
            problem = "cannot be read to its end: it is cut off or damaged, or its reference is not found"
            remedy = "Name the reference that it was written against, or copy or download the file again."
        else:
            problem = "cannot be read to its end: it is cut off or damaged"
            remedy = "Copy or download the file again."
        raise TruncatedError(problem, file=path, remedy=remedy) from None


def _ended(file: io.BufferedReader) -> bool:
    """Tell whether a CRAM file ends with its last container; true for what is no file on disk."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return True
    version = os.pread(file.fileno(), 2, 4)
    end = max(0, os.fstat(file.fileno()).st_size - _CRAM_END_BYTES)
    return version < _CRAM_WITH_END or _CRAM_END in os.pread(file.fileno(), _CRAM_END_BYTES, end)


@contextlib.contextmanager
def _silent(pysam: Any) -> Iterator[None]:
    """Keep htslib, and pysam where it cannot close what it could not read, from writing to standard error."""
    verbosity, hook = pysam.set_verbosity(0), sys.unraisablehook

    def silent(report: Any) -> None:
        if "Closing failed" not in str(report.exc_value):
            hook(report)

    sys.unraisablehook = silent
    try:
        yield
    finally:
        sys.unraisablehook = hook
        pysam.set_verbosity(verbosity)


@contextlib.contextmanager
def _linked(reference: str | None) -> Iterator[str | None]:
    """Yield another name for a reference: htslib writes an index beside the name that it is given."""
    if reference is None:
        yield None
        return
    names = "reference.fai", "reference.gzi", f"reference{LINK}"
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(tempfile.gettempdir(), *names))
            link = folder / "reference"
            link.symlink_to(os.path.realpath(reference))
        except OSError as error:
            raise OutputError(
                f"no folder for the index of {reference} can be made: {error.strerror}. Name one in the "
                "environment variable TMPDIR"
            ) from None
        yield str(link)


def _told_reference(source: Any) -> str | None:
    """Return the file that a CRAM file says it was written against; None where htslib is to find the bases.

    That it is where it is told where to look, in pipes, and where sequences are of several files.
    """
    if not isinstance(source, str) or os.environ.keys() & {"REF_PATH", "REF_CACHE"}:
        return None
    told = {sequence.get("UR", "") for sequence in _sequences(source)}
    reference = told.pop().removeprefix("file://") if len(told) == 1 else ""
    return reference if os.path.isfile(reference) else None


def _sequences(path: str) -> list[dict[str, Any]]:
    """Return what the header of a CRAM file says of each sequence; nothing where it cannot be read."""
    found: list[dict[str, Any]] = _header(path).to_dict().get("SQ", [])
    return found


def _header(path: str) -> Any:
    """Return the header of a BAM or CRAM file; an empty one where it cannot be read."""
    import pysam

    try:
        with _silent(pysam), pysam.AlignmentFile(path, check_sq=False) as alignments:
            return alignments.header
    except (OSError, ValueError):
        return pysam.AlignmentHeader()


def _other_sequence(path: str, reference: str) -> str:
    """Return which sequence of a CRAM file is another one in a reference; nothing where none is."""
    expected = _sequences(path)
    found = _digests(reference) if expected else {}
    for sequence in expected:
        name, length = sequence["SN"], int(sequence["LN"])
        if name not in found:
            return f"{shortened(name)} is not in {reference}"
        if found[name][0] != length:
            return f"{shortened(name)} has {length} bases, but {found[name][0]} in {reference}"
        if sequence.get("M5", found[name][1]) != found[name][1]:
            return f"{shortened(name)} has other bases in {reference}"
    return ""


def _digests(path: str) -> dict[str, tuple[int, str]]:
    """Return, of each sequence of a FASTA file, its length and the MD5 digest that SAM headers have."""
    found: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    name = ""
    with contextlib.closing(text_lines(path)) as lines:
        for line in lines:
            if line.startswith(">"):
                name = line[1:].split(maxsplit=1)[0] if line[1:].strip() else ""
                found[name], sizes[name] = hashlib.md5(usedforsecurity=False), 0
            elif name in found:
                bases = "".join(line.split()).upper()
                found[name].update(bases.encode())
                sizes[name] += len(bases)
    return {name: (sizes[name], digest.hexdigest()) for name, digest in found.items()}


@contextlib.contextmanager
def _whole(file: io.BufferedReader, path: str) -> Iterator[Any]:
    """Yield what pysam can open to read the file from its start, though its first bytes were peeked at."""
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and path != "-":
        yield path
        return
    read_end, write_end = os.pipe()

    def copy() -> None:
        with contextlib.suppress(BrokenPipeError), open(write_end, "wb") as pipe:
            shutil.copyfileobj(file, pipe)

    copier = threading.Thread(target=copy)
    copier.start()
    try:
        with open(read_end, "rb") as pipe:
            yield pipe
    finally:
        copier.join()
