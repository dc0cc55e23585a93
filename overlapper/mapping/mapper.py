"""Mapping: seeds, chains, alignments, and which of them are reported."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Self

import numpy as np

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.extend.registry import extending_devices
from overlapper.io.given import GivenReads, reads_given
from overlapper.kernels.common import cigars
from overlapper.kernels.seeds.reference_seeds import X_BITS
from overlapper.mapping.chains import Chains, chain
from overlapper.mapping.choice import Groups, mapping_quality, other_score, worth_extending
from overlapper.mapping.extenders import ON_GPUS, MapExtender, Paths, map_extender
from overlapper.mapping.seeders import Seeder, seeder
from overlapper.params.mapping import MapParams
from overlapper.runtime.threads import available_threads, even_ranges, map_in_order
from overlapper.tables import MappingKind, Mappings, Reads
from overlapper.tables.ragged import gather_ragged, offsets_of
from overlapper.tables.strands import forward_intervals

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

LONGEST_READ = 1 << (X_BITS - 2)
STAGES = ("seeds", "chains", "extension", "choice")
BLOCK_BASES = 1 << 20
"""Bases of the reads that a thread maps at a time."""
GPU_BASES = 1 << 24
"""Bases of the reads whose chains a GPU is given at a time, at least."""


@dataclasses.dataclass(frozen=True)
class _Chained:
    """Reads with the chains that are to be extended.

    Attributes
    ----------
    reads : Reads
    chains : Chains
    other_score : ndarray of int64, shape (chains,)
        Best score of the other chains of its group.
    counts, seconds : Counter
        What the funnel and the clock show of getting here.
    """

    reads: Reads
    chains: Chains
    other_score: np.ndarray
    counts: Counter[str]
    seconds: Counter[str]

    @classmethod
    def concat(cls, blocks: list[_Chained]) -> _Chained:
        """Join blocks of reads."""
        return cls(
            Reads.concat([block.reads for block in blocks]),
            Chains.of_all([block.chains for block in blocks], [len(block.reads) for block in blocks]),
            np.concatenate([block.other_score for block in blocks]),
            _sum([block.counts for block in blocks]),
            _sum([block.seconds for block in blocks]),
        )


@dataclasses.dataclass(frozen=True)
class BatchMapper:
    """A reference, ready to map reads to.

    Attributes
    ----------
    reference : Reads
    params : MapParams
    seeder : Seeder
    extender : MapExtender
    gpus : Gpus or None
        What the extender runs on, if not the CPU.
    counts : Counter
        What became of the reads mapped so far: the funnel.
    seconds : Counter
        Time that all threads together spent in each stage of mapping them.
    """

    reference: Reads
    params: MapParams
    seeder: Seeder
    extender: MapExtender
    gpus: Gpus | None = None
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    seconds: Counter[str] = dataclasses.field(default_factory=Counter)

    @classmethod
    def prepare(
        cls, reference: Reads, params: MapParams, threads: int | None = None, gpus: Gpus | None = None
    ) -> Self:
        """Index a reference.

        Parameters
        ----------
        reference : Reads
        params : MapParams
        threads : int, optional
            All by default. No result depends on it.
        gpus : Gpus, optional
            To extend on, for one of `overlapper.mapping.extenders.ON_GPUS`. No result depends on it. They
            hold no reads yet, and will hold the reference.

        Raises
        ------
        EmptyInputError
            When the reference has no bases.
        ParameterError
            When the seeder or the extender is not known, or the reference is too long.
        """
        extender = map_extender(params.extender, gpus)
        find = seeder(params.seeder)
        if not reference.total_bases:
            raise EmptyInputError("the reference has no bases", remedy="Give one that has.")
        if gpus:
            gpus.hold(reference)
        prepared = find.prepare(reference, params, threads or available_threads())
        return cls(reference, params, prepared, extender, gpus)

    def map(self, reads: Reads, threads: int | None = None) -> Iterator[tuple[range, Mappings]]:
        """Map reads, a block at a time.

        Parameters
        ----------
        reads : Reads
        threads : int, optional
            All by default. No result depends on it.

        Yields
        ------
        range, Mappings
            Numbers of the reads of a block, and their mappings.

        Raises
        ------
        ParameterError
            When a read is longer than `LONGEST_READ`.
        """
        first = 0
        for block, mappings in self.map_parts([reads], threads):
            yield (
                range(first, first + len(block)),
                dataclasses.replace(mappings, query=mappings.query + np.int32(first)),
            )
            first += len(block)

    def map_all(self, reads: Reads, threads: int | None = None) -> Mappings:
        """Return the mappings of all reads; the arguments are those of `map`."""
        return Mappings.concat([mappings for _, mappings in self.map(reads, threads)] or [_none()])

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

        Raises
        ------
        ParameterError
            When a read is longer than `LONGEST_READ`.
        """
        threads, blocks = threads or available_threads(), _blocks(parts)
        if self.gpus is None:
            done = map_in_order(lambda block: self._map_chained(self._chain(block)), blocks, threads)
        else:
            chained = _gathered(map_in_order(self._chain, blocks, threads))
            done = map_in_order(self._map_chained, chained, self.gpus.slots + threads)
        for block, mappings in done:
            self.counts.update(block.counts)
            self.seconds.update(block.seconds)
            yield block.reads, mappings

    def _chain(self, reads: Reads) -> _Chained:
        """Find seeds and chains of reads."""
        params, marks = self.params, [time.perf_counter()]
        anchors = self.seeder.find(reads)
        marks.append(time.perf_counter())
        chains = chain(anchors, self.reference, params.chain)
        intervals = chains.forward_intervals(reads.lengths)
        groups = Groups.of(chains.read, *intervals, chains.score, params.choice.mask_level)
        rows = worth_extending(chains.score, groups, params.choice)
        counts = {"reads": len(reads), **anchors.counts, "anchors": len(anchors.x), "chains": len(chains)}
        counts["chains extended"] = len(rows)
        other, kept = other_score(chains.score, groups)[rows], chains.take(rows)
        marks.append(time.perf_counter())
        seconds = dict(zip(STAGES[:2], np.diff(marks).tolist(), strict=True))
        return _Chained(reads, kept, other, Counter(counts), Counter(seconds))

    def _map_chained(self, block: _Chained) -> tuple[_Chained, Mappings]:
        """Extend chains and choose; the block is returned with more counted and timed."""
        marks = [time.perf_counter()]
        paths = self.extender(block.reads, self.reference, block.chains, self.params)
        paths = paths.with_gaps_left(block.reads, self.reference, block.chains)
        marks.append(time.perf_counter())
        mappings = self._choose(block.reads, block.chains, block.other_score, paths)
        marks.append(time.perf_counter())
        counts = {"mappings too low in score": len(block.chains) - len(mappings)}
        for kind in MappingKind:
            counts[f"{kind.name.lower()} mappings"] = int((mappings.kind == kind).sum())
        counts["unmapped reads"] = len(block.reads) - counts["primary mappings"]
        block.counts.update(counts)
        block.seconds.update(dict(zip(STAGES[2:], np.diff(marks).tolist(), strict=True)))
        return block, mappings

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
            cigar_offsets=offsets_of(counts),
        )


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    """Add counters; unlike ``+``, keep counts of 0."""
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _blocks(parts: Iterable[Reads]) -> Iterator[Reads]:
    """Cut parts into blocks for threads."""
    for reads in parts:
        longest = int(reads.lengths.max(initial=0))
        if longest > LONGEST_READ:
            name = reads.name(int(reads.lengths.argmax()))
            raise ParameterError(f"read {name} has {longest} bases, expected at most {LONGEST_READ}")
        for first, last in even_ranges(reads.lengths, BLOCK_BASES):
            yield reads.take(np.arange(first, last))


