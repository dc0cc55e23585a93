"""Which reads are laid out and vote, where molecules are deeper than that needs.

The time of overlaps goes by the square of depth, while layouts and votes hardly gain from reads beyond the
first hundred. Depth is told of each read by itself, before overlaps are found, so that a plasmid at 3,000x
beside a chromosome at 60x is thinned out, and the chromosome is not.

The definition is in ``docs/algorithms/depth.md``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Self

import numpy as np

from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.sketch.canonical import content_hashes_of
from overlapper.sketch.choice import SharedKmers
from overlapper.sketch.estimates import estimate_errors
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

BASES_PER_SAMPLE = 16
MOST_SAMPLES = 1 << 23
"""So that tables take no more than 160 MB."""
SHORTEST_K, LONGEST_K = 16, 32
FEWEST = 4
MANY_OVERLAPS = 50
"""Overlaps a read from which on their number is told before they are found."""
ASIDE = "reads set aside"
"""Name of their count."""
RARE, RARER = 1 / 16, 1 / 64
"""How often k-mers of a relative of a deep molecule occur, in shares of what those of the molecule do: errors
make fewer in a quarter of the samples, or in half of those that are without error."""
_BLOCK_BASES = 1 << 22
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


@dataclasses.dataclass(frozen=True, eq=False)
class ChosenReads:
    """Which reads of a set are laid out and vote."""

    depth: np.ndarray
    """float32, shape (reads,); of each read that is deep; 0 of others."""
    kept: np.ndarray
    """bool, shape (reads,)."""
    limit: np.ndarray
    """int64, shape (1,); depth that is kept; 0 keeps all reads."""

    @classmethod
    def of(cls, reads: Reads, shared: SharedKmers | None, limit: int, threads: int) -> ChosenReads:
        """Choose reads.

        Parameters
        ----------
        reads : Reads
            In canonical order.
        shared : SharedKmers or None
            What overlapping reads share; None where it is unknown, as too few of them overlap.
        limit : int
            Depth that is kept; 0 keeps all reads.
        """
        depth, kept = np.zeros(len(reads), np.float32), np.ones(len(reads), bool)
        known = depth
        if limit and shared is not None:
            depth, known = depths(reads, shared, limit, threads)
        deep = depth > limit
        if deep.any():
            usual = np.median(known[deep])
            share = np.minimum(1.0, 2 * known / usual)
            kept = ~deep | (_draws(reads, threads) * depth < limit * share / share[deep].mean())
        return cls(depth, kept, np.array([limit]))

    def weights(self) -> np.ndarray:
        """Return for how many reads each kept one stands (float64, shape (kept,))."""
        return np.maximum(1.0, self.depth[self.kept] / max(1, int(self.limit[0])))

    def facts(self, lengths: np.ndarray) -> dict[str, int]:
        """Return what is told of them."""
        aside = ~self.kept
        return {
            "depth kept": int(self.limit[0]),
            ASIDE: int(np.count_nonzero(aside)),
            "bases set aside": int(lengths[aside].sum()),
            "deepest": int(self.depth.max(initial=0)),
        }


def told(facts: Mapping[str, int]) -> str:
    """Return what is told of reads that were set aside."""
    return (
        f"{facts[ASIDE]:,} reads of {facts['bases set aside']:,} bases were set aside, because their "
        f"molecules are deeper than {facts['depth kept']} (up to {facts['deepest']:,}); --depth changes "
        "this limit"
    )


def groups(reads: Reads, shared: SharedKmers | None, limit: int, threads: int) -> list[np.ndarray]:
    """Divide all reads into groups none of which is deeper than a limit.

    A deep read goes to one of as many groups as its depth asks for, others to the first one.

    Parameters
    ----------
    reads, shared, limit, threads
        As `ChosenReads.of` takes them.

    Returns
    -------
    list of ndarray of int64
        Numbers of the reads of each, ascending.
    """
    chosen = ChosenReads.of(reads, shared, limit, threads)
    if chosen.kept.all():
        return [np.arange(len(reads))]
    group = (_draws(reads, threads) * np.maximum(1, np.ceil(chosen.depth / limit))).astype(np.int64)
    return [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]


def expected_overlaps(reads: Reads, threads: int) -> int:
    """Return about how many overlaps the reads have: each as many as its depth."""
    shared = estimate_errors(reads, threads)[1]
    usual = 0.0 if shared is None else shared.depth * len(reads)
    if shared is None or shared.depth < MANY_OVERLAPS:
        return int(usual)
    # Of molecules deeper than 1,000 the estimate tells nothing.
    deep = depths(reads, shared, MANY_OVERLAPS // 2, threads)[0].sum(dtype=np.float64)
    return int(max(usual, deep))


def depths(reads: Reads, shared: SharedKmers, limit: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth of each deep read, and the share of its k-mers that are not as rare as errors are.

    Both are float32, and 0 of other reads.

    Parameters
    ----------
    limit : int
        Depth from which on reads are deep.
    """
    from overlapper.kernels.seeds import read_depth

    k, error_free = _choose_k(shared)
    sampling = Sampling.of(reads.total_bases, k)
    blocks = [(slots, counts) for slots, _, counts in sampling.samples(reads, threads)]
    slots, counts = map(np.concatenate, zip(*blocks, strict=True))
    first = offsets_of(counts)
    del blocks
    least = max(2, math.floor(error_free * limit))
    n = np.arange(2 * read_depth.STRETCH)
    in_bad_read = error_free**2
    surely = n * in_bad_read - 2 * np.sqrt(n * in_bad_read * (1 - in_bad_read))
    fewest = math.ceil(FEWEST / error_free)
    sure = np.where(n < fewest, len(n), np.maximum(1, surely)).astype(np.int64)
    relatives = np.array([[0.25, RARE], [error_free / 2, RARER]])
    wanted = np.where(n < fewest, len(n), np.maximum(2, n * error_free / 8)).astype(np.int64)
    table, among = sampling.table(), sampling.table()
    read_depth.count(slots, table)
    if int(table.max(initial=0)) < least:
        return np.zeros(len(reads), np.float32), np.zeros(len(reads), np.float32)
    read_depth.count_where_deep(slots, first, table, least, sure, among)
    # Among samples most of which have errors, relatives cannot be told from these.
    relatives = relatives[: len(relatives) if error_free >= 0.5 else 0]
    times, known = np.empty(len(reads), np.uint32), np.empty(len(reads), np.float32)
    read_depth.multiplicities(
        slots, first, table, least, wanted, among, error_free / 2, relatives, times, known
    )
    return (times / error_free).astype(np.float32), known


