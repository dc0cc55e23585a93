"""Mappings as PAF, SAM and BAM.

PAF has the twelve columns, and the tags ``NM AS tp cm s1 s2 de cg`` with minimap2's meaning. SAM and BAM have
a line for every read, with the same tags but ``cg``, those that the read came with (`overlapper.io.tags`),
the read group (``RG``) and, where a read is mapped in several parts, all others of them (``SA``, its CIGARs
shortened to one S, M, and I or D each). What is not aligned is soft-clipped; secondary mappings have neither
bases nor qualities, nor base modifications.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np

from overlapper.errors import OutputError, ParameterError
from overlapper.io.folders import temporary_folder
from overlapper.io.given import GivenReads, reads_given
from overlapper.io.outputs import OutputFile, check_format
from overlapper.io.sam_header import check_read_names, parse_read_group, sam_header
from overlapper.io.tags import MODIFICATIONS, texts_of, without
from overlapper.runtime import cleanup
from overlapper.runtime.streams import is_stream, tells_no_format
from overlapper.tables import MappingKind, Mappings, Reads

ENDINGS = (".paf", ".paf.gz", ".sam", ".sam.gz", ".bam")
_LONGEST_FOR_BAI = 1 << 29


@dataclasses.dataclass(frozen=True)
class MappingOptions:
    r"""How mappings are written."""

    distinguish: bool = False
    """CIGARs have = and X, not M for both."""
    read_group: str = ""
    r"""Such as ``ID:run1\tSM:sample``; empty for none."""
    sort: bool = False
    index: bool = False
    """`sort`, `index`: by reference position, and with an index beside it; BAM alone."""
    command: str = ""
    """How the program was called, for the header."""
    sam: bool = False
    """Standard output is SAM, not PAF."""
    headers: Sequence[Sequence[str]] = ()
    """Lines of the SAM headers of the reads' files."""

    def as_sam(self, path: str) -> bool:
        """Tell whether a file of this name holds SAM or BAM."""
        return self.sam if tells_no_format(path, ENDINGS) else path.endswith((".sam", ".sam.gz", ".bam"))


class MappingWriter(Protocol):
    """An open file that mappings are written to."""

    def write(self, reads: Reads, mappings: Mappings) -> None:
        """Write the mappings of some reads, which they number from 0 on."""


def check_mappings_format(path: str, options: MappingOptions) -> None:
    """Raise a `ParameterError` if the name of a file tells no format, or one that the options do not suit."""
    check_format(path, ENDINGS)
    if (options.sort or options.index) and not path.endswith(".bam"):
        raise ParameterError(f"the name {path} does not end in .bam: only BAM is sorted and indexed")
    if options.index and not options.sort:
        raise ParameterError("an index needs sorted mappings: sort them as well (--sort)")
    if options.sam and not options.as_sam(path):
        raise ParameterError(f"SAM is asked for (--sam), but the name {path} is one of PAF")
    if options.read_group:
        if not options.as_sam(path):
            raise ParameterError("PAF has no read groups: write SAM or BAM, or leave the read group out")
        parse_read_group(options.read_group)


def check_bam_place(path: str) -> None:
    """Raise an `OutputError` if no BAM file can be written there."""
    with OutputFile(path).complaints(), _beside(path):
        pass


def open_mappings(
    path: str | os.PathLike[str],
    reference: Reads,
    options: MappingOptions | None = None,
    *,
    threads: int = 1,
) -> AbstractContextManager[MappingWriter]:
    """Open a file for mappings, in the format that its name ends in; ``-`` is standard output.

    Parameters
    ----------
    options : MappingOptions, optional
    threads : int
        For compression.
    """
    path, options = os.fspath(path), options or MappingOptions()
    check_mappings_format(path, options)
    if path.endswith(".bam"):
        return _BamWriter(path, reference, options, threads)
    return _text_writer(path, reference, options, threads)


def write_mappings(
    mappings: Mappings,
    reads: GivenReads,
    reference: GivenReads,
    path: str | os.PathLike[str],
    *,
    sort: bool = False,
    index: bool = False,
    read_group: str = "",
    threads: int = 1,
) -> None:
    r"""Write mappings to a file, as PAF, SAM or BAM by its name; ``-`` is PAF on standard output.

    Parameters
    ----------
    mappings : Mappings
    reads, reference : Reads, path, or sequence of paths or of bases
        What the mappings number.
    path : str or path
    sort, index : bool
        By reference position, and with an index beside it; BAM alone.
    read_group : str
        Of SAM and BAM, such as ``ID:run1\tSM:sample``; empty for none.
    threads : int
        For compression.
    """
    reads = reads_given(reads, threads, keep_qualities=True)
    options = MappingOptions(sort=sort, index=index, read_group=read_group)
    with open_mappings(path, reads_given(reference, threads), options, threads=threads) as writer:
        writer.write(reads, mappings)


