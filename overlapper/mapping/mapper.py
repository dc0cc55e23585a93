"""Mapping: seeds, chains, alignments, and which of them are reported."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Never, Self

import numpy as np

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.io.given import GivenReads, reads_given
from overlapper.kernels.common import cigars
from overlapper.kernels.seeds.reference_seeds import X_BITS
from overlapper.mapping.chains import Chains, chain
from overlapper.mapping.choice import Groups, mapping_quality, other_score
from overlapper.mapping.extenders import MapExtender, map_extender
from overlapper.mapping.parts import Parts, align_chains
from overlapper.mapping.seeders import Seeder, seeder
from overlapper.params.mapping import MapParams
from overlapper.params.shortcuts import changed_by
from overlapper.runtime.threads import available_threads, even_ranges, map_in_order
from overlapper.tables import MappingKind, Mappings, Reads
from overlapper.tables.ragged import gather_ragged, offsets_of

LONGEST_READ = 1 << (X_BITS - 2)
STAGES = ("seeds", "chains", "extension", "choice")
BLOCK_BASES = 1 << 20
"""Bases of the reads that a thread maps at a time."""


@dataclasses.dataclass(frozen=True)
class BatchMapper:
    """A reference, ready to map reads to."""

    reference: Reads
    params: MapParams
    seeder: Seeder
    extender: MapExtender
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    """Counter; what became of the reads mapped so far: the funnel."""
    seconds: Counter[str] = dataclasses.field(default_factory=Counter)
    """Counter; time that all threads together spent in each stage of mapping them."""

    @classmethod
    def prepare(cls, reference: Reads, params: MapParams, threads: int | None = None) -> Self:
        """Index a reference.

        Parameters
        ----------
        threads : int, optional
            All by default. No result depends on it.

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
        prepared = find.prepare(reference, params, threads or available_threads())
        return cls(reference, params, prepared, extender)

    def map_all(self, reads: Reads, threads: int | None = None) -> Mappings:
        """Return the mappings of all reads; the arguments, and what is raised, are those of `map_parts`."""
        found, first = [], 0
        for block, mappings in self.map_parts([reads], threads):
            found.append(dataclasses.replace(mappings, query=mappings.query + np.int32(first)))
            first += len(block)
        return Mappings.concat(found)

    def map_parts(
        self, parts: Iterable[Reads], threads: int | None = None
    ) -> Iterator[tuple[Reads, Mappings]]:
        """Map reads that come in parts, a block at a time.

        Parameters
        ----------
        parts : iterable of Reads
            They are asked for from the calling thread, while others map.
        threads : int, optional
            All by default. No result depends on it, nor on how reads are parted.

        Yields
        ------
        Reads, Mappings
            A block of reads, in order, and their mappings, which number them from 0 on.
        """
        done = map_in_order(self._map, _blocks(parts), threads or available_threads())
        for reads, mappings, counts, seconds in done:
            self.counts.update(counts)
            self.seconds.update(seconds)
            yield reads, mappings

    def aligned(self, reads: Reads, chosen: Callable[[Chains], Chains]) -> Mappings:
        """Return the mappings of reads by some of their chains.

        Parameters
        ----------
        chosen : callable
            Given all chains, returns those that count.
        """
        chains = chosen(chain(self.seeder.find(reads), self.reference, self.params.chain))
        return self._choose(reads, align_chains(reads, self.reference, chains, self.extender, self.params))

    def _map(self, reads: Reads) -> tuple[Reads, Mappings, dict[str, int], dict[str, float]]:
        """Map reads; what they go through is counted and timed."""
        params, marks = self.params, [time.perf_counter()]
        anchors = self.seeder.find(reads)
        marks.append(time.perf_counter())
        chains = chain(anchors, self.reference, params.chain)
        marks.append(time.perf_counter())
        parts = align_chains(reads, self.reference, chains, self.extender, params)
        marks.append(time.perf_counter())
        mappings = self._choose(reads, parts)
        marks.append(time.perf_counter())
        counts = {"reads": len(reads), **anchors.counts, "anchors": len(anchors.x), "chains": len(chains)}
        counts["chains extended"] = parts.extended
        counts["mappings too low in score"] = parts.failed
        for kind in MappingKind:
            counts[f"{kind.name.lower()} mappings"] = int((mappings.kind == kind).sum())
        counts["unmapped reads"] = len(reads) - counts["primary mappings"]
        return reads, mappings, counts, dict(zip(STAGES, np.diff(marks).tolist(), strict=True))

    def _choose(self, reads: Reads, parts: Parts) -> Mappings:
        """Return the mappings that are kept, in order."""
        params, scoring = self.params.choice, self.params.scoring
        chains, paths, score = parts.chains, parts.paths, parts.score
        sums = cigars.summarise(
            paths.cigar, paths.cigar_offsets,
            scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend,
        )  # fmt: skip
        q_start, q_end = parts.intervals(reads)
        groups = Groups.of(chains.read, q_start, q_end, score, params.mask_level)
        quality = mapping_quality(
            chains.score, parts.other_score, score, other_score(score, groups), chains.seeds
        )
        is_first = np.diff(chains.read[groups.order], prepend=-1) != 0
        kind = np.where(groups.rank == 0, MappingKind.SUPPLEMENTARY, MappingKind.SECONDARY)
        kind[groups.order[is_first]] = MappingKind.PRIMARY
        quality[kind == MappingKind.SECONDARY] = 0
        rows = groups.order[groups.rank[groups.order] <= params.most_secondary]
        counts = np.diff(paths.cigar_offsets)[rows]
        return Mappings(
            query=chains.read[rows],
            target=chains.target[rows],
            reverse=chains.reverse[rows],
            q_start=q_start[rows],
            q_end=q_end[rows],
            t_start=paths.t_start[rows],
            t_end=paths.t_end[rows],
            matches=sums[rows, cigars.MATCHES],
            block_length=sums[rows, cigars.COLUMNS],
            gaps=sums[rows, cigars.GAPS],
            score=score[rows],
            chain_score=chains.score[rows],
            second_score=parts.other_score[rows],
            seeds=chains.seeds[rows],
            quality=quality[rows],
            kind=kind[rows],
            cigar=gather_ragged(paths.cigar, paths.cigar_offsets[:-1][rows], counts),
            cigar_offsets=offsets_of(counts),
        )


