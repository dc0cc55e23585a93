"""Reads that fold back: they go on with the reverse complement of what they have just read.

So do reads of the ends of molecules that are closed by a hairpin, those that a missed adapter joins to the
other strand, and pieces of DNA that a polymerase copied back. A unitig would follow them back along the way
that it came::

    read     ───────────────────┐
                     ◀──────────┘ fold

**Pairs.** Of the words of a read those count whose hash is among the least `WORDS` of as many as it has
bases, or all, and that it has at most `MOST` times; more count where reads err, by as many as fewer of them
are without an error on both strands. Two on opposite strands are a pair; its *place* is the middle between
both, its *distance* half of what is between their starts. Words have `K` bases, or as many more as make them
as rare by chance where the k-mers of the reads are not equally common (`overlapper.sketch.chance`).

**Fold.** Of all windows of places, `SPREAD` / 2 bases wide, that with most pairs is looked at, of equals the
first one. The place of its pair of the least distance, of equals the first, is a fold if from there to the
nearer end of the read, the *arm*, are `LEAST` bases or more; if no stretch of the arm of more than a share of
1 / `APART` is without the distance of a pair, so that all of it has been read before; and if that distance is
no more than the widest of these stretches, or `LOOP`, as inverted repeats within a molecule mostly have more
between them. Either may be up to half of the arm, and up to a *wait*, if the arm has at least a share
`HAD_OF_READS` of the pairs that its words have by the error rate: `WAITS` times as many bases as two strands
go on, on the mean, until a whole word is without an error on both. Of these, reads that go on beyond them on
both sides have no fold. Nor have reads of which most pairs are elsewhere: those of copies of a repeat on both
strands are everywhere.

**Short arms.** Of a read without a fold, the first ``2 LEAST`` bases, and then the last ones, are looked at
as if they were a read of their own: a fold in the half at the end of the read counts if its arm has `SHORT`
bases or more.

What is left is the longer side, of equals the first one. Contigs may still go back, for fewer bases than
reads show, or through reads that err too much; their ends are cut alike, where the arm has at least `HAD` of
these pairs: copies of a repeat on both strands have fewer.
"""

from __future__ import annotations

import math

import numpy as np

from overlapper.assembly.chimeras import Sound
from overlapper.kernels.graph import folds
from overlapper.runtime.threads import even_ranges, map_in_order, share_of_block
from overlapper.sketch.chance import EQUALLY_COMMON, Background
from overlapper.tables import Reads

K, WORDS, MOST = 13, 1000, 4
"""Chosen: where all bases are equally common, by chance 15 kb have two words in common with their reverse
complement, of which one in eight is looked at; at an error rate of 10 %, one of 16 words of an arm is had by
the other one. Hashes are the smaller ones of two strands, so that twice as many are looked at."""
SPREAD, LEAST, SHORT, LOOP, APART, WAITS = 400, 500, 60, 250, 4, 5
"""Chosen: noisy arms differ in length by some percent; adapters that were missed have 45 to 110 bases. Arms
of fewer than 60 bases are not told from hairpins within a molecule; of 1,500 random reads one or two have a
longer one by chance, however rich they are in A and T. Of the waits of noisy reads, which are exponential,
one in 150 is longer than five of the mean."""
HAD, HAD_OF_READS = 0.5, 0.25
"""Chosen: reads, and stretches of them, err more than others."""
_LONGEST_WORD = 26
_BLOCK_BASES = 1 << 24


def word_length(reads: Reads) -> int:
    """Return how long words are that are as rare by chance as those of `K` equally common bases."""
    longer = math.log(EQUALLY_COMMON) / math.log(Background.of(reads).kmer)
    return min(round(K * longer), _LONGEST_WORD)


def before_folds(reads: Reads, threads: int, error_rate: float, had: float = 0) -> Sound:
    """Find the longer side of each read that folds back, and all of others.

    Parameters
    ----------
    reads : Reads
        As given.
    threads : int
        Changes nothing but the time.
    error_rate : float
        Errors a base.
    had : float
        Arms with a smaller share of the pairs that they have by the error rate are none.
    """
    lengths = reads.lengths.astype(np.int64)
    k = word_length(reads)
    equal = (1 - error_rate) ** 2
    wait = sum(equal**-bases for bases in range(1, k + 1))
    words, pairs = round(WORDS / equal**k), 100 * equal**k
    shares = round(had * pairs), round(max(had, HAD_OF_READS) * pairs)
    rule = folds.FoldRule(k, words, MOST, SPREAD, LEAST, SHORT, LOOP, APART, round(WAITS * wait), *shares)
    columns = reads.words, reads.word_offsets, lengths
    block_share = share_of_block(int(lengths.sum()), _BLOCK_BASES, threads)
    found = map_in_order(
        lambda block: folds.folds(*columns, *block, rule),
        even_ranges(lengths, block_share),
        threads,
    )
    place = np.concatenate([np.empty(0, np.int64), *found])
    is_fold, keeps_left = place >= 0, 2 * place >= lengths
    start, end = np.where(is_fold & ~keeps_left, place, 0), np.where(is_fold & keeps_left, place, lengths)
    return Sound(start, end, lengths)


def folded_ends(contigs: Reads, stays: np.ndarray, error_rate: float, threads: int) -> np.ndarray:
    """Return the bases of both ends of contigs (shape (n, 2)) that go back over what is before them.

    Parameters
    ----------
    contigs : Reads
    stays : ndarray of bool, shape (n, 2)
        Of each contig whether the first end stays, and whether the last one does.
    error_rate : float
        Of reads; a contig may end in one alone.
    threads : int
        Changes nothing but the time.
    """
    one = before_folds(contigs, threads, error_rate, HAD)
    both = before_folds(one.cut(contigs), threads, error_rate, HAD)
    cut = np.stack([one.start + both.start, one.length - one.start - both.end], axis=1)
    return np.where(stays, 0, cut)
