"""Contigs judged by the k-mers of a reference or of haplotypes (``docs/algorithms/evaluation.md``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from overlapper.errors import EmptyInputError, InputError, ParameterError, require
from overlapper.evaluation.contig_scores import ContigScore, ContigScores, K, Share, Stretch
from overlapper.evaluation.slices import Slicing, memory_for_tables, plan_slices, reference_spans, spans_of
from overlapper.kernels.evaluation import contig_markers
from overlapper.kernels.evaluation.contig_markers import (
    CLOSED,
    CONTIG,
    HAPLOTYPE,
    SWITCHES,
    References,
    Rules,
    Slices,
)
from overlapper.kernels.seeds import kmer_table
from overlapper.kernels.seeds.counting import ALL, NONE
from overlapper.kernels.seeds.kmer_table import MOST_HAPLOTYPES, Spans
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import available_threads, cut_evenly, map_in_order
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

RULES = Rules(k=K, least_run=60, sure_run=25, slack=10_000)
_BLOCK_BASES = 1 << 22
_MOST_BLOCKS = 64
_HELD_PER_BASE = 0.25
_BITS_PER_BASE = 0.125


def evaluate_contigs(
    contigs: Reads,
    haplotypes: Sequence[Reads],
    *,
    circles: np.ndarray | None = None,
    circular: Collection[str] | bool = (),
    memory: int = 0,
    threads: int | None = None,
    report: Report = unreported,
) -> ContigScores:
    """Judge contigs by the k-mers of the sequences that they come from.

    Parameters
    ----------
    contigs : Reads
    haplotypes : sequence of Reads
        The sequences of each; one for a haploid genome.
    circles : ndarray of bool, shape (contigs,), optional
        Which contigs are circles; none by default.
    circular : collection of str, or bool
        Names of sequences of the haplotypes that are circular; True for all of them.
    memory : int
        Bytes to stay within; 0 is half of the machine's memory.
    threads : int, optional
        All that the process may use by default. Neither changes the scores.
    report : callable
        ``report(step, done, total)`` is told how far it is.

    Returns
    -------
    ContigScores

    Raises
    ------
    ParameterError
        When a circular sequence is not there, there are too many haplotypes, or too little memory.
    EmptyInputError
        When contigs or a haplotype have no k-mers.
    InputError
        When no k-mer of the contigs is in the reference.
    """
    return Judge(haplotypes, circular).judge(contigs, circles, memory, threads or available_threads(), report)


@dataclasses.dataclass(frozen=True)
class _Block:
    """What a slice found in a block of contigs."""

    bits: np.ndarray
    changes: np.ndarray


class Judge:
    """Haplotypes that contigs are judged by.

    Parameters
    ----------
    haplotypes : sequence of Reads
    circular : collection of str, or bool
        As `evaluate_contigs` takes them.
    rules : Rules
        Others than the definitions have are for tests.
    """

    def __init__(
        self, haplotypes: Sequence[Reads], circular: Collection[str] | bool = (), rules: Rules = RULES
    ) -> None:
        require(
            1 <= len(haplotypes) <= MOST_HAPLOTYPES, "haplotypes", len(haplotypes), f"1 to {MOST_HAPLOTYPES}"
        )
        self._rules = rules
        self._haplotypes = len(haplotypes)
        sequences = Reads.concat(list(haplotypes))
        self._names = sequences.names
        self._bases = sequences.total_bases
        self._references = References(
            offsets_of(sequences.lengths),
            _circular(self._names, circular),
            np.repeat(np.arange(len(haplotypes)), [len(h) for h in haplotypes]),
        )
        self._spans = reference_spans(sequences, self._references.circular, rules.k)

    def judge(
        self,
        contigs: Reads,
        circles: np.ndarray | None = None,
        memory: int = 0,
        threads: int = 1,
        report: Report = unreported,
    ) -> ContigScores:
        """Judge contigs; see `evaluate_contigs`."""
        if circles is None:
            circles = np.zeros(len(contigs), bool)
        spans = spans_of(contigs)
        held = int(_HELD_PER_BASE * self._bases + (_HELD_PER_BASE + _BITS_PER_BASE) * contigs.total_bases)
        tables = memory_for_tables(memory, held)
        report("counting k-mers of the reference", 0, 0)
        slicing = plan_slices(self._spans, self._rules.k, ALL, tables, threads)
        blocks = self._blocks(contigs, spans)
        counts, shares, found = self._look_up(contigs, spans, slicing, blocks, threads, report)
        self._check(counts, shares)
        report("walking along contigs", 0, 0)
        walked = list(
            map_in_order(
                lambda number: self._walk(contigs, spans, slicing, blocks[number], found, number),
                range(len(blocks)),
                threads,
            )
        )
        rows = self._contigs(contigs, circles, counts, walked)
        return ContigScores(
            rows, self._bases,
            tuple(Share(int(seen), int(all_)) for all_, seen in shares[:, :2]),
            tuple(Share(int(seen), int(all_)) for all_, seen in shares[:, 2:]),
        )  # fmt: skip

    def _blocks(self, contigs: Reads, spans: Spans) -> list[tuple[int, int]]:
        """Return spans of whole contigs, some at a time, half open."""
        share = max(_BLOCK_BASES, -(-contigs.total_bases // _MOST_BLOCKS))
        bounds = np.searchsorted(spans.sequence, cut_evenly(contigs.lengths, share))
        return list(pairwise(bounds.tolist()))

    def _look_up(
        self,
        contigs: Reads,
        spans: Spans,
        slicing: Slicing,
        blocks: list[tuple[int, int]],
        threads: int,
        report: Report,
    ) -> tuple[np.ndarray, np.ndarray, list[list[_Block]]]:
        """Look up all contigs in the table of each slice.

        Returns
        -------
        ndarray of int64, shape (contigs, 2)
            k-mers, and those that are missing.
        ndarray of int64, shape (haplotypes, 4)
            As `kmer_table.tally` returns them.
        list of list of _Block
            By slice, then by block.
        """

        def look_up(number: int) -> tuple[np.ndarray, np.ndarray, list[_Block]]:
            low, high = slicing.hashes(number)
            table = np.full((slicing.rows[number], 2), NONE)
            kmer_table.add_kmers(
                table, self._spans, self._references.haplotype, self._rules.k, ALL, low, high
            )
            counts = np.zeros((len(contigs), 2), np.int64)
            found = [
                _Block(*contig_markers.find_markers(table, spans, *block, self._rules.k, low, high, counts))
                for block in blocks
            ]
            return counts, kmer_table.tally(table, self._haplotypes), found

        counts = np.zeros((len(contigs), 2), np.int64)
        shares = np.zeros((self._haplotypes, 4), np.int64)
        found = []
        for done, (counted, tallied, blocks_found) in enumerate(
            map_in_order(look_up, range(len(slicing)), threads)
        ):
            report("looking up k-mers of contigs", done + 1, len(slicing))
            counts += counted
            shares += tallied
            found.append(blocks_found)
        return counts, shares, found

    def _check(self, counts: np.ndarray, shares: np.ndarray) -> None:
        if not shares[:, 0].all():
            raise EmptyInputError(
                f"haplotype {int(shares[:, 0].argmin()) + 1} of the reference has no {self._rules.k}-mers",
                remedy="Give sequences of the genome.",
            )
        total, missing = counts.sum(axis=0)
        if not total:
            raise EmptyInputError(
                f"no contig has {self._rules.k}-mers", remedy="Give contigs that are longer."
            )
        if total == missing:
            raise InputError(
                f"none of the {total:,} k-mers of the contigs is in the reference",
                remedy="Give the reference that they come from.",
            )

    def _walk(
        self,
        contigs: Reads,
        spans: Spans,
        slicing: Slicing,
        block: tuple[int, int],
        found: list[list[_Block]],
        number: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Go along the contigs of a block; see `contig_markers.score_markers`."""
        parts = [of_slice[number] for of_slice in found]
        slices = Slices(
            slicing.of_bin,
            np.concatenate([part.bits for part in parts]),
            offsets_of(np.array([len(part.bits) for part in parts]))[:-1],
            np.concatenate([part.changes for part in parts]),
            offsets_of(np.array([len(part.changes) for part in parts])),
        )
        return contig_markers.score_markers(
            spans, *block, contigs.lengths, np.uint64(slicing.shift), self._rules, slices, self._references,
            self._haplotypes,
        )  # fmt: skip

    def _contigs(
        self,
        contigs: Reads,
        circles: np.ndarray,
        counts: np.ndarray,
        walked: list[tuple[np.ndarray, np.ndarray]],
    ) -> tuple[ContigScore, ...]:
        """Return what is known of every contig."""
        counted = np.zeros((len(contigs), HAPLOTYPE + self._haplotypes), np.int64)
        stretches: dict[int, list[Stretch]] = {}
        for block_counted, block_stretches in walked:
            counted[block_counted[:, CONTIG]] = block_counted
            for contig, start, end, first, last in block_stretches.tolist():
                stretches.setdefault(contig, []).append(
                    Stretch(start, end, self._place(first), self._place(last))
                )
        haploid = self._haplotypes == 1
        return tuple(
            ContigScore(
                name, int(contigs.lengths[i]), bool(circles[i]), bool(circles[i] and counted[i, CLOSED]),
                int(counts[i, 0]), int(counts[i, 1]), tuple(counted[i, HAPLOTYPE:].tolist()),
                int(counted[i, SWITCHES]), tuple(stretches.get(i, ())) if haploid else (),
            )
            for i, name in enumerate(contigs.names)
        )  # fmt: skip

    def _place(self, code: int) -> str:
        place, opposite = code >> 1, code & 1
        sequence = int(np.searchsorted(self._references.starts, place, side="right")) - 1
        return f"{self._names[sequence]}:{place - self._references.starts[sequence]}{'+-'[opposite]}"


def _circular(names: Sequence[str], circular: Collection[str] | bool) -> np.ndarray:
    """Return which sequences are circular."""
    if isinstance(circular, bool):
        return np.full(len(names), circular)
    for name in circular:
        if name not in names:
            known = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise ParameterError(f"circular sequence {name!r} is not in the reference, which has {known}")
    return np.array([name in circular for name in names], bool)
