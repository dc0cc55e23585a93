"""Which phase blocks belong together, by pairs of Hi-C reads (``docs/algorithms/haplotypes.md``, "Hi-C")."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from overlapper.assembly.parents import Sites, table_of
from overlapper.assembly.pieces import K, Pieces
from overlapper.errors import InputError
from overlapper.evaluation.slices import spans_of
from overlapper.kernels.seeds import haplotype_kmers
from overlapper.kernels.seeds.haplotype_kmers import NO_LABEL
from overlapper.runtime.messages import counted
from overlapper.runtime.threads import even_ranges, for_each
from overlapper.tables import Reads
from overlapper.tables.ragged import places_within

ERROR = 0.01
"""Probability by which chance joins two blocks, at most: half of what chance joins is right, so that at most
one block of 200 is in the wrong haplotype."""
BY_CHANCE = 0.5
"""Most of the links between blocks that may be by chance."""
_BLOCK_BASES = 1 << 22
_PAIRS, _WAITING = 1 << 16, 1 << 20
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""Odd; names are compared by sums of their letters times its powers."""


class HicReads(NamedTuple):
    """First and second reads of pairs, in parts, and the names of both files."""

    ends: Sequence[Iterable[Reads]]
    names: Sequence[str]


class HicSeen(NamedTuple):
    """What Hi-C reads say, in numbers."""

    blocks: int
    joined: int
    """`blocks`, `joined`: phase blocks by reads alone, and how many of these are joined to another one."""
    pairs: int
    same: int
    other: int
    """`same`, `other`: pairs with both ends in one block, in the same haplotype or not."""
    between: int
    """Pairs with ends in two blocks."""

    def told(self) -> str:
        """Return the numbers as a sentence has them."""
        inside = self.same + self.other
        of_all = f"{self.between:,} of {counted(self.pairs, 'Hi-C pair')}"
        text = f"{of_all} link {counted(self.blocks, 'phase block')} and join {self.joined:,}"
        if not inside:
            return text
        return f"{text}; {self.same / inside:.1%} of {counted(inside, 'pair')} within a block agree"

    def warnings(self) -> list[str]:
        """Say that no block was joined, though there are several."""
        if self.joined or self.blocks < 2:
            return []
        return [f"warning: {self.told()}: are these Hi-C reads of the same sample, and are there enough?"]