@contextlib.contextmanager
def _text_writer(
    path: str, reference: Reads, options: MappingOptions, threads: int
) -> Iterator[MappingWriter]:
    """Open SAM or PAF."""
    lines = _Format(reference, options, is_sam=options.as_sam(path))
    with OutputFile(path, threads=threads) as file:
        file.write(lines.header.encode())
        yield _TextWriter(file, lines)


class _TextWriter(NamedTuple):
    file: OutputFile
    format: _Format

    def write(self, reads: Reads, mappings: Mappings) -> None:
        self.file.write(self.format.lines(reads, mappings))


_WRITTEN = "mappings.bam*", "sorted.bam*", "tmp*"
"""What pysam writes in the temporary folder; the last is what it says."""


def _beside(path: str) -> AbstractContextManager[Path]:
    """Return a temporary folder beside a BAM file; it takes the file's place when it is complete."""
    if is_stream(path) or os.path.isdir(path):
        raise FileExistsError(None, "it is a directory, a pipe or a device")
    return temporary_folder(os.path.dirname(os.path.realpath(path)), *_WRITTEN)


class _BamWriter:
    """Writes BAM through pysam, under a temporary name until it is complete."""

    def __init__(self, path: str, reference: Reads, options: MappingOptions, threads: int) -> None:
        self._path, self._options, self._threads = path, options, threads
        self._format = _Format(reference, options, is_sam=True)
        self._longest = int(reference.lengths.max(initial=0))
        self._folder = contextlib.ExitStack()

    def __enter__(self) -> Self:
        import pysam

        self._final = os.path.realpath(self._path)
        self._parse = pysam.AlignedSegment.fromstring
        self._header = pysam.AlignmentHeader.from_text(self._format.header)
        with self._complaints():
            made = self._folder.enter_context(_beside(self._path))
            self._raw = str(made / "mappings.bam")
            # What is sorted is read again at once: it is not worth compressing.
            mode = "wbu" if self._options.sort else "wb"
            try:
                self._bam = pysam.AlignmentFile(self._raw, mode, header=self._header, threads=self._threads)
            except BaseException:
                self._folder.close()
                raise
        return self

    def write(self, reads: Reads, mappings: Mappings) -> None:
        with self._to_the_end():
            for line in bytes(self._format.lines(reads, mappings)).decode().split("\n")[:-1]:
                self._bam.write(self._parse(line, self._header))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._folder, self._complaints():
            with self._to_the_end():
                self._bam.close()
            if kind is None:
                with cleanup.temporary_files_in(os.path.dirname(self._raw)):  # what samtools says
                    self._finish()

    def _finish(self) -> None:
        """Sort and index as asked for, and give the files their names."""
        import pysam

        done = self._raw
        try:
            if self._options.sort:
                done = os.path.join(os.path.dirname(self._raw), "sorted.bam")
                threads = str(max(0, self._threads - 1))
                pysam.sort("--no-PG", "-@", threads, "-o", done, self._raw)
            if self._options.index:
                kind = ["-c"] if self._longest >= _LONGEST_FOR_BAI else ["-b"]
                ending = ".csi" if kind == ["-c"] else ".bai"
                pysam.index(*kind, "-o", f"{done}{ending}", done)
        except pysam.SamtoolsError as error:
            raise OutputError(
                f"file {self._path} cannot be sorted and indexed: {error}. Check the free space"
            ) from None
        with cleanup.undisturbed():
            os.replace(done, self._final)
            if self._options.index:
                os.replace(f"{done}{ending}", f"{self._path}{ending}")

    def _complaints(self) -> AbstractContextManager[None]:
        return OutputFile(self._path).complaints()

    @contextlib.contextmanager
    def _to_the_end(self) -> Iterator[None]:
        """Raise an error when BAM cannot be written: htslib gives no reason, or one of an earlier call."""
        import pysam

        verbosity = pysam.set_verbosity(0)
        try:
            yield
        except OSError:
            raise OutputError(
                f"file {self._path} cannot be written to its end. Check the free space and the limit on the "
                "size of files; no incomplete file is left behind."
            ) from None
        finally:
            pysam.set_verbosity(verbosity)


