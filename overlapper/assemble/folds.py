"""Reads that fold back: they go on with the reverse complement of what they have just read.

So do reads of the ends of molecules that are closed by a hairpin, those that a missed adapter joins to the
other strand, and pieces of DNA that a polymerase copied back. A unitig would follow them back along the way
that it came::

    read     ───────────────────┐
                     ◀──────────┘ fold

**Pairs.** Of the words of `K` bases of a read those count whose hash is among the least `WORDS` of as many as
it has bases, or all, and that it has at most `MOST` times. Two on opposite strands are a pair; its *place* is
the middle between both, its *distance* half of what is between their starts.

**Fold.** Of all windows of places, `SPREAD` / 2 bases wide, that with most pairs is looked at, of equals the
first one. The place of its pair of the least distance, of equals the first, is a fold if from there to the
nearer end of the read, the *arm*, are `LEAST` bases or more; if no stretch of the arm of more than a share of
1 / `APART` is without the distance of a pair, so that all of it has been read before; and if that distance is
no more than the widest of these stretches, or `LOOP`, as inverted repeats within a molecule mostly have more
between them. Of these, reads that go on beyond them on both sides have no fold.

What is left is the longer side, of equals the first one.
"""

from __future__ import annotations

import numpy as np

from overlapper.assemble.chimeras import Sound
from overlapper.kernels.graph import folds
from overlapper.runtime.threads import even_ranges, map_in_order, share_of_block
from overlapper.tables import Reads

K, WORDS, MOST = 13, 1000, 4
"""Chosen: by chance 15 kb have two words in common with their reverse complement, of which one in eight is
looked at; at an error rate of 10 %, one of 16 words of an arm is had by the other one. Hashes are the smaller
ones of two strands, so that twice as many are looked at."""
SPREAD, LEAST, LOOP, APART = 400, 500, 250, 4
"""Chosen: noisy arms differ in length by some percent; adapters that were missed have 45 to 110 bases."""
_BLOCK_BASES = 1 << 24


def before_folds(reads: Reads, threads: int) -> Sound:
    """Find the longer side of each read that folds back, and all of others.

    Parameters
    ----------
    reads : Reads
        As given.
    threads : int
        Changes nothing but the time.
    """
    lengths = reads.lengths.astype(np.int64)
    columns = reads.words, reads.word_offsets, lengths
    share = share_of_block(int(lengths.sum()), _BLOCK_BASES, threads)
    found = map_in_order(
        lambda block: folds.folds(*columns, *block, K, WORDS, MOST, SPREAD, LEAST, LOOP, APART),
        even_ranges(lengths, share),
        threads,
    )
    place = np.concatenate([np.empty(0, np.int64), *found])
    is_fold, keeps_left = place >= 0, 2 * place >= lengths
    start, end = np.where(is_fold & ~keeps_left, place, 0), np.where(is_fold & keeps_left, place, lengths)
    return Sound(start, end, lengths)
