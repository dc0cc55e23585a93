"""Reads from FASTA, FASTQ, SAM, BAM and CRAM files, plain or compressed, into one table.

What is read from text:

- A line ends at a line feed or a carriage return; lines without a visible letter count for nothing, and
  blanks (spaces and tabs) within lines of bases or qualities are skipped.
- A record starts with ``>`` (FASTA) or ``@`` (FASTQ); one file may hold both. Its name goes up to the first
  blank; of the rest of the line tags count where they are asked for (`overlapper.io.tags`).
- The bases follow, on any number of lines: A, C, G, T, U (read as T), in either case; the IUPAC codes
  RYSWKMBDHVN and X are unknown bases. Any other letter is an error. A FASTA record ends where a line starts
  with ``>`` or ``@``.
- In FASTQ, a line that starts with ``+`` ends the bases, and as many qualities follow as there are bases
  (``!`` to ``~``, Phred + 33). Qualities stand on one line if the bases do. A record without bases needs no
  line of qualities.

A read without bases is kept. Two reads of one name are an error, whichever files they are in.
"""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from overlapper.errors import DuplicateNameError, EmptyInputError, FormatError, InputError
from overlapper.io.chunks import has_chunks, parsed_chunks
from overlapper.io.identity import Input, State
from overlapper.io.read_filter import ALL, LEFT_OUT, ReadFilter
from overlapper.io.reads_builder import RECORD_REMEDY, ReadsBuilder
from overlapper.io.sources import Content, content_of, open_input, unpacked_blocks
from overlapper.io.tags import OUTDATED, TagChoice, chosen
from overlapper.runtime.streams import is_stream
from overlapper.tables import Reads

PART_BASES = 1 << 26
"""Bases that `FastxParts` holds at a time, if nothing else is asked for."""
LONGEST_READ = 2**31 - 1


def read_fastx(
    *paths: str | os.PathLike[str],
    keep_qualities: bool = False,
    min_length: int = 0,
    min_quality: float = 0.0,
    no_duplex_parents: bool = False,
    tags: str = "none",
    reference: str | os.PathLike[str] | None = None,
    threads: int = 1,
) -> Reads:
    """Read sets of reads; several files make one set, in the order given.

    Memory: the packed bases (a quarter of a byte each) and at most a quarter more, the names, and a byte a
    base for qualities that are kept; where several threads read, twice as much.

    Parameters
    ----------
    *paths : str or path
        FASTA, FASTQ, SAM, BAM or CRAM, plain, gzip, bgzip or zstd (extra ``zstd``), told apart by content;
        ``-`` is standard input.
        From alignments the primary records are taken, each read on the strand it was sequenced on.
    keep_qualities : bool
        Keep Phred qualities where the files have them.
    min_length : int
        Leave out shorter reads.
    min_quality : float
        Leave out reads of a lower mean quality, by error probabilities (`overlapper.io.read_filter`).
    no_duplex_parents : bool
        Leave out reads from which duplex reads were made (tag ``dx:i:-1``).
    tags : str
        Which tags are kept (`overlapper.io.tags`): names between commas, ``all`` or ``none``.
    reference : str or path, optional
        FASTA file that CRAM files were written against.
    threads : int
        Changes nothing but the time; more than one take part in files that are not compressed, or by bgzip.

    Returns
    -------
    Reads

    Raises
    ------
    EmptyInputError
        When a file holds no reads, or all are left out.
    TruncatedError, FormatError, InputError
        When a file cannot be read to its end, or a read has no qualities that `min_quality` could judge.
    DuplicateNameError
        When two reads share a name.

    Examples
    --------
    >>> reads = read_fastx("reads.fastq.gz")  # doctest: +SKIP
    """
    return FastxParts(
        *paths, keep_qualities=keep_qualities, tags=TagChoice.of(tags),
        read_filter=ReadFilter(min_length, min_quality, no_duplex_parents),
        reference=reference, threads=threads,
    ).together()  # fmt: skip


