"""Qualities of contigs laid out by exact overlaps, by the number of reads that have each base.

Such contigs are not polished. Every base of them has been voted on in each of its reads, and the reads agree
in it to the last one; a vote of the reads as given would take again what a vote of better chosen reads found.

**Who agrees.** A read of the layout has the bases of its contig. So has a read that overlaps it, as far as
the overlap goes, for overlaps are exact; it may be of no contig itself, as the graph lets many reads go.
Where runs are cut before reads are compared (`overlapper.sketch.long_runs`), any length of a long one agrees.

**Who voted.** Where fewer agree, a base is still that of a vote if enough reads lie there.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from overlapper.correction.own_reads import OwnReads
from overlapper.correction.polish import Unitigs
from overlapper.correction.read_consensus import CONFIRMED_DEPTH
from overlapper.kernels.graph import agreement
from overlapper.runtime.threads import even_ranges, map_in_order, share_of_block
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of

AGREED = 50
"""Phred quality of a base that enough reads have, as high as polishing gives at most. Chosen; judged on LPA,
the MHC and yeast (HiFi; ``docs/notes/assembly.md``)."""
_MOST_COUNTED = 16
_BLOCK_STRETCHES = 1 << 18


def with_agreement(
    unitigs: Unitigs, own: OwnReads, overlaps: Overlaps, error_rate: float, *, threads: int = 1
) -> Reads:
    """Return the sequences of unitigs, with qualities.

    Reads that agree have voted on each other, and more than half of them may have erred alike (`quality_of`).
    Bases that fewer than `CONFIRMED_DEPTH` have are of quality 0, as polishing has it for bases on which no
    vote is taken.

    Parameters
    ----------
    unitigs : Unitigs
    own : OwnReads
        Where their reads lie, by unitig in any order.
    overlaps : Overlaps
        Exact ones, of the same reads.
    error_rate : float
        Of the reads as they were given.
    threads : int
        Changes nothing but the time.
    """
    sequences = unitigs.sequences
    starts = offsets_of(sequences.lengths)
    begin, end = _agreeing(own, starts, unitigs.circular, overlaps, threads).T
    change = np.concatenate([begin, end])
    order = np.argsort(change)
    depth = np.cumsum(np.repeat([1, -1], len(begin))[order])
    quality = quality_of(depth, error_rate)
    bases = np.diff(change[order], prepend=0, append=starts[-1])
    return dataclasses.replace(
        sequences, qualities=np.repeat(np.append(np.uint8(0), quality), bases), quality_offsets=starts
    )


def with_votes(sequences: Reads, voted: np.ndarray, error_rate: float) -> Reads:
    """Return sequences with qualities also where no other reads agree, but enough were there to vote.

    Of so many reads as are enough (`quality_of`).

    Parameters
    ----------
    sequences : Reads
        As `with_agreement` returns them.
    voted : ndarray of bool
        Of each base of all sequences whether enough reads were there.
    error_rate : float
        Of the reads as they were given.
    """
    quality = sequences.qualities
    assert quality is not None
    by_vote = quality_of(np.array([CONFIRMED_DEPTH]), error_rate)
    return dataclasses.replace(sequences, qualities=np.where(voted & (quality == 0), by_vote, quality))


def quality_of(depth: np.ndarray, error_rate: float) -> np.ndarray:
    """Return the quality of bases that so many reads voted on (uint8); 0 for fewer than `CONFIRMED_DEPTH`.

    Of ``2 m - 1`` reads, m may err alike in ``binomial(2 m - 1, m)`` ways: at most so many times the error
    rate to the power of m. Another read more decides nothing.
    """
    chances = [
        math.comb(2 * m - 1, m) * error_rate**m for m in range((CONFIRMED_DEPTH + 1) // 2, _MOST_COUNTED)
    ]
    worst = np.minimum.accumulate(np.maximum(chances, 10 ** (-0.1 * AGREED)))
    qualities = np.maximum(np.round(-10 * np.log10(worst)), 1).repeat(2).astype(np.uint8)
    of_depth = qualities[(depth - CONFIRMED_DEPTH).clip(0, len(qualities) - 1)]
    return np.asarray(np.where(depth >= CONFIRMED_DEPTH, of_depth, 0).astype(np.uint8))


def _agreeing(
    own: OwnReads, starts: np.ndarray, circular: np.ndarray, overlaps: Overlaps, threads: int
) -> np.ndarray:
    """Return where each read agrees: begin and end of each stretch, bases of all unitigs numbered through."""
    placed = agreement.Placed(
        own.unitig, own.read, own.start, own.reverse, own.r_start, own.r_end, starts, circular
    )
    reads = 1 + int(max(c.max(initial=-1) for c in (own.read, overlaps.query, overlaps.target)))
    of_reads = agreement.stretches_by_read(
        reads, placed, overlaps.query, overlaps.q_start, overlaps.q_end,
        overlaps.target, overlaps.t_start, overlaps.t_end,
    )  # fmt: skip
    weights = np.diff(of_reads[0])
    share = share_of_block(int(weights.sum()), _BLOCK_STRETCHES, threads)
    found = map_in_order(
        lambda block: agreement.unions(*of_reads, *block), even_ranges(weights, share), threads
    )
    return np.concatenate([np.empty((0, 2), np.int64), *found])