def _blocks(parts: Iterable[Reads]) -> Iterator[Reads]:
    """Cut parts into blocks for threads."""
    for reads in parts:
        longest = int(reads.lengths.max(initial=0))
        if longest > LONGEST_READ:
            name = reads.name(int(reads.lengths.argmax()))
            raise ParameterError(f"read {name} has {longest} bases, expected at most {LONGEST_READ}")
        for first, last in even_ranges(reads.lengths, BLOCK_BASES):
            yield reads.take(np.arange(first, last))


def map_reads(
    reference: GivenReads,
    reads: GivenReads,
    preset: MapParams | str = "ont",
    *,
    seeder: str | None = None,
    extender: str | None = None,
    kmer_length: int | None = None,
    window: int | None = None,
    seed_length: int | None = None,
    secondary: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    **unknown: Never,
) -> Mappings:
    """Map reads to a reference, as ``overlapper map`` does.

    Parameters
    ----------
    reference, reads : Reads, path, or sequence of paths or of bases
    preset : str or MapParams
        ``ont``, ``clr``, ``hifi`` or ``short``; or all parameters.
    seeder, extender, kmer_length, window, seed_length, secondary : optional
        Like the options of ``overlapper map``.
    changes : mapping, optional
        Further changes of `MapParams`, nested: ``{"choice": {"min_score": 60}}``.
    threads : int, optional
        All by default. No result depends on it.

    Returns
    -------
    Mappings
        Of every read the primary mapping, if any, then the others.

    Raises
    ------
    ParameterError
        When there is no such preset, seeder or extender, or a parameter is unknown or out of range.
    EmptyInputError
        When the reference has no bases.

    Examples
    --------
    >>> import overlapper
    >>> mappings = overlapper.map_reads("reference.fasta", "reads.fastq.gz", "hifi")  # doctest: +SKIP
    """
    given = {
        "seeder": seeder, "extender": extender,
        "sketch": {"kmer_length": kmer_length, "window": window},
        "seeds": {"length": seed_length},
        "choice": {"most_secondary": secondary},
    }  # fmt: skip
    names = ("seeder", "extender", "kmer_length", "window", "seed_length", "secondary")
    params = MapParams.preset(preset) if isinstance(preset, str) else preset
    params = changed_by(params, given, changes, unknown, names)
    some = threads or available_threads()
    genome, reads = reads_given(reference, some, name="reference"), reads_given(reads, some)
    return BatchMapper.prepare(genome, params, threads).map_all(reads, threads)
