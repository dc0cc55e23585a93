"""Mapping: seeds, chains, alignments, and which of them are reported."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Self

import numpy as np

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.kernels.cpu import cigars
from overlapper.kernels.cpu.reference_seeds import X_BITS
from overlapper.mapping.chains import Chains, chain, forward_intervals
from overlapper.mapping.choice import Groups, mapping_quality, other_score, worth_extending
from overlapper.mapping.extenders import MapExtender, Paths, map_extender
from overlapper.mapping.params import MapParams
from overlapper.mapping.seeders import Seeder, seeder
from overlapper.tables import MappingKind, Mappings, Reads
from overlapper.tables.base import gather_ragged
from overlapper.threads import available_threads, cut_evenly, map_in_order

LONGEST_READ = 1 << (X_BITS - 2)
STAGES = ("seeds", "chains", "extension", "choice")
BLOCK_BASES = 1 << 21
"""Bases of the reads that are mapped together."""


@dataclasses.dataclass(frozen=True)
class Mapper:
    """A reference, ready to map reads to.

    Attributes
    ----------
    reference : Reads
    params : MapParams
    seeder : Seeder
    extender : MapExtender
    counts : Counter
        What became of the reads mapped so far: the funnel.
    seconds : Counter
        Time that all threads together spent in each stage of mapping them.
    """

    reference: Reads
    params: MapParams
    seeder: Seeder
    extender: MapExtender
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    seconds: Counter[str] = dataclasses.field(default_factory=Counter)

    @classmethod
    def prepare(cls, reference: Reads, params: MapParams, threads: int = 0) -> Self:
        """Index a reference.

        Parameters
        ----------
        reference : Reads
        params : MapParams
        threads : int
            0 takes all. No result depends on it.

        Raises
        ------
        EmptyInputError
            When the reference has no bases.
        ParameterError
            When the seeder or the extender is not known, or the reference is too long.
        """
        extender = map_extender(params.extender)
        find = seeder(params.seeder)
        if not reference.total_bases:
            raise EmptyInputError("the reference has no bases", remedy="Give one that has.")
        return cls(
            reference, params, find.prepare(reference, params, threads or available_threads()), extender
        )

    def map(self, reads: Reads, threads: int = 0) -> Iterator[tuple[range, Mappings]]:
        """Map reads, a block at a time.

        Parameters
        ----------
        reads : Reads
        threads : int
            0 takes all. No result depends on it.

        Yields
        ------
        range, Mappings
            Numbers of the reads of a block, and their mappings.

        Raises
        ------
        ParameterError
            When a read is longer than `LONGEST_READ`.
        """
        longest = int(reads.lengths.max(initial=0))
        if longest > LONGEST_READ:
            name = reads.name(int(reads.lengths.argmax()))
            raise ParameterError(f"read {name} has {longest} bases, expected at most {LONGEST_READ}")
        bounds = cut_evenly(reads.lengths, BLOCK_BASES).tolist()

        def work(block: tuple[int, int]) -> tuple[range, Mappings, dict[str, int], dict[str, float]]:
            first, last = block
            return range(first, last), *self._map_block(reads.take(np.arange(first, last)), first)

        blocks = map_in_order(work, pairwise(bounds), threads or available_threads())
        for rows, mappings, counts, seconds in blocks:
            self.counts.update(counts)
            self.seconds.update(seconds)
            yield rows, mappings

    def _map_block(self, reads: Reads, first: int) -> tuple[Mappings, dict[str, int], dict[str, float]]:
        """Map reads that are numbered from ``first`` on; return what was counted and timed, too."""
        params, marks = self.params, [time.perf_counter()]
        anchors = self.seeder.find(reads)
        marks.append(time.perf_counter())
        chains = chain(anchors, self.reference, params.chain)
        intervals = chains.forward_intervals(reads.lengths)
        groups = Groups.of(chains.read, *intervals, chains.score, params.choice.mask_level)
        rows = worth_extending(chains.score, groups, params.choice)
        other_chain, kept = other_score(chains.score, groups)[rows], chains.take(rows)
        marks.append(time.perf_counter())
        paths = self.extender(reads, self.reference, kept, params)
        marks.append(time.perf_counter())
        mappings = self._choose(reads, kept, other_chain, paths)
        marks.append(time.perf_counter())
        counts = {"reads": len(reads), **anchors.counts, "anchors": len(anchors.x), "chains": len(chains)}
        counts["chains extended"] = len(kept)
        counts["mappings too low in score"] = len(kept) - len(mappings)
        for kind in MappingKind:
            counts[f"{kind.name.lower()} mappings"] = int((mappings.kind == kind).sum())
        counts["unmapped reads"] = len(reads) - counts["primary mappings"]
        seconds = dict(zip(STAGES, np.diff(marks).tolist(), strict=True))
        return dataclasses.replace(mappings, query=mappings.query + np.int32(first)), counts, seconds

    def _choose(self, reads: Reads, chains: Chains, other_chain: np.ndarray, paths: Paths) -> Mappings:
        """Return the mappings that are kept, in order, of chains that were extended."""
        params, scoring = self.params.choice, self.params.scoring
        sums = cigars.summarise(
            paths.cigar, paths.cigar_offsets,
            scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend,
        )  # fmt: skip
        good = np.flatnonzero(sums[:, cigars.SCORE] >= params.min_score)
        score = sums[good, cigars.SCORE]
        read, reverse = chains.read[good], chains.reverse[good]
        q_start, q_end = forward_intervals(
            paths.q_start[good], paths.q_end[good], reverse, reads.lengths[read]
        )
        groups = Groups.of(read, q_start, q_end, score, params.mask_level)
        quality = mapping_quality(
            chains.score[good], other_chain[good], score, other_score(score, groups), chains.seeds[good]
        )
        is_first = np.diff(read[groups.order], prepend=-1) != 0
        kind = np.where(groups.rank == 0, MappingKind.SUPPLEMENTARY, MappingKind.SECONDARY)
        kind[groups.order[is_first]] = MappingKind.PRIMARY
        quality[kind == MappingKind.SECONDARY] = 0
        order = groups.order
        rows = good[order]
        counts = np.diff(paths.cigar_offsets)[rows]
        return Mappings(
            query=read[order],
            target=chains.target[rows],
            reverse=reverse[order],
            q_start=q_start[order],
            q_end=q_end[order],
            t_start=paths.t_start[rows],
            t_end=paths.t_end[rows],
            matches=sums[rows, cigars.MATCHES],
            block_length=sums[rows, cigars.COLUMNS],
            gaps=sums[rows, cigars.GAPS],
            score=score[order],
            chain_score=chains.score[rows],
            second_score=other_chain[rows],
            seeds=chains.seeds[rows],
            quality=quality[order],
            kind=kind[order],
            cigar=gather_ragged(paths.cigar, paths.cigar_offsets[:-1][rows], counts),
            cigar_offsets=np.concatenate([[0], np.cumsum(counts)]),
        )


def map_reads(
    reference: Reads, reads: Reads, params: MapParams | str = "ont", *, threads: int = 0
) -> Mappings:
    """Map reads to a reference.

    Parameters
    ----------
    reference, reads : Reads
    params : MapParams or str
        Parameters, or the name of a preset: ``ont``, ``clr``, ``hifi`` or ``short``.
    threads : int
        0 takes all. No result depends on it.

    Returns
    -------
    Mappings
        Of every read the primary mapping, if any, then the others.

    Raises
    ------
    ParameterError
        When there is no such preset, seeder or extender.
    EmptyInputError
        When the reference has no bases.

    Examples
    --------
    >>> import overlapper
    >>> reference = overlapper.read_fastx("reference.fasta")  # doctest: +SKIP
    >>> reads = overlapper.read_fastx("reads.fastq.gz")  # doctest: +SKIP
    >>> mappings = overlapper.map_reads(reference, reads, "hifi")  # doctest: +SKIP
    """
    if isinstance(params, str):
        params = MapParams.preset(params)
    mapper = Mapper.prepare(reference, params, threads)
    return Mappings.concat([mappings for _, mappings in mapper.map(reads, threads)] or [_none()])


def _none() -> Mappings:
    """Return a table without rows, but with CIGARs."""
    empty = Mappings.empty()
    return dataclasses.replace(empty, cigar=np.empty(0, np.uint32), cigar_offsets=np.zeros(1, np.int64))