def _gathered(blocks: Iterable[_Chained]) -> Iterator[_Chained]:
    """Join blocks until there are enough of them for a GPU."""
    waiting: list[_Chained] = []
    for block in blocks:
        waiting.append(block)
        if sum(block.reads.total_bases for block in waiting) >= GPU_BASES:
            yield _Chained.concat(waiting)
            waiting = []
    if waiting:
        yield _Chained.concat(waiting)


def map_reads(
    reference: GivenReads,
    reads: GivenReads,
    params: MapParams | str = "ont",
    *,
    threads: int | None = None,
    device: str = "cpu",
    gpu_memory: int = 0,
) -> Mappings:
    """Map reads to a reference.

    Parameters
    ----------
    reference, reads : Reads, path, or sequence of paths
    params : MapParams or str
        Parameters, or the name of a preset: ``ont``, ``clr``, ``hifi`` or ``short``.
    threads : int, optional
        All by default. No result depends on it.
    device : str
        What chains are extended on: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for all
        GPUs if there are any and the extender has kernels for them. No result depends on it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.

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
    >>> mappings = overlapper.map_reads("reference.fasta", "reads.fastq.gz", "hifi")  # doctest: +SKIP
    """
    if isinstance(params, str):
        params = MapParams.preset(params)
    reference, reads = (reads_given(given, threads or available_threads()) for given in (reference, reads))
    with extending_gpus(params.extender, device, gpu_memory) as gpus:
        return BatchMapper.prepare(reference, params, threads, gpus).map_all(reads, threads)


@contextlib.contextmanager
def extending_gpus(extender: str, device: str, memory: int = 0) -> Iterator[Gpus | None]:
    """Open the GPUs that an extender of mappings shall run on; None if it is the CPU.

    Parameters
    ----------
    extender, device, memory
        As `map_reads` takes them.

    Raises
    ------
    ParameterError, DeviceError, MissingExtraError
        When they cannot be had.
    """
    devices = extending_devices(extender, device, ON_GPUS)
    if devices[0].name == "cpu":
        yield None
        return
    from overlapper.gpu.gpus import Gpus

    with Gpus(devices, memory) as gpus:
        yield gpus


def _none() -> Mappings:
    """Return a table without rows, but with CIGARs."""
    empty = Mappings.empty()
    return dataclasses.replace(empty, cigar=np.empty(0, np.uint32), cigar_offsets=np.zeros(1, np.int64))
