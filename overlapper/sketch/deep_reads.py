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
from typing import Self

import numpy as np

from overlapper.runtime.threads import map_in_order
from overlapper.sketch.occurrences import Occurrences, Stretch
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
class DeepReads:
    """The deep reads of a set."""

    deep: np.ndarray
    """bool, shape (reads,)."""
    most: int = 0
    """Largest multiplicity of a frequent minimizer that seeds in deep reads; 0 if none does."""

    @classmethod
    def find(
        cls, lengths: np.ndarray, spectrum: np.ndarray, limit: int, occurrences: Occurrences, threads: int
    ) -> Self:
        """Find deep reads, in two passes over the occurrences of minimizers; no pass if none is frequent.

        Parameters
        ----------
        lengths : ndarray of int64, shape (reads,)
        spectrum : ndarray of int64
            Spectrum of all minimizers; the last entry also counts larger multiplicities.
        limit : int
            The repeat limit: minimizers that occur more often are frequent.
        occurrences : Occurrences
            Of frequent minimizers, and any others.
        """
        from overlapper.kernels.seeds import deep_reads as kernel

        nothing = cls(np.zeros(len(lengths), bool))
        if not spectrum[limit + 1 :].any():
            return nothing
        stretches = np.maximum(1, lengths // STRETCH)
        starts = offsets_of(stretches)

        def count_frequent(some: Stretch) -> tuple[np.ndarray, np.ndarray]:
            in_stretches, in_reads = np.zeros(starts[-1], np.uint16), np.zeros((len(lengths), 2), np.int32)
            kernel.count_frequent(
                *occurrences.columns, *some, limit, lengths, STRETCH, starts, in_stretches, in_reads
            )
            occurrences.rest(*some)
            return in_stretches, in_reads

        counts, in_reads = np.zeros(starts[-1], np.uint16), np.zeros((len(lengths), 2), np.int32)
        for of_part in map_in_order(count_frequent, occurrences.stretches, threads):
            counts += of_part[0]
            in_reads += of_part[1]
        m = np.arange(len(spectrum))
        usual = np.where((m >= 2) & (m <= limit), spectrum, 0)
        needed = -(-STRETCH * int(m @ usual) // (LEAST_SHARE * int(lengths.sum())))
        crowded = np.add.reduceat(counts >= max(1, needed), starts[:-1], dtype=np.int64)
        of_frequent, repeated = in_reads.T
        deep = (4 * crowded >= 3 * stretches) & (3 * repeated.astype(np.int64) <= of_frequent)
        if not deep.any():
            return nothing

        def count_among_deep(some: Stretch) -> np.ndarray:
            among_deep = np.zeros(len(spectrum), np.int64)
            kernel.count_among_deep(*occurrences.columns, *some, limit, deep, among_deep)
            occurrences.rest(*some)
            return among_deep

        found = map_in_order(count_among_deep, occurrences.stretches, threads)
        frequent = sum(found, np.zeros(len(spectrum), np.int64))
        pairs = m * (m - 1) // 2
        affordable = np.cumsum(pairs * frequent)[:-1] <= MOST_HITS * int(pairs @ usual)
        most = int(np.max(m[:-1], where=affordable & (frequent[:-1] > 0), initial=0))
        return cls(deep, most)

    def keep_seeding(
        self,
        occurrences: Occurrences,
        limit: int,
        unthinned: int,
        thinned: list[np.ndarray],
        word_offsets: np.ndarray,
        threads: int,
    ) -> None:
        """Leave only what seeds of the occurrences of minimizers, in place.

        Parameters
        ----------
        unthinned : int
            Minimizers that occur more often are thinned out.
        thinned : list of ndarray of int64
            Numbers of the first occurrences of those that do not stay then, by stretch.
        word_offsets : ndarray of int64, shape (reads + 1,)
        """
        from overlapper.kernels.seeds import deep_reads as kernel

        def keep(number: int) -> Stretch:
            start, stop = occurrences.stretches[number]
            end = kernel.keep_seeding(
                *occurrences.columns, start, stop, limit, unthinned, thinned[number], self.deep, self.most,
                word_offsets, occurrences.block_bits, occurrences.per_block[number],
            )  # fmt: skip
            occurrences.give_back(end, stop)
            occurrences.rest(start, end)
            return start, end

        occurrences.stretches = list(map_in_order(keep, range(len(occurrences.stretches)), threads))