class Links(NamedTuple):
    """Pairs of reads between sides: ``2 * block`` for haplotype 1 of a phase block, and the one behind it."""

    pairs: int
    """All that were read."""
    ends: np.ndarray
    """int64, shape (sides,); ends on each side."""
    one: np.ndarray
    other: np.ndarray
    links: np.ndarray
    """`one`, `other`, `links`: int64, shape (n,); two sides, the smaller one first, and how many pairs have
    an end on either; ascending."""

    def seen(self, joined: int) -> HicSeen:
        """Return the numbers of pairs and of blocks, of which some are joined."""
        within = self.one >> 1 == self.other >> 1
        same, all_within = (int(self.links[of].sum()) for of in (self.one == self.other, within))
        numbers = same, all_within - same, int(self.links.sum()) - all_within
        return HicSeen(len(self.ends) // 2, joined, self.pairs, *numbers)


def links_of_groups(
    contigs: Reads,
    pieces: Pieces,
    sites: Sites,
    hic: HicReads,
    threads: int,
    block: np.ndarray,
    haplotype: np.ndarray,
) -> Links:
    """Count the pairs of Hi-C reads by blocks of groups of pieces.

    Parameters
    ----------
    contigs : Reads
    pieces : Pieces
    sites : Sites
        Of these contigs.
    hic : HicReads
    threads : int
        Changes nothing but the time.
    block, haplotype : ndarray of int64, shape (groups,)
        Of each group of pieces; both from 0 on.
    """
    side = np.append(2 * block + haplotype, -1)[pieces.group]
    return count_links(table_of(contigs, pieces, sites, side), 1 + int(block.max(initial=-1)), hic, threads)


def count_links(table: np.ndarray, blocks: int, hic: HicReads, threads: int) -> Links:
    """Count the pairs of Hi-C reads by the sides that their ends are on.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        Sites with their sides (`overlapper.kernels.seeds.haplotype_kmers`).
    blocks : int
    hic : HicReads
    threads : int
        Changes nothing but the time.

    Raises
    ------
    InputError
        When reads do not come in pairs.
    """
    sides, pairs = 2 * blocks, 0
    ends = np.zeros(sides, np.int64)
    keys, counts, waiting = np.empty(0, np.int64), np.empty(0, np.int64), list[np.ndarray]()
    for first, second in _pairs(table, hic, threads):
        pairs += len(first)
        for of in (first, second):
            ends += np.bincount(of[of >= 0], minlength=sides)
        both = (first >= 0) & (second >= 0)
        one, other = np.sort(np.stack([first[both], second[both]]), axis=0)
        waiting.append(one * sides + other)
        if sum(map(len, waiting)) > _WAITING:
            keys, counts = _with(keys, counts, waiting)
            waiting = []
    keys, counts = _with(keys, counts, waiting)
    return Links(pairs, ends, *np.divmod(keys, max(1, sides)), counts)


def _with(keys: np.ndarray, counts: np.ndarray, more: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Add keys to those that are counted."""
    more_keys, more_counts = np.unique(np.concatenate([*more, keys[:0]]), return_counts=True)
    keys, place = np.unique(np.concatenate([keys, more_keys]), return_inverse=True)
    return keys, np.bincount(place, np.concatenate([counts, more_counts]), len(keys)).astype(np.int64)


def join_blocks(links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Join phase blocks that belong together beyond chance, those of which this is most certain first.

    Returns
    -------
    joined : ndarray of int64, shape (blocks,)
        The first of the blocks that each is joined with, or itself.
    turned : ndarray of bool, shape (blocks,)
        Whether haplotype 1 of it is haplotype 2 of that one.
    """
    ends = links.ends.reshape(-1, 2).tolist()
    members = [[(block, False)] for block in range(len(ends))]
    beside: list[dict[int, list[int]]] = [{} for _ in ends]
    for one, other, count in zip(links.one.tolist(), links.other.tolist(), links.links.tolist(), strict=True):
        if one >> 1 != other >> 1:
            beside[one >> 1].setdefault(other >> 1, [0] * 4)[2 * (one & 1) + (other & 1)] = count
    pairs = [(one, other) for one, of in enumerate(beside) for other in of]
    for one, other in pairs:
        beside[other][one] = _transposed(beside[one][other])
    serial = itertools.count()
    most_certain: list[tuple[float, int, int, int, bool, list[int]]] = []

    def look_at(one: int, other: int) -> None:
        one, other = min(one, other), max(one, other)
        table = beside[one][other]
        certainty, opposite = evidence(table, ends[one], ends[other])
        if certainty >= -math.log(ERROR):
            heapq.heappush(most_certain, (-certainty, one, other, next(serial), opposite, table))

    for pair in pairs:
        look_at(*pair)
    while most_certain:
        *_, one, other, _, opposite, table = heapq.heappop(most_certain)
        if beside[one].get(other) is not table:
            continue  # either was joined with another one meanwhile
        del beside[one][other], beside[other][one]
        members[one] += [(block, turned ^ opposite) for block, turned in members[other]]
        members[other] = []
        ends[one] = [a + b for a, b in zip(ends[one], ends[other][:: -1 if opposite else 1], strict=True)]
        for third, more in beside[other].items():
            del beside[third][other]
            more = more[2:] + more[:2] if opposite else more
            so_far = beside[one].get(third, [0] * 4)
            beside[one][third] = [a + b for a, b in zip(so_far, more, strict=True)]
        beside[other] = {}
        for third, of_both in beside[one].items():
            beside[one][third] = of_both = of_both.copy()  # what was noted of it before is void
            beside[third][one] = _transposed(of_both)
            look_at(one, third)
    joined, is_turned = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.bool_)
    for one, of in enumerate(members):
        for block, turned in of:
            joined[block], is_turned[block] = one, turned
    return joined, is_turned


def evidence(table: list[int], ends: list[int], other_ends: list[int]) -> tuple[float, bool]:
    """Return how certainly two blocks belong together, and whether haplotype 1 of one is 2 of the other one.

    Parameters
    ----------
    table : list of int
        Links between haplotypes 1 and 1, 1 and 2, 2 and 1, 2 and 2.
    ends, other_ends : list of int
        Ends of pairs on either haplotype of both.

    Returns
    -------
    (float, bool)
        Natural logarithm, times -1, of what bounds the probability that it is chance.
    """
    all_, cis = sum(table), table[0] + table[3]
    expected = (ends[0] * other_ends[0] + ends[1] * other_ends[1]) / (sum(ends) * sum(other_ends))
    opposite = cis < all_ * expected
    found, expected = (all_ - cis, 1 - expected) if opposite else (cis, expected)
    if found - all_ * expected < (1 - BY_CHANCE) * all_ * (1 - expected):
        return 0.0, opposite
    terms = (found, expected), (all_ - found, 1 - expected)
    return sum(n * math.log(n / (all_ * share)) for n, share in terms if n), opposite


def _transposed(table: list[int]) -> list[int]:
    return [table[0], table[2], table[1], table[3]]


def _pairs(table: np.ndarray, hic: HicReads, threads: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the sides of first and of second ends, of as many pairs at a time as have come."""
    of_first, of_second = (_ends(table, reads, threads) for reads in hic.ends)
    first: np.ndarray | None = np.empty((2, 0), np.int64)
    second, done = first, 0
    while True:
        first = next(of_first, None) if first is not None and not first.size else first
        second = next(of_second, None) if second is not None and not second.size else second
        if first is None or second is None:
            break
        n = min(first.shape[1], second.shape[1])
        for wrong in np.flatnonzero(first[1, :n] != second[1, :n])[:1].tolist():
            raise _unpaired(hic, 1, f"has another name than its mate in {hic.names[0]}", done + wrong + 1)
        yield first[0, :n], second[0, :n]
        first, second, done = first[:, n:], second[:, n:], done + n
    if first is not None or second is not None:
        of, other = (0, 1) if second is None else (1, 0)
        raise _unpaired(hic, of, f"has no mate: {hic.names[other]} has fewer reads", done + 1)


def _unpaired(hic: HicReads, of: int, problem: str, record: int) -> InputError:
    remedy = (
        "Give first and second reads of all Hi-C pairs in one order; names may differ in the last letter."
    )
    return InputError(problem, file=hic.names[of], record=str(record), remedy=remedy)


def _ends(table: np.ndarray, reads: Iterable[Reads], threads: int) -> Iterator[np.ndarray]:
    """Yield the side of every read, below 0 where it has none, and a number that its name gives."""
    for part in reads:
        side = _sides(table, part, threads)
        for start in range(0, len(part), _PAIRS):
            stop = min(start + _PAIRS, len(part))
            yield np.stack([side[start:stop], _numbers_of_names(part, start, stop)])


def _sides(table: np.ndarray, reads: Reads, threads: int) -> np.ndarray:
    spans = spans_of(reads)
    side = np.full(len(reads), NO_LABEL, np.int32)

    def label(block: tuple[int, int]) -> None:
        first, last = np.searchsorted(spans.sequence, block)
        haplotype_kmers.label_reads(table, spans, first, last, K, side)

    for_each(label, even_ranges(reads.lengths, _BLOCK_BASES), threads)
    return side


def _numbers_of_names(reads: Reads, start: int, stop: int) -> np.ndarray:
    """Return a number (int64) of the name of each read, without its last letter, which may be 1 or 2."""
    offsets = reads.name_offsets[start : stop + 1]
    lengths = np.diff(offsets)
    place = places_within(lengths)
    letters = reads.name_bytes[offsets[0] : offsets[-1]].astype(np.uint64)
    letters[offsets[1:][lengths > 0] - offsets[0] - 1] = 0
    powers = np.cumprod(np.full(int(lengths.max(initial=0)) + 1, _FACTOR))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(letters * powers[place])])
    return np.diff(sums[offsets - offsets[0]]).view(np.int64) ^ lengths
