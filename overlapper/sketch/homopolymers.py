"""Homopolymer compression: reads with every run of equal bases collapsed to one, and the map back."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for


@dataclasses.dataclass(frozen=True)
class RunMap:
    """The places of the bases of compressed reads in the reads themselves.

    Attributes
    ----------
    run_starts : ndarray of int32
        First base of each run, read by read, and behind the last run of each read its length.
    offsets : ndarray of int64, shape (reads + 1,)
        Where the runs of each read start.
    """

    run_starts: np.ndarray
    offsets: np.ndarray

    def restore(self, overlaps: Overlaps) -> Overlaps:
        """Convert the intervals of overlaps from compressed reads to the reads themselves."""
        return overlaps.placed(lambda read, place: self.run_starts[self.offsets[read] + place])


def sketched_form(reads: Reads, compressed: bool) -> tuple[Reads, RunMap | None]:
    """Return the reads as they are sketched, compressed or not, and the map back if they are compressed."""
    return compress_homopolymers(reads) if compressed else (reads, None)


def compressed_lengths(reads: Reads) -> np.ndarray:
    """Return the lengths (int64) of the reads once compressed."""
    from overlapper.kernels.seeds.homopolymers import count_runs

    return np.array([count_runs(*_columns(reads, read)) for read in range(len(reads))], np.int64)


def _columns(reads: Reads, read: int) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """Return words, length and unknown runs of a read, as kernels take them."""
    unknown = slice(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
    words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
    return words, int(reads.lengths[read]), reads.unknown_start[unknown], reads.unknown_end[unknown]


def compress_homopolymers(reads: Reads) -> tuple[Reads, RunMap]:
    """Collapse every run of equal bases to one base; a run of unknown bases becomes one unknown base.

    Parameters
    ----------
    reads : Reads

    Returns
    -------
    compressed : Reads
        The same reads under the same names, without qualities.
    run_map : RunMap
    """
    from overlapper.kernels.seeds import homopolymers as kernel

    lengths = compressed_lengths(reads)
    word_offsets = offsets_of(words_for(lengths))
    offsets = offsets_of(lengths + 1)
    words, run_starts = np.zeros(word_offsets[-1], np.uint64), np.empty(offsets[-1], np.int32)
    for read in range(len(reads)):
        kernel.compress(
            *_columns(reads, read),
            words[word_offsets[read] : word_offsets[read + 1]],
            run_starts[offsets[read] : offsets[read + 1]],
        )
    # An unknown run stays a run: in the compressed read it is the run that starts where it does.
    read_of_run = np.repeat(np.arange(len(reads)), np.diff(reads.unknown_offsets))
    unknown_start = np.empty(len(read_of_run), np.int32)
    for i, owner in enumerate(read_of_run):
        starts = run_starts[offsets[owner] : offsets[owner + 1]]
        unknown_start[i] = np.searchsorted(starts, reads.unknown_start[i])
    compressed = dataclasses.replace(
        reads,
        lengths=lengths,
        words=words,
        word_offsets=word_offsets,
        unknown_start=unknown_start,
        unknown_end=unknown_start + 1,
        qualities=None,
        quality_offsets=None,
    )
    return compressed, RunMap(run_starts, offsets)
