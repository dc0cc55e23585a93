"""Adapters: what many reads begin or end with, whatever place they are of, found from the reads alone.

::

    reads   ▒▒▒▒▒▒▒▒▒ACGGTCA...        ▒ adapter: its words are at many ends of reads and nearly nowhere else,
              ▒▒▒▒▒▒▒TTGCAAC...          and after its last base reads go on in many ways
            CGATTACAGGTCATG...

Every end of a read is read inwards: its first bases as they are, its last ones as their reverse complement.
Words of `K` bases are counted by the ends that have them, and by windows in the middle of the same reads.

1. The word of most ends, of those that stand out (`LEAST_ENDS`, `IN_THE_MIDDLE`), is part of an adapter.
2. It is extended inwards and outwards by the next base that `AGREED` of the words with a next base have, as
   long as the longer word stands out.
3. It has to have `LEAST_BASES`, and what follows has to be of many places. Of `FOLLOWED` ends at most, those
   are of a molecule that go on as a share of `COMMON` of them or more do: whose next `ALIKE` bases have four
   in a row in common with the most frequent ones among these, at most `OFF` bases off, so that errors count
   little. The others of known bases have to be a share of `COMMON` of all and `FEWEST` at least, and of their
   pairs, but for one, a share of `ONE_PLACE` at most may go on alike: with a word in common among the next
   `ALIKE` bases, at most `OFF` bases off. So adapters of a panel of amplicons are found, however deep these
   are. Words at the ends of molecules, of few amplicons or of telomeres stand out, too, but few sequences
   follow them.
4. Ends that have the adapter, or what was taken for one, are left out, and the next one is looked for,
   `ROUNDS` times in all.

Sources: Bonenfant 2023 (Porechop_ABI) finds adapters from words at ends of reads, too. The numbers below are
not fitted: adapters of ONT kits have 20 to 110 bases, and are on most reads or on a few in a hundred.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.text import spelling
from overlapper.runtime.threads import for_each
from overlapper.sketch.words import NO_WORD, words_of
from overlapper.tables import Reads
from overlapper.tables.reads import CODE_OF_BYTE

END = 150
"""Bases of an end of a read that are looked at; an adapter with a barcode has some 110."""
K = 10
"""Bases of a word."""
SAMPLED = 4_000
"""Reads that are looked at, spread evenly over all."""
LEAST_ENDS = 30
"""Ends that a word of an adapter is at, at least; fewer do not tell if what follows is of many places."""
IN_THE_MIDDLE = 0.1
"""Windows in the middle of reads that have the word, at most, as a share of the ends that do."""
AGREED = 0.5
"""Share of the words with a next base that it is taken by: most. Two in three R9 reads have the next one."""
LEAST_BASES = 14
"""Bases of an adapter; shorter rests are left, such as the last ten of a PacBio adapter."""
BEHIND, FOLLOWED, ONE_PLACE = 8, 500, 0.02
"""Two ends are of one of ``m`` places once in ``m`` times, and then have a word in common in two of three
(R10 reads) or one of four times (R9 reads): so these are 13 to 33 places or more. Others have one in common
once in 30,000 times by chance, once in 1,500 where four fifths are A and T."""
COMMON, ALIKE, OFF, FEWEST = 0.1, 16, 2, 10
"""Most reads of a short molecule may end with it. By chance 16 bases share four, at most two off, with others
in one of four cases; at an error rate of 12 % they share none with themselves in one of thirty."""
SEEN = 12
"""Bases in a row of an adapter that tell it: by chance one of 2,000 ends shares so many with one of 60."""
MORE = 3
"""Chosen: so many bases may be inserted in 12 bases of an adapter; other reads have those that go with it."""
ROUNDS = 10
"""Most adapters that are looked for, those included that turn out to be none."""
_WORDS = 4**K
_FOUR = 4
_AT_A_TIME = 512
"""Reads whose ends are looked at together, few enough for their words to fit into the cache."""


def adapters_of(reads: Reads) -> list[str]:
    """Find the adapters of reads.

    Parameters
    ----------
    reads : Reads
        As given, not corrected; those shorter than three times `END` are not looked at.

    Returns
    -------
    list of str
        Bases, inwards, that of most ends first; empty where the reads have none, or are too few to tell.
    """
    words, middles = (words_of(codes, K) for codes in _ends_and_middles(reads))
    counts, middle_counts, found = _counts(words), _counts(middles), list[str]()
    for _ in range(ROUNDS):
        stands_out = (counts >= LEAST_ENDS) & (middle_counts <= IN_THE_MIDDLE * counts)
        seed = int(np.argmax(np.where(stands_out, counts, 0)))
        if not stands_out[seed]:
            break
        path = _extended(seed, counts, stands_out)
        adapter = _spelled(path)
        if len(adapter) >= LEAST_BASES and _goes_on_in_many_ways(words, path[-1]):
            found.append(adapter)
        of_path = np.zeros(_WORDS + 1, np.bool_)  # the last one is that of no word
        of_path[path] = True
        has_it = of_path[words].any(axis=1)
        counts = counts - _counts(words[has_it])
        words = words[~has_it]
    return found


def adapters_at_ends(reads: Reads, adapters: list[str], threads: int = 1) -> np.ndarray:
    """Return the bases at both ends of reads that adapters take, with all that is outside of them.

    An end has an adapter where both share `SEEN` bases in a row. The innermost ones tell where the adapter
    ends; if these are not its last ones, it errs there, and takes `MORE` bases. Of a read that would lose
    most of its bases, adapters take none.

    Parameters
    ----------
    reads : Reads
        Those shorter than three times `END` are not looked at.
    adapters : list of str
        As `adapters_of` returns them.

    Returns
    -------
    ndarray of int64, shape (reads, 2)
    """
    behind: dict[str, int] = {}
    for adapter in adapters:
        for place in range(len(adapter) - SEEN + 1):
            word, bases = adapter[place : place + SEEN], len(adapter) - place
            more = MORE if bases > SEEN else 0
            behind[word] = max(behind.get(word, 0), bases + more)
    takes = np.zeros(4**SEEN + 1, np.uint16)  # bases, of each word; the last one is that of no word
    if behind:
        takes[_word_numbers(list(behind))] = list(behind.values())
    taken = np.zeros((len(reads), 2), np.int64)
    long = np.flatnonzero(reads.lengths >= 3 * END).astype(np.int32)

    def take(start: int) -> None:
        which = long[start : start + _AT_A_TIME]
        of_words = takes[words_of(_inward_ends(reads, which), SEEN)]
        innermost = of_words.shape[1] - 1 - (of_words > 0)[:, ::-1].argmax(axis=1)
        by_innermost = of_words[np.arange(len(of_words)), innermost].astype(np.int64)
        ends = np.where(by_innermost > 0, innermost + by_innermost, 0).reshape(2, -1).T
        taken[which] = np.where(2 * ends.sum(axis=1) > reads.lengths[which], 0, ends.T).T

    for_each(take, range(0, len(long), _AT_A_TIME), threads)
    return taken


def _word_numbers(words: list[str]) -> np.ndarray:
    """Return the number of each of some words of `SEEN` bases."""
    codes = CODE_OF_BYTE[np.frombuffer("".join(words).encode(), np.uint8)].reshape(-1, SEEN)
    return words_of(codes, SEEN)[:, 0]


def _inward_ends(reads: Reads, which: np.ndarray) -> np.ndarray:
    """Return codes (uint8, shape (2 reads, `END`)) of the first bases of reads, then of the last, inwards."""
    starts = np.concatenate([np.zeros(len(which), np.int64), reads.lengths[which] - END])
    return _codes_both_ways(reads, which, starts)


def _ends_and_middles(reads: Reads) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (uint8, shape (2 reads, `END`)) of ends, inwards, and of windows on either strand."""
    long = np.flatnonzero(reads.lengths >= 3 * END)
    sample = long[np.linspace(0, len(long), min(SAMPLED, len(long)), endpoint=False).astype(np.int64)]
    which = sample.astype(np.int32)
    middles = np.tile((reads.lengths[which] - END) // 2, 2)
    return _inward_ends(reads, which), _codes_both_ways(reads, which, middles)


def _codes_both_ways(reads: Reads, which: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return codes of `END` bases of each read, then of the reverse complements of `END` others of each."""
    reverse = np.repeat([False, True], len(which))
    letters = spelling.spell(PackedReads.of(reads), np.tile(which, 2), starts, starts + END, reverse)
    return CODE_OF_BYTE[letters].reshape(-1, END)


def _counts(words: np.ndarray) -> np.ndarray:
    """Return in how many rows each word occurs (int64, shape (4 ** `K`,))."""
    ordered = np.sort(words, axis=1)
    first = np.ones(ordered.shape, np.bool_)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.bincount(ordered[first & (ordered != NO_WORD)], minlength=_WORDS)


def _extended(seed: int, counts: np.ndarray, stands_out: np.ndarray) -> list[int]:
    """Return the words of an adapter, inwards, that a word of it is extended to."""
    bases = np.arange(4)
    path = [seed]
    while (inner := _next_word((path[-1] << 2 | bases) % _WORDS, counts, stands_out, path)) is not None:
        path.append(inner)
    while (outer := _next_word(bases * (_WORDS // 4) + (path[0] >> 2), counts, stands_out, path)) is not None:
        path.insert(0, outer)
    return path


def _next_word(
    choices: np.ndarray, counts: np.ndarray, stands_out: np.ndarray, path: list[int]
) -> int | None:
    """Return the one of four words that most ends agree in; None if there is none, or it was there before."""
    best = int(choices[counts[choices].argmax()])
    agreed = counts[best] >= AGREED * counts[choices].sum()
    return best if agreed and stands_out[best] and best not in path else None


def _goes_on_in_many_ways(words: np.ndarray, last: int) -> bool:
    """Return whether ends go on in many ways behind the last word of an adapter, but for ends of molecules.

    What goes on beyond `END` has no bases, as what ends with a molecule does.
    """
    row, place = np.nonzero(words == last)
    step = -(-len(row) // FOLLOWED)
    row, place, more = row[::step], place[::step] + K, ALIKE - K
    seen = place + more < words.shape[1]
    ends = words[row[seen, None], place[seen, None] + np.arange(more + 1)]
    ends = ends[(ends[:, 0] != NO_WORD) & (ends[:, more] != NO_WORD)]
    first, second = ends[:, 0], ends[:, more]
    following = first >> 2 * (K - BEHIND)
    times = np.bincount(following, minlength=1)
    ahead = first.astype(np.int64) << 2 * more | second & (4**more - 1)
    fours = ahead[:, None] >> 2 * np.arange(ALIKE - _FOUR, -1, -1) & (4**_FOUR - 1)
    least = COMMON * len(row)
    of_molecule = np.zeros(len(first), np.bool_)
    for common in np.flatnonzero((times >= least) & (times > 1)).tolist():
        values, counts = np.unique(ahead[following == common], return_counts=True)
        typical = fours[np.flatnonzero(ahead == values[counts.argmax()])[0]]
        for off in range(-OFF, OFF + 1):
            ours, theirs = (
                slice(max(off, 0), len(typical) + min(off, 0)),
                slice(max(-off, 0), len(typical) - max(off, 0)),
            )
            of_molecule |= (fours[:, ours] == typical[theirs]).any(axis=1)
    others = ends[~of_molecule]
    pairs = len(others) * (len(others) - 1) // 2
    return len(others) >= max(least, FEWEST) and _pairs_alike(others) - 1 <= ONE_PLACE * pairs


def _pairs_alike(ends: np.ndarray) -> int:
    """Return how many pairs of rows of words have one in common, at most `OFF` columns off."""
    alike = np.zeros((len(ends), len(ends)), np.bool_)
    for place, column in enumerate(ends.T):
        for other in ends.T[max(place - OFF, 0) : place + OFF + 1]:
            alike |= (column[:, None] == other) & (other != NO_WORD)
    return int(np.triu(alike, 1).sum())


def _spelled(path: list[int]) -> str:
    """Return the bases of words of which each begins one base behind the one before."""
    first = [path[0] >> 2 * place & 3 for place in reversed(range(K))]
    return "".join("ACGT"[code] for code in (*first, *(word & 3 for word in path[1:])))
