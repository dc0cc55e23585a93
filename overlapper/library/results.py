"""What the functions of the library return: sequences, tables, and methods that write files."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from overlapper.assembly import contig_files, haplotype_files
from overlapper.assembly.contigs import Assembled
from overlapper.assembly.haplotigs import Haplotig, spelled
from overlapper.correction.doubt import bed
from overlapper.correction.polish import Polished
from overlapper.correction.reads import Corrected
from overlapper.errors import ParameterError
from overlapper.graph import Assembly, export
from overlapper.io.mappings import MappingOptions
from overlapper.io.outputs import OutputFile, check_ending, write_lines
from overlapper.io.read_store import ReadStore
from overlapper.io.records import FASTA_ENDINGS, write_reads
from overlapper.io.writers import write_overlaps
from overlapper.tables import Overlaps, Reads
from overlapper.tables.columns import Columns

Path = str | os.PathLike[str]
_FASTA = tuple(ending + packed for ending in FASTA_ENDINGS for packed in ("", ".gz"))
_FASTQ = (".fastq", ".fq", ".fastq.gz", ".fq.gz")
_GFA = (".gfa", ".gfa.gz")
_KINDS: dict[str, type] = {
    **dict.fromkeys(
        ("length", "reads", "path_reads", "unconfirmed", "contradicted", "alt_group", "passages"), int
    ),
    **dict.fromkeys(("block", "haplotype", "start", "end", "sites"), int),
    **dict.fromkeys(("bases_in", "bases_out", "left_out"), int),
    **dict.fromkeys(("depth", "copies", "quality", "deepest", "figure", "coverage", "identity"), float),
    **dict.fromkeys(("circular", "repeat"), bool),
}
"""Columns of all tables that are not texts."""
_PREFIXES = {"hap1": "h1tg", "hap2": "h2tg", "primary": "ptg"}


class PoorResultWarning(UserWarning):
    """A result is poor, for example because there are too few reads. The text says what to do."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What all results have."""

    made: Any
    """Assembled, Assembly, Corrected or Polished; all that was found."""
    summary: str
    """The result in figures, as a sentence has them."""
    warnings: list[str]
    """What there is to know about the result. If it is poor, that is also a `PoorResultWarning`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class AssemblyResult(Result):
    """Contigs, the longest first."""

    made: Assembled
    _store: ReadStore
    _threads: int

    @property
    def contigs(self) -> Reads:
        """The sequences of the contigs, with names and qualities."""
        return self.made.contigs.sequences

    @property
    def circular(self) -> np.ndarray:
        """Which contigs are circles (bool)."""
        return self.made.contigs.circular

    @functools.cached_property
    def table(self) -> Columns:
        """The columns of ``contigs.tsv``, a row per contig."""
        made = self.made
        lines = contig_files.contig_table(
            made.contigs, made.error_rate, made.doubt, made.phased, made.params.telomere, made.passages
        )
        return Columns.of_lines(lines, _KINDS)

    @functools.cached_property
    def doubt(self) -> Columns:
        """The columns of ``contigs.doubt.bed``: stretches of contigs that may be wrong, and why."""
        lines = bed(self.made.doubt, self.contigs)
        return Columns.of_lines(lines, _KINDS, ("contig", "start", "end", "reason", "figure"))

    @functools.cached_property
    def reads(self) -> Columns:
        """Where reads are on contigs, with their haplotype and phase block: a row per read in a contig."""
        placed = self.made.placed
        read, contig = (np.array(of.names, object) for of in (self._store.names(), self.contigs))
        return Columns(
            {
                "read": read[placed.read],
                "contig": contig[placed.contig],
                "start": placed.start,
                "reverse": placed.reverse,
                "haplotype": placed.haplotype,
                "block": placed.block,
            }
        )

    @property
    def haplotypes(self) -> tuple[Reads, Reads] | None:
        """Contigs of both haplotypes, ``hap1`` and ``hap2``; None where they were not told apart."""
        if not self.made.haplotypes:
            return None
        return self._sequences("hap1"), self._sequences("hap2")

    @property
    def primary(self) -> Reads | None:
        """One contig at each place of the genome; None where haplotypes were not told apart."""
        return self._sequences("primary") if self.made.haplotypes else None

    @property
    def phase_blocks(self) -> Columns | None:
        """The columns of ``contigs.phase_blocks.tsv``; None where haplotypes were not told apart."""
        if not self.made.phased:
            return None
        return Columns.of_lines(haplotype_files.block_table(self.made.phased, self.made.contigs), _KINDS)

    @property
    def stats(self) -> dict[str, Any]:
        """What ``stats.json`` holds: figures, stages, times and parameters."""
        return json.loads(self.made.to_json({}))

    def write_fasta(self, path: Path, of: str = "contigs") -> None:
        """Write sequences as FASTA.

        Parameters
        ----------
        path : path
        of : str
            ``contigs``, ``hap1``, ``hap2`` or ``primary``.

        Raises
        ------
        ParameterError
            When the name of the file is not one of FASTA, or haplotypes were not told apart.
        """
        contigs = self.made.contigs
        if of == "contigs":
            return _write_lines(path, _FASTA, contig_files.contig_fasta(contigs))
        lines = haplotype_files.haplotig_fasta(self._haplotigs(of), _PREFIXES[of], contigs)
        return _write_lines(path, _FASTA, lines)

    def write_gfa(self, path: Path, of: str = "contigs") -> None:
        """Write sequences and their links as GFA 1; arguments are those of `write_fasta`."""
        contigs, made = self.made.contigs, self.made
        if of == "contigs":
            lines = contig_files.contig_gfa(contigs, made.placed, self._store.names(), self.made.phased)
            return _write_lines(path, _GFA, lines)
        lines = haplotype_files.haplotig_gfa(self._haplotigs(of), _PREFIXES[of], contigs)
        return _write_lines(path, _GFA, lines)

    def write_paf(self, path: Path) -> None:
        """Align the reads to their contigs and write PAF."""
        self._write_aligned(path, (".paf", ".paf.gz"), MappingOptions())

    def write_bam(self, path: Path) -> None:
        """Align the reads to their contigs and write sorted and indexed BAM, with haplotypes (HP, PS)."""
        self._write_aligned(path, (".bam",), MappingOptions(sort=True, index=True))

    def _write_aligned(self, path: Path, endings: tuple[str, ...], options: MappingOptions) -> None:
        check_ending(os.fspath(path), endings)
        if not len(self.contigs):
            raise ParameterError("there are no contigs to align reads to")
        self.made.write_reads(os.fspath(path), self._store, options, self._threads)

    def _haplotigs(self, of: str) -> list[Haplotig]:
        if of not in _PREFIXES:
            raise ParameterError(f"of is {of!r}, expected one of contigs, {', '.join(_PREFIXES)}")
        found = self.made.haplotypes
        if not found:
            raise ParameterError(
                f"there is no {of}: haplotypes were not told apart. Ask for it with haplotypes='phase'"
            )
        return {"hap1": found.first, "hap2": found.second, "primary": found.primary}[of]

    def _sequences(self, of: str) -> Reads:
        haplotigs = self._haplotigs(of)
        names = haplotype_files.names_of(haplotigs, _PREFIXES[of])
        return Reads.from_sequences(names, (spelled(one, self.contigs) for one in haplotigs))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class LayoutResult(Result):
    """Unitigs of an overlap graph, the longest first.

    Attributes
    ----------
    overlaps : Overlaps
        Those that were laid out.
    """

    made: Assembly
    overlaps: Overlaps
    _reads: Reads

    @functools.cached_property
    def contigs(self) -> Reads:
        """The sequences of the unitigs, with names."""
        layout = self.made.layout
        spelled = (layout.sequence(unitig, self._reads) for unitig in range(len(layout)))
        return Reads.from_sequences(layout.names, spelled)

    @property
    def circular(self) -> np.ndarray:
        """Which unitigs are circles (bool)."""
        return self.made.layout.circular

    @property
    def table(self) -> Columns:
        """The columns of the table that ``overlapper layout --table`` writes, a row per unitig."""
        return Columns.of_lines(export.unitig_table(self.made.layout), _KINDS)

    def write_fasta(self, path: Path) -> None:
        """Write the sequences of the unitigs as FASTA."""
        _write_lines(path, _FASTA, export.unitig_fasta(self.made.layout, self._reads))

    def write_gfa(self, path: Path) -> None:
        """Write the unitigs and their links as GFA 1."""
        lines = export.unitig_gfa(self.made.layout, self._reads, overlaps=self.overlaps)
        _write_lines(path, _GFA, lines)

    def write_paf(self, path: Path) -> None:
        """Write the overlaps that were laid out as PAF."""
        check_ending(os.fspath(path), (".paf", ".paf.gz"))
        write_overlaps(self.overlaps, self._reads, path)


class _OfSequences(Result):
    """A result that is sequences with qualities."""

    @property
    def _sequences(self) -> Reads:
        raise NotImplementedError

    def write_fasta(self, path: Path) -> None:
        """Write the sequences as FASTA."""
        _write_records(path, _FASTA, self._sequences)

    def write_fastq(self, path: Path) -> None:
        """Write the sequences as FASTQ, with their qualities."""
        _write_records(path, _FASTQ, self._sequences)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PolishingResult(_OfSequences):
    """Polished contigs, in the order in which they were given."""

    made: Polished

    @property
    def contigs(self) -> Reads:
        """The sequences of the contigs, with names and qualities."""
        return self.made.unitigs.sequences

    @property
    def circular(self) -> np.ndarray:
        """Which contigs are circles (bool)."""
        return self.made.unitigs.circular

    _sequences = contigs


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class CorrectionResult(_OfSequences):
    """Corrected reads, in the order in which they were given."""

    made: Corrected

    @functools.cached_property
    def reads(self) -> Reads:
        """The corrected reads, with qualities."""
        return self.made.reads

    @property
    def _sequences(self) -> Reads:
        return self.reads

    @property
    def table(self) -> Columns:
        """What became of each read: the columns of the table that ``overlapper correct --table`` writes."""
        return Columns.of_lines(self.made.changes.to_tsv().splitlines(), _KINDS)


def _write_lines(path: Path, endings: tuple[str, ...], lines: Iterable[str]) -> None:
    check_ending(os.fspath(path), endings)
    write_lines(path, lines)


def _write_records(path: Path, endings: tuple[str, ...], reads: Reads) -> None:
    check_ending(os.fspath(path), endings)
    with OutputFile(os.fspath(path)) as file:
        write_reads(file, reads)