def _choose_k(shared: SharedKmers) -> tuple[int, float]:
    """Return k, and the share of k-mers without error."""
    shares = {k: math.sqrt(min(1.0, shared.mean(k))) for k in range(SHORTEST_K, LONGEST_K + 1)}
    k = max((k for k, share in shares.items() if share >= 0.5), default=SHORTEST_K)
    return k, shares[k]


class Sampling(NamedTuple):
    """How k-mers are sampled."""

    k: int
    threshold: int
    """Of hashes."""
    bits: int
    """Of a slot."""

    @classmethod
    def of(cls, bases: int, k: int) -> Self:
        """Return how k-mers are sampled of so many bases."""
        wanted = min(MOST_SAMPLES, bases // BASES_PER_SAMPLE)
        threshold = min(2**32 - 1, wanted * 2**32 // max(1, bases))
        return cls(k, threshold, max(10, (2 * wanted - 1).bit_length()))

    def table(self) -> np.ndarray:
        """Return a table of slots, none of which was met."""
        return np.zeros(1 << self.bits, np.uint32)

    def samples(self, reads: Reads, threads: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield slots of samples, their places in the reads, and how many each read has, block by block."""
        from overlapper.kernels.common.walks import PackedReads
        from overlapper.kernels.seeds import kmer_sample, read_depth

        threshold = np.uint32(self.threshold)

        def of_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            some = reads.rows(*block)
            samples, places = kmer_sample.sample(PackedReads.of(some), 0, len(some), threshold)
            slots, counts = np.empty(len(samples), np.uint32), np.zeros(len(some), np.int64)
            k, bits = np.uint64(self.k), np.uint64(self.bits)
            read_depth.slots_of(samples, places, some.word_offsets, 0, k, bits, slots, counts)
            begin = kmer_sample.SAMPLE * np.repeat(some.word_offsets[:-1], counts)
            return slots, np.maximum(places, ~places) - begin, counts

        yield np.empty(0, np.uint32), np.empty(0, np.int64), np.empty(0, np.int64)
        yield from map_in_order(of_block, even_ranges(reads.lengths, _BLOCK_BASES), threads)


def _draws(reads: Reads, threads: int) -> np.ndarray:
    """Return a number from 0 to 1 for each read, by its content."""
    hashes = content_hashes_of(reads, threads)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    number = (np.arange(len(hashes)) - np.searchsorted(ordered, ordered)).astype(np.uint64)
    mixed = (ordered ^ (number * _SCATTER)) * _SCATTER
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _SCATTER
    drawn = np.empty(len(hashes))
    drawn[order] = mixed / 2.0**64
    return drawn
