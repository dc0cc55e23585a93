"""Deep reads: reads of molecules in many copies, whose minimizers are all above the repeat limit.

A minimizer above the repeat limit is *frequent*. In a genome it marks a repeat, and does not seed. The
minimizers of a plasmid, of an organelle, or of the most abundant species of a sample are frequent from end to
end, so that these would be lost. Their reads are recognized because most reads of a repeat also show what
lies beside it.

Definition
----------
A read has a stretch for each whole `STRETCH` bases, one if it is shorter; what is left over belongs to the
last one. Each frequent minimizer of a read counts where the read has it first, so that tandem repeats count
little. A stretch is *crowded* when one counts there, and at least 1 / `LEAST_SHARE` as many as there are
seeding ones on `STRETCH` bases of the read set.

A frequent minimizer is *repeated* when at least a quarter of its occurrences are followed, in the same read
and within half of its length, by another one: reads hold several copies of what it lies in, as they do of the
units of a satellite. A circle that a read goes round less than twice has none of these.

A read is *deep* when three quarters of its stretches are crowded, and at most a third of the occurrences of
frequent minimizers in it are of repeated ones.

A frequent minimizer seeds in deep reads when they have nine tenths of its occurrences, and these are at most
``most``: the largest number for which the pairs of such occurrences of all frequent minimizers that seed are
at most `MOST_HITS` times those of the other minimizers. Of minimizers that occur more than `unthinned` times,
deep or not, only a share seeds, chosen by their hashes. Of a transposon most reads reach beyond it, so it
does not seed in the few that lie within. What deep reads may add is bounded all the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from overlapper.kernels.seeds.seed_groups import WORDS_PER_ENTRY
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.page_chains import EntryLayout
from overlapper.tables.ragged import offsets_of

STRETCH = 512
LEAST_SHARE = 8
"""A stretch is crowded from one in this many of the usual number of seeds on: noisy reads keep few k-mers,
while low complexity has frequent ones here and there."""
MOST_HITS = 4
MET_AT_EVERY_BASE = 64
"""Occurrences in other reads that minimizers may meet, per base, before frequent ones are thinned out."""


def unthinned(window: int) -> int:
    """Return the multiplicity above which only a share of the minimizers seeds.

    One in ``(w + 1) / 2`` bases is a minimizer, so that it may occur more often the wider the window is.
    """
    return MET_AT_EVERY_BASE * (window + 1)


@dataclasses.dataclass(frozen=True)
class Placing:
    """A table to look up the read of an entry.

    Attributes
    ----------
    rest_low_bit : int
        As in the layout of the entries.
    word_offsets : ndarray of int64, shape (reads + 1,)
        Column of the read table.
    read_of_words : ndarray of int32
        Read that the first of each `WORDS_PER_ENTRY` words belongs to.
    """

    rest_low_bit: int
    word_offsets: np.ndarray
    read_of_words: np.ndarray

    @classmethod
    def of(cls, layout: EntryLayout, word_offsets: np.ndarray) -> Self:
        """Build the table."""
        first_words = np.arange(0, int(word_offsets[-1]), WORDS_PER_ENTRY)
        read_of_words = (np.searchsorted(word_offsets, first_words, side="right") - 1).astype(np.int32)
        return cls(layout.rest_low_bit, word_offsets, read_of_words)


@dataclasses.dataclass(frozen=True)
class SeedRule:
    """The rule by which minimizers seed: by their multiplicity, frequent ones in deep reads alone.

    Attributes
    ----------
    limit : int
        Minimizers that occur more often are frequent.
    unthinned : int
        Only a share of the minimizers that occur more often seeds
        (`overlapper.kernels.seeds.seed_groups.is_sampled`).
    placing : Placing
    deep : ndarray of bool, shape (reads,)
    most : int
        Largest multiplicity of a frequent minimizer that seeds in deep reads; 0 if none does.
    added : int
        Occurrences of frequent minimizers that seed.
    """

    limit: int
    unthinned: int
    placing: Placing
    deep: np.ndarray
    most: int = 0
    added: int = 0

    @classmethod
    def find(
        cls,
        lengths: np.ndarray,
        placing: Placing,
        spectrum: np.ndarray,
        limit: int,
        unthinned: int,
        parts: Sequence[Callable[[], list[np.ndarray]]],
        threads: int,
    ) -> Self:
        """Find deep reads, in two passes over the grouped minimizers; no pass if none is frequent.

        Parameters
        ----------
        lengths : ndarray of int64, shape (reads,)
        placing : Placing
        spectrum : ndarray of int64
            Spectrum of all minimizers; the last entry also counts larger multiplicities.
        limit : int
            The repeat limit.
        unthinned : int
            As in the rule.
        parts : sequence of callable
            Each returns the entries of several buckets, grouped by hash.
        threads : int
        """
        from overlapper.kernels.seeds import deep_reads as kernel

        nothing = cls(limit, unthinned, placing, np.zeros(len(lengths), bool))
        if not spectrum[limit + 1 :].any():
            return nothing
        p = placing
        stretches = np.maximum(1, lengths // STRETCH)
        starts = offsets_of(stretches)

        def count_frequent(part: Callable[[], list[np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
            in_stretches, in_reads = np.zeros(starts[-1], np.uint16), np.zeros((len(lengths), 2), np.int32)
            for entries in part():
                kernel.count_frequent(
                    entries, p.rest_low_bit, limit, p.read_of_words, p.word_offsets, lengths,
                    STRETCH, starts, in_stretches, in_reads,
                )  # fmt: skip
            return in_stretches, in_reads

        counts, in_reads = np.zeros(starts[-1], np.uint16), np.zeros((len(lengths), 2), np.int32)
        for of_part in map_in_order(count_frequent, parts, threads):
            counts += of_part[0]
            in_reads += of_part[1]
        m = np.arange(len(spectrum))
        usual = np.where((m >= 2) & (m <= limit), spectrum, 0)
        needed = -(-STRETCH * int(m @ usual) // (LEAST_SHARE * int(lengths.sum())))
        crowded = np.add.reduceat(counts >= max(1, needed), starts[:-1], dtype=np.int64)
        occurrences, repeated = in_reads.T
        deep = (4 * crowded >= 3 * stretches) & (3 * repeated.astype(np.int64) <= occurrences)
        if not deep.any():
            return nothing

        def count_among_deep(part: Callable[[], list[np.ndarray]]) -> np.ndarray:
            among_deep = np.zeros(len(spectrum), np.int64)
            for entries in part():
                kernel.count_among_deep(
                    entries, p.rest_low_bit, limit, p.read_of_words, p.word_offsets, deep, among_deep
                )
            return among_deep

        frequent = sum(map_in_order(count_among_deep, parts, threads), np.zeros(len(spectrum), np.int64))
        pairs = m * (m - 1) // 2
        affordable = np.cumsum(pairs * frequent)[:-1] <= MOST_HITS * int(pairs @ usual)
        most = int(np.max(m[:-1], where=affordable & (frequent[:-1] > 0), initial=0))
        return cls(limit, unthinned, placing, deep, most, int((m * frequent)[: most + 1].sum()))

    @property
    def largest(self) -> int:
        """Largest multiplicity of a seed."""
        return max(self.limit, self.most)

    def keep_seeding(self, entries: np.ndarray, out: np.ndarray) -> int:
        """Write the entries of a bucket that seed to ``out`` (maybe ``entries``); return their number."""
        from overlapper.kernels.seeds import deep_reads as kernel

        p = self.placing
        return kernel.keep_seeding(
            entries, p.rest_low_bit, self.limit, self.unthinned, p.read_of_words, p.word_offsets,
            self.deep, self.most, out,
        )  # fmt: skip
