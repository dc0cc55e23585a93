"""Mapping one sequence at a time, with hits that have the names of mappy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overlapper.io.given import GivenReads, reads_given
from overlapper.mapping.mapper import BatchMapper
from overlapper.params.mapping import MapParams
from overlapper.tables import MappingKind, Mappings, Reads
from overlapper.tables.cigars import OPERATIONS


class Hit(NamedTuple):
    """Where a sequence maps; fields that mappy has, too, are named as there.

    Attributes
    ----------
    ctg : str
        Name of the reference sequence.
    ctg_len, r_st, r_en : int
        Its length, and the interval on its forward strand, 0-based half-open.
    strand : int
        1, or -1 where the reverse complement of the sequence maps.
    q_st, q_en : int
        The interval on the sequence, 0-based half-open.
    mapq : int
        Mapping quality, 0 to 60.
    kind : MappingKind
    mlen, blen, NM : int
        Equal pairs of bases, columns of the alignment, and columns that are not equal pairs.
    cigar : list of (int, int)
        Length and operation (BAM's code) of each run, along the forward strand of the reference.
    """

    ctg: str
    ctg_len: int
    r_st: int
    r_en: int
    strand: int
    q_st: int
    q_en: int
    mapq: int
    kind: MappingKind
    mlen: int
    blen: int
    NM: int
    cigar: list[tuple[int, int]]

    @property
    def is_primary(self) -> bool:
        """Whether no other place of the same part of the sequence is better."""
        return self.kind != MappingKind.SECONDARY

    @property
    def cigar_str(self) -> str:
        """The alignment as text."""
        return "".join(f"{length}{OPERATIONS[operation]}" for length, operation in self.cigar)

    def __str__(self) -> str:
        """Return the columns of PAF after the sequence's name and length, and the CIGAR."""
        columns = (
            self.q_st, self.q_en, "+" if self.strand > 0 else "-", self.ctg, self.ctg_len, self.r_st,
            self.r_en, self.mlen, self.blen, self.mapq, f"tp:A:{'P' if self.is_primary else 'S'}",
            f"cg:Z:{self.cigar_str}",
        )  # fmt: skip
        return "\t".join(map(str, columns))


class Mapper:
    """A reference, ready to map sequences to.

    Parameters
    ----------
    reference : Reads, path, or sequence of paths or of bases
    preset : str or MapParams
        ``ont``, ``clr``, ``hifi``, ``short``, or parameters.
    threads : int, optional
        All by default. No result depends on it.

    Attributes
    ----------
    reference : Reads

    Raises
    ------
    EmptyInputError
        When the reference has no bases.
    ParameterError
        When there is no such preset, or the reference is too long.

    Examples
    --------
    >>> from overlapper.simulate import random_genome
    >>> reference = random_genome(3000)
    >>> mapper = Mapper(reference, preset="short")  # Mapper("ref.fa") reads a file
    >>> for hit in mapper.map(reference[0].sequence[30:150]):
    ...     print(hit.ctg, hit.r_st, hit.r_en, hit.strand, hit.cigar_str)
    genome 30 150 1 120=
    """

    def __init__(
        self, reference: GivenReads, preset: str | MapParams = "ont", *, threads: int | None = None
    ) -> None:
        params = MapParams.preset(preset) if isinstance(preset, str) else preset
        self.reference = reads_given(reference, threads or 1, name="reference")
        self._mapper = BatchMapper.prepare(self.reference, params, threads)

    def __repr__(self) -> str:
        return f"Mapper({len(self.reference):,} sequences, {self.reference.total_bases:,} bases)"

    def map(self, sequence: str) -> Iterator[Hit]:
        """Map one sequence; yield its primary hit first, then the others."""
        read = Reads.from_sequences(["sequence"], [sequence])
        for row in self.map_reads(read, threads=1):
            yield Hit(
                ctg=self.reference.name(row.target),
                ctg_len=int(self.reference.lengths[row.target]),
                r_st=row.t_start,
                r_en=row.t_end,
                strand=-1 if row.reverse else 1,
                q_st=row.q_start,
                q_en=row.q_end,
                mapq=row.quality,
                kind=MappingKind(row.kind),
                mlen=row.matches,
                blen=row.block_length,
                NM=row.block_length - row.matches,
                cigar=[(run >> 4, run & 15) for run in row.cigar.tolist()],
            )

    def map_reads(self, reads: GivenReads, threads: int | None = None) -> Mappings:
        """Map many reads at once; as `overlapper.map_reads`, with the reference indexed before."""
        return self._mapper.map_all(reads_given(reads, threads or 1), threads)
