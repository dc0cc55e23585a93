"""32-mers of reads sampled by content, sorted, each with its read."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.runtime.threads import even_ranges, for_each, map_in_order, share_of_block
from overlapper.tables import Reads

_BLOCK_BASES = 1 << 20
_SPLITTERS, _LEAST_SORTED = 4096, 10_000
"""Samples by which the others are divided among threads; fewest, on average, that a thread sorts."""


@dataclasses.dataclass(frozen=True)
class Samples:
    """Samples of `kernels.seeds.kmer_sample`, sorted; equal ones are in the order of the reads."""

    bases: np.ndarray
    """uint64, shape (n,); the first base in the highest bits."""
    places: np.ndarray
    """int64, shape (n,); as `kernels.seeds.kmer_sample.sample` gives them."""
    reads: np.ndarray
    """int64, shape (n,); read of each sample."""
    rooms: np.ndarray
    """int64, shape (n,); bases from the start of the sample to the end of its read, in its direction."""

    @classmethod
    def draw(cls, reads: Reads, wanted: int, threads: int) -> Self:
        """Draw about so many samples.

        Parameters
        ----------
        threads : int
            The result does not depend on it.
        """
        from overlapper.kernels.seeds import kmer_sample

        unsorted, places = _unsorted(reads, wanted, threads)
        drawn = cls(np.empty_like(unsorted), *(np.empty_like(places) for _ in range(3)))

        def sort(span: tuple[np.uint64, np.uint64]) -> None:
            kmer_sample.sort_samples(
                unsorted, places, reads.word_offsets, reads.lengths, *span,
                drawn.bases, drawn.places, drawn.reads, drawn.rooms,
            )  # fmt: skip

        for_each(sort, _spans(unsorted, threads), threads)
        return drawn

    def __len__(self) -> int:
        return len(self.bases)

    def __getitem__(self, chosen: np.ndarray) -> Self:
        return type(self)(self.bases[chosen], self.places[chosen], self.reads[chosen], self.rooms[chosen])


def _unsorted(reads: Reads, wanted: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Return about ``wanted`` samples and their places, in the order of the reads."""
    from overlapper.kernels.common.walks import PackedReads
    from overlapper.kernels.seeds import kmer_sample

    share = min(1.0, wanted / max(1, reads.total_bases))
    threshold, packed = np.uint32(min(2**32 - 1, int(share * 2**32))), PackedReads.of(reads)

    def draw_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        return kmer_sample.sample(packed, *block, threshold)

    ranges = even_ranges(reads.lengths, share_of_block(reads.total_bases, _BLOCK_BASES, threads))
    blocks = list(map_in_order(draw_block, ranges, threads))
    if not blocks:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return np.concatenate([b[0] for b in blocks]), np.concatenate([b[1] for b in blocks])


def _spans(samples: np.ndarray, threads: int) -> list[tuple[np.uint64, np.uint64]]:
    """Divide all 32-mers among threads: return the least and the greatest one of each, both included."""
    spans = max(1, min(threads, len(samples) // _LEAST_SORTED))
    splitters = np.sort(samples[:: max(1, len(samples) // _SPLITTERS)])
    starts = np.unique(splitters[np.arange(1, spans) * len(splitters) // spans])
    starts = np.concatenate([[np.uint64(0)], starts[starts > 0]])
    return list(zip(starts, np.append(starts[1:] - np.uint64(1), ~np.uint64(0)), strict=True))