class _Format:
    """Turns mappings into lines.

    Attributes
    ----------
    header : str
        Of SAM; empty for PAF.
    """

    def __init__(self, reference: Reads, options: MappingOptions, *, is_sam: bool) -> None:
        group = parse_read_group(options.read_group) if options.read_group else None
        self.header = sam_header(reference, group, options.command, options.headers) if is_sam else ""
        self._reference, self._distinguish = reference, options.distinguish
        tag = f"\tRG:Z:{group['ID']}" if group else ""
        self._of_all = np.frombuffer(tag.encode(), np.uint8)

    def lines(self, reads: Reads, mappings: Mappings) -> memoryview:
        """Return the lines of some reads, which the mappings number from 0 on."""
        if self.header:
            check_read_names(reads)
        from overlapper.kernels.common.walks import PackedReads
        from overlapper.kernels.text import mapping_formatting as kernel
        from overlapper.kernels.text.paf_formatting import Names

        starts = np.searchsorted(mappings.query, np.arange(len(reads) + 1))
        columns = {name: getattr(mappings, name) for name in kernel.Rows._fields if name != "starts"}
        rows = kernel.Rows(starts=starts, **columns)
        names, targets = (
            Names(table.name_bytes, table.name_offsets, table.lengths) for table in (reads, self._reference)
        )
        parts = self._parts(reads, mappings) if self.header else [b""] * len(mappings)
        texts = kernel.Texts(
            np.frombuffer(b"".join(parts), np.uint8),
            np.cumsum([0, *map(len, parts)]),
            *texts_of(reads),
            self._of_all,
        )
        packed = PackedReads.of(reads)
        name_lengths = np.diff(reads.name_offsets)
        lines = np.maximum(np.diff(starts), 1)
        of_each = name_lengths + 2 * reads.lengths + np.diff(texts.read_offsets)
        room = int((lines * of_each).sum()) + len(texts.of_rows)
        room += int(np.diff(self._reference.name_offsets)[mappings.target].sum())
        room += int(lines.sum()) * (kernel.LINE_BYTES + len(self._of_all))
        room += kernel.OPERATION_BYTES * len(mappings.cigar)
        out = np.empty(room, np.uint8)
        if not self.header:
            size = kernel.format_paf(rows, names, targets, texts, self._distinguish, out)
        else:
            qualities = kernel.of_bases(reads.qualities, reads.quality_offsets)
            letters = kernel.of_bases(reads.letters, reads.letter_offsets)
            size = kernel.format_sam(
                rows, packed, names, qualities, letters, targets, texts, self._distinguish, out
            )
        return out[:size].data

    def _parts(self, reads: Reads, mappings: Mappings) -> list[bytes]:
        """Return, of every mapping, the tag that names the other parts of its read.

        Of a secondary one that are tags of its read, which has no bases there.
        """
        texts = [b""] * len(mappings)
        if reads.tag_bytes is not None:
            for row in np.flatnonzero(mappings.kind == MappingKind.SECONDARY).tolist():
                kept = without(reads.tags_of(int(mappings.query[row])), MODIFICATIONS)
                texts[row] = b"\t" + kept if kept else b""
        parts = np.flatnonzero(mappings.kind != MappingKind.SECONDARY)
        split = mappings.query[parts]
        for read in np.unique(
            split[np.isin(split, mappings.query[mappings.kind == MappingKind.SUPPLEMENTARY])]
        ):
            rows = parts[split == read].tolist()
            entries = {row: self._part(reads, mappings, row) for row in rows}
            for row in rows:
                others = "".join(entries[other] for other in rows if other != row)
                texts[row] = f"\tSA:Z:{others}".encode()
        return texts

    def _part(self, reads: Reads, mappings: Mappings, row: int) -> str:
        """Return a mapping as an entry of the tag, with a shortened CIGAR."""
        length = int(reads.lengths[mappings.query[row]])
        start, end = int(mappings.q_start[row]), int(mappings.q_end[row])
        clips = (length - end, start) if mappings.reverse[row] else (start, length - end)
        on_query, on_target = end - start, int(mappings.t_end[row] - mappings.t_start[row])
        paired = min(on_query, on_target)
        runs = (
            (clips[0], "S"),
            (paired, "M"),
            (on_query - paired, "I"),
            (on_target - paired, "D"),
            (clips[1], "S"),
        )
        fields = (
            self._reference.name(mappings.target[row]), int(mappings.t_start[row]) + 1,
            "-" if mappings.reverse[row] else "+", "".join(f"{n}{letter}" for n, letter in runs if n),
            int(mappings.quality[row]), int(mappings.edits[row]),
        )  # fmt: skip
        return ",".join(map(str, fields)) + ";"