class FastxParts:
    """Files of reads, read as `read_fastx` does, but a part at a time, for sets larger than memory.

    Parameters
    ----------
    *paths, keep_qualities, reference, threads
        As `read_fastx` takes them.
    read_filter : ReadFilter
        Which reads count; all by default.
    tags : TagChoice, optional
        Which tags are kept; none by default.
    part_bases : int
        Bases that are held at a time, `PART_BASES` by default; a longer read is held whole.

    Attributes
    ----------
    read_filter : ReadFilter
    threads : int
    left_out : dict of str to int
        How many reads that have come are left out, or lack bases or base modifications, by why.
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        keep_qualities: bool = False,
        read_filter: ReadFilter = ALL,
        tags: TagChoice | None = None,
        reference: str | os.PathLike[str] | None = None,
        part_bases: int | None = None,
        threads: int = 1,
    ) -> None:
        if not paths:
            raise EmptyInputError("no files of reads are given", remedy="Name at least one.")
        self._files = [os.fspath(path) for path in paths]
        self._reference = None if reference is None else os.fspath(reference)
        self._first_reads: list[int] = []
        self._counted: list[np.ndarray] = []
        self.keep_qualities = keep_qualities
        self.tags = tags
        self._headers: dict[str, list[str]] = {}
        self._parse_qualities = keep_qualities or bool(read_filter.min_quality)
        self._parse_comments = tags is not None or read_filter.no_duplex_parents
        self._part_bases = part_bases or PART_BASES
        self.threads = threads
        self.read_filter = read_filter
        self.left_out = read_filter.counts

    @property
    def sources(self) -> list[str]:
        """All files that are read, the reference among them."""
        return [*self._files, *([] if self._reference is None else [self._reference])]

    def as_input(self, what: str, digest: str, states: Sequence[State | None] = ()) -> Input:
        """Return what was read, as a work folder notes its inputs (`overlapper.io.identity.Input`)."""
        return Input(what, self.sources, digest, list(states), self.read_filter.given, dict(self.left_out))

    def headers(self) -> list[list[str]]:
        """Return the lines of the SAM header of each file; of a pipe, once its first record was read."""
        from overlapper.io import alignments

        for path in self._files:
            if path not in self._headers and not is_stream(path):
                self._headers[path] = alignments.header_of(path)
        return [self._headers.get(path, []) for path in self._files]

    def together(self) -> Reads:
        """Return all reads as one table, which is checked."""
        if not self.read_filter:
            self._part_bases = sys.maxsize  # nothing is gained by parts where they are joined as they are
        reads = Reads.concat(list(self), self.threads)
        self.check(reads)
        return reads

    def __iter__(self) -> Iterator[Reads]:
        """Yield the reads in order, a part and somewhat more at a time.

        Reads of different parts are not compared: `check` does, when all parts have come.
        """
        before = 0
        for reads in self._parsed():
            passing = self._passing(reads, before) if self.read_filter else reads
            if self._parse_comments:
                passing, outdated = chosen(passing, self.tags)
                if outdated:
                    self.left_out[OUTDATED] = self.left_out.get(OUTDATED, 0) + outdated
            yield passing
            before += len(reads)

    def _passing(self, reads: Reads, before: int) -> Reads:
        """Return the reads that pass the filter; ``before`` reads came earlier."""
        if self.read_filter.min_quality and reads.quality_offsets is not None:
            bare = np.flatnonzero(np.diff(reads.quality_offsets) != reads.lengths)
            if len(bare):
                file, record = self._place_of_any(before + int(bare[0]))
                raise FormatError(
                    "has no qualities, and reads of low quality are to be left out",
                    file=file,
                    record=str(record),
                    remedy="Give FASTQ or BAM, or leave out reads by their length alone.",
                )
        judged = self.read_filter.judge(reads)
        for name, left_out in zip(self.read_filter.counts, judged, strict=True):
            self.left_out[name] += int(left_out.sum())
        count = np.flatnonzero(~np.logical_or.reduce(judged))
        self._counted.append(before + count)
        passing = reads.take(count)
        if not self.keep_qualities:
            passing = dataclasses.replace(
                passing, qualities=None, quality_offsets=None, letters=None, letter_offsets=None
            )
        return passing

    def _parsed(self) -> Iterator[Reads]:
        """Yield all reads."""
        kept = self._parse_qualities, self._parse_comments
        builder = ReadsBuilder(*kept)
        takes_reference = False
        for path in self._files:
            self._first_reads.append(builder.reads)
            with open_input(path) as file:
                takes_reference |= content_of(file) is not Content.TEXT
                if self._reference is not None and path is self._files[-1] and not takes_reference:
                    raise InputError(
                        "is given as the reference of alignments, but no file of reads is SAM, BAM or CRAM",
                        file=self._reference, remedy="Leave it out; overlapper map places reads on one.",
                    )  # fmt: skip
                if self.threads > 1 and path != "-" and has_chunks(file):
                    yield builder.take_closed()
                    for reads in parsed_chunks(file, path, *kept, self.threads):
                        builder.count(len(reads))
                        yield reads
                    blocks = unpacked_blocks(file, path)
                else:
                    blocks = self._text_blocks(file, path)
                for block in blocks:
                    builder.feed(block, path)
                    if builder.bases >= self._part_bases:
                        yield builder.take_closed()
            builder.end_file(path)
        yield builder.take_closed()

    def _text_blocks(self, file: io.BufferedReader, path: str) -> Iterator[bytes]:
        content = content_of(file)
        if content is Content.TEXT:
            return unpacked_blocks(file, path, self.threads)
        from overlapper.io import alignments

        header = self._headers[path] = []
        wanted = alignments.Wanted(self.left_out, header, self._parse_comments)
        if content is Content.SAM:
            return alignments.fastq_of_sam(unpacked_blocks(file, path, self.threads), path, wanted)
        reference = self._reference if content is Content.CRAM else None
        return alignments.fastq_blocks(file, path, reference, wanted)

    def check(self, reads: Reads) -> None:
        """Check names and lengths of all reads, which come without their bases if need be.

        Raises
        ------
        DuplicateNameError, FormatError, EmptyInputError
            See `read_fastx`.
        """
        if not len(reads) and self.read_filter:
            why = ", ".join(f"{n:,} {name.removeprefix(LEFT_OUT)}" for name, n in self.left_out.items())
            raise EmptyInputError(
                f"holds no reads that count ({why})", file=", ".join(self._files),
                remedy="Lower the least length or the least quality.",
            )  # fmt: skip
        _check_lengths(reads, self._place)
        _check_names(reads, self._place)

    def _place(self, read: int) -> tuple[str, int]:
        """Return the file of a read that counts, and its number in it, from 1."""
        return self._place_of_any(int(np.concatenate(self._counted)[read]) if self.read_filter else read)

    def _place_of_any(self, read: int) -> tuple[str, int]:
        file = int(np.searchsorted(self._first_reads, read, side="right")) - 1
        return self._files[file], read - self._first_reads[file] + 1


Place = Callable[[int], tuple[str, int]]
"""Gives the file of a read, and its number in it, from 1."""


def _check_lengths(reads: Reads, place: Place) -> None:
    if reads.lengths.max(initial=0) > LONGEST_READ:
        file, record = place(int(reads.lengths.argmax()))
        raise FormatError(
            f"has {reads.lengths.max()} bases, expected at most {LONGEST_READ} (positions are 32-bit)",
            file=file,
            record=str(record),
            remedy="Is it a read? If so, cut it.",
        )


def _check_names(reads: Reads, place: Place) -> None:
    if len(reads.name_bytes) and reads.name_bytes.max() > 127:
        _check_utf8(reads, place)
    pair = _equal_names(reads)
    if pair is not None:
        (file, record), (other_file, other_record) = map(place, pair)
        raise DuplicateNameError(
            f"has the name of record {record} in file {file}",
            file=other_file,
            record=f"{other_record} ({reads.name(pair[1])})",
            remedy="Rename one of them (seqkit rename does); if a file was given twice, give it once.",
        )


def _check_utf8(reads: Reads, place: Place) -> None:
    for i in range(len(reads)):
        try:
            reads.name(i)
        except UnicodeDecodeError:
            file, record = place(i)
            raise FormatError(
                "has a name that is not UTF-8 text", file=file, record=str(record), remedy=RECORD_REMEDY
            ) from None


def _equal_names(reads: Reads) -> tuple[int, int] | None:
    """Return the first two reads that share a name."""
    from overlapper.kernels.text.packing import hash_names

    hashes = hash_names(reads.name_bytes, reads.name_offsets)
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    pairs = [(int(order[i]), int(order[i + 1])) for i in same]
    equal = [(b, a) for a, b in pairs if reads.name(a) == reads.name(b)]
    if not equal:
        return None
    second, first = min(equal)
    return first, second
