"""Walks from chains to read ends, in tiles of edit distance.

GPU twin: cuda/end_walks.py.

`overlapper.extend.chain_ends` has the definition. A tile has at most 64 query bases, so that the differences
between the rows of a column are two words, and a column follows from the one before by word operations
(Myers 1999; tiles on top of each other as in section 4.2 there). Each lane of a vector has the tile of
another walk; a walk that ends leaves its lane to the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.myers import next_column
from overlapper.kernels.common.packed import popcount, prefetch, reverse_bases, uncounted
from overlapper.kernels.common.vectors import Lanes, load, select, splat, store, width
from overlapper.kernels.common.walks import word_from
from overlapper.runtime.compile.cache import njit

TILE = 64
SLACK = 24
WIDEST = TILE + 2 * SLACK
PERCENT = 100
LANES = Lanes(8)
WORD = 32
"""Bases of a word."""

# Fields of the state of the walk in a lane.
_Q_ORIGIN, _Q_STEP, _Q_LENGTH, _Q_READ, _T_ORIGIN, _T_STEP, _T_LENGTH, _T_READ, _FLIP = range(9)
"""For query and target: base of step 0, counted through the words of all reads; direction, 1 or -1; steps to
the read end; number of the read. Then -1 where the target is complemented, else 0."""
_Q_DONE, _T_DONE, _LEFT, _COLUMNS, _CORNER = range(9, 14)
"""Query and target bases before the next tile; target bases before the last tile, and its columns; edits at
its bottom left."""
_SCORE, _BEST, _Q_BEST, _T_BEST = range(14, 18)
_WALK_FIELDS = 18

# Fields of the tile in a lane.
_ONES, _TWOS, _KNOWN = range(3)
"""Words of the query bases, the first base in the lowest bit: lower bit, higher bit, whether it is known."""
_LAST, _EDITS, _LIMIT = range(3, 6)
"""Number of the last query base; edits at the bottom left; columns."""
_LEAST, _USED = range(6, 8)
"""Result: least edits of the bottom row, and the columns up to there."""
_WORDS, _WORD_FIELDS = 8, 5
"""Five words for columns 0 to 63, then five for the other columns, the first column in the lowest bit."""
_T_ONES, _T_TWOS, _T_KNOWN, _RISES, _FALLS = range(5)
"""Of the target bases, as of the query's; and whether the row above the tile (once computed, its bottom row)
rises or falls by one from the column before."""
_HIGH = _WORDS + _WORD_FIELDS
_TILE_FIELDS = _HIGH + _WORD_FIELDS

U64 = np.uint64
_ONE = U64(1)
_ALL = ~U64(0)


class EndScheme(NamedTuple):
    """``end_edits`` and ``end_drop`` of `overlapper.params.stages.ChainParams`."""

    edits: int
    drop: int


@njit(nogil=True, cache=True)
def walk_ends(lanes, reads, seeds, items, scheme):
    """Walk from the seeds of chains towards read ends.

    Parameters
    ----------
    lanes : Lanes
    reads : PackedReads
    seeds : Seeds
    items : ndarray of int64, shape (n,)
        Walks: ``2 * seed`` runs before a seed, ``2 * seed + 1`` after it.
    scheme : EndScheme

    Returns
    -------
    ndarray of int32, shape (n, 2)
        Query and target bases of each walk.
    """
    walked = np.zeros((len(items), 2), np.int32)
    walks = np.zeros((_WALK_FIELDS, width(lanes)), np.int64)
    tiles = np.zeros((_TILE_FIELDS, width(lanes)), np.int64)
    walk_of = np.full(width(lanes), -1)
    begun, busy = 0, 1
    while busy:
        busy = 0
        for lane in range(width(lanes)):
            while not _goes_on(walks, lane, scheme) and begun < len(items):
                _begin(reads, seeds, items[begun], walks, lane)
                _fetch(reads, seeds, items[min(begun + width(lanes), len(items) - 1)])
                walk_of[lane] = begun
                begun += 1
            if _goes_on(walks, lane, scheme):
                _place(reads, walks, tiles, lane)
                busy += 1
            else:
                walk_of[lane] = -1
        _compute(lanes, tiles)
        for lane in range(width(lanes)):
            if walk_of[lane] >= 0:
                _take(walks, tiles, lane, scheme)
                walked[walk_of[lane], 0], walked[walk_of[lane], 1] = (
                    walks[_Q_BEST, lane],
                    walks[_T_BEST, lane],
                )
    return walked


@inner
def _begin(reads, seeds, item, walks, lane):
    """Begin a walk in a lane."""
    seed, after = item >> 1, (item & 1) == 1
    query, target, reverse = seeds.query[seed], seeds.target[seed], seeds.reverse[seed]
    upwards = after != reverse
    q_first = np.int64(seeds.query_pos[seed]) + (seeds.length if after else -1)
    t_first = np.int64(seeds.target_pos[seed]) + (seeds.length if upwards else -1)
    for field in range(_WALK_FIELDS):
        walks[field, lane] = 0
    walks[_Q_ORIGIN, lane] = WORD * reads.word_offsets[query] + q_first
    walks[_Q_STEP, lane] = 1 if after else -1
    walks[_Q_LENGTH, lane] = reads.lengths[query] - q_first if after else q_first + 1
    walks[_Q_READ, lane] = query
    walks[_T_ORIGIN, lane] = WORD * reads.word_offsets[target] + t_first
    walks[_T_STEP, lane] = 1 if upwards else -1
    walks[_T_LENGTH, lane] = reads.lengths[target] - t_first if upwards else t_first + 1
    walks[_T_READ, lane] = target
    walks[_FLIP, lane] = -1 if reverse else 0


@inner
def _fetch(reads, seeds, item):
    """Prefetch the bases where a walk begins."""
    seed = item >> 1
    query, target = seeds.query[seed], seeds.target[seed]
    prefetch(reads.words, reads.word_offsets[query] + seeds.query_pos[seed] // WORD)
    prefetch(reads.words, reads.word_offsets[target] + seeds.target_pos[seed] // WORD)


@inner
def _goes_on(walks, lane, scheme):
    """Return whether neither read has ended, and the score has not dropped too far."""
    rest = min(walks[_Q_LENGTH, lane] - walks[_Q_DONE, lane], walks[_T_LENGTH, lane] - walks[_T_DONE, lane])
    return rest > 0 and walks[_SCORE, lane] >= walks[_BEST, lane] - PERCENT * scheme.drop


@inner
def _place(reads, walks, tiles, lane):
    """Set up the next tile of a walk in its lane."""
    q_done, t_done = walks[_Q_DONE, lane], walks[_T_DONE, lane]
    height = min(TILE, walks[_Q_LENGTH, lane] - q_done, walks[_T_LENGTH, lane] - t_done)
    left = max(walks[_LEFT, lane], t_done - SLACK)
    columns = min(t_done + height + SLACK, walks[_T_LENGTH, lane]) - left
    by = left - walks[_LEFT, lane]
    _move_row(tiles, lane, by, walks[_COLUMNS, lane] - by, walks)
    walks[_LEFT, lane], walks[_COLUMNS, lane] = left, columns
    walks[_CORNER, lane] += height
    tiles[_LAST, lane], tiles[_EDITS, lane], tiles[_LIMIT, lane] = height - 1, walks[_CORNER, lane], columns
    _put_bases(
        reads, walks[_Q_READ, lane], walks[_Q_ORIGIN, lane], walks[_Q_STEP, lane], q_done, U64(0),
        tiles, np.int64(_ONES), lane,
    )  # fmt: skip
    for part in range(2):
        _put_bases(
            reads, walks[_T_READ, lane], walks[_T_ORIGIN, lane], walks[_T_STEP, lane], left + 64 * part,
            U64(walks[_FLIP, lane]), tiles, _WORDS + _WORD_FIELDS * part, lane,
        )  # fmt: skip


@inner
def _move_row(tiles, lane, by, known, walks):
    """Move the row above the tile by ``by`` columns; its scores rise by one a column from ``known`` on."""
    low_rises, low_falls = U64(tiles[_WORDS + _RISES, lane]), U64(tiles[_WORDS + _FALLS, lane])
    high_rises, high_falls = U64(tiles[_HIGH + _RISES, lane]), U64(tiles[_HIGH + _FALLS, lane])
    rise, low_rises, high_rises, low_falls, high_falls = slid(
        low_rises, high_rises, low_falls, high_falls, by, known
    )
    walks[_CORNER, lane] += rise
    tiles[_WORDS + _RISES, lane], tiles[_HIGH + _RISES, lane] = low_rises, high_rises
    tiles[_WORDS + _FALLS, lane], tiles[_HIGH + _FALLS, lane] = low_falls, high_falls


@inner
def slid(low_rises, high_rises, low_falls, high_falls, by, known):
    """Return a row that starts ``by`` columns later; its scores rise by one a column from ``known`` on.

    Bits of two words tell where a row is one more, or one less, than a column before. The first value
    returned is by how much the row is higher where it starts now.
    """
    low, high = _lowest(by), _lowest(by - 64)
    rise = popcount(low_rises & low) + popcount(high_rises & high)
    rise -= popcount(low_falls & low) + popcount(high_falls & high)
    low_rises, high_rises = _moved(low_rises, high_rises, by)
    low_falls, high_falls = _moved(low_falls, high_falls, by)
    low, high = _lowest(known), _lowest(known - 64)
    return rise, low_rises | ~low, high_rises | ~high, low_falls & low, high_falls & high


@inner
def _lowest(bits):
    """Return a word whose ``bits`` lowest bits are set."""
    if bits <= 0:
        return U64(0)
    return _ALL >> U64(64 - bits) if bits < 64 else _ALL


@inner
def _moved(low, high, by):
    """Return two words shifted right together by ``by`` bits."""
    if by >= 64:
        return high >> U64(by - 64), U64(0)
    # Two shifts to the left, as a shift by all 64 bits is undefined.
    return (low >> U64(by)) | ((high << _ONE) << U64(63 - by)), high >> U64(by)


@inner
def _take(walks, tiles, lane, scheme):
    """Advance a walk past its computed tile."""
    walks[_Q_DONE, lane] += tiles[_LAST, lane] + 1
    walks[_T_DONE, lane] = walks[_LEFT, lane] + tiles[_USED, lane]
    walks[_SCORE, lane] = scheme.edits * walks[_Q_DONE, lane] - PERCENT * tiles[_LEAST, lane]
    if walks[_SCORE, lane] > walks[_BEST, lane]:
        walks[_BEST, lane] = walks[_SCORE, lane]
        walks[_Q_BEST, lane], walks[_T_BEST, lane] = walks[_Q_DONE, lane], walks[_T_DONE, lane]


@njit(nogil=True, cache=True)
def _compute(lanes, tiles):
    """Compute the bottom rows of the tiles of all lanes."""
    flat = tiles.reshape(-1)
    n = width(lanes)
    none, one = splat(lanes, flat, 0), splat(lanes, flat, 1)
    top, unused = splat(lanes, flat, 63), splat(lanes, flat, 128 - WIDEST)
    q_ones, q_twos = load(lanes, flat, n * _ONES), load(lanes, flat, n * _TWOS)
    q_known, last = load(lanes, flat, n * _KNOWN), load(lanes, flat, n * _LAST)
    edits, limit = load(lanes, flat, n * _EDITS), load(lanes, flat, n * _LIMIT)
    least, used, column = edits, none, none
    rises, falls = ~none, none
    for part in range(2):
        at = n * (_WORDS + _WORD_FIELDS * part)
        t_ones, t_twos = load(lanes, flat, at + n * _T_ONES), load(lanes, flat, at + n * _T_TWOS)
        t_known = load(lanes, flat, at + n * _T_KNOWN)
        above_rises, above_falls = load(lanes, flat, at + n * _RISES), load(lanes, flat, at + n * _FALLS)
        below_rises, below_falls = none, none
        for _ in range(WIDEST - 64 if part else 64):
            unlike = (q_ones ^ (none - (t_ones & one))) | (q_twos ^ (none - (t_twos & one)))
            known = q_known & (none - (t_known & one))
            same = ~unlike & known
            rise, fall = above_rises & one, above_falls & one
            t_ones, t_twos = t_ones >> one, t_twos >> one
            t_known = t_known >> one
            above_rises, above_falls = above_rises >> one, above_falls >> one

            rises, falls, up, down = next_column(same, rises, falls, rise, fall, one)
            more, less = (up >> last) & one, (down >> last) & one
            below_rises = (below_rises >> one) | (more << top)
            below_falls = (below_falls >> one) | (less << top)
            edits = edits + (more - less)
            better = (least > edits) & (limit > column)
            column = column + one
            least, used = select(better, edits, least), select(better, column, used)
        if part:
            below_rises, below_falls = below_rises >> unused, below_falls >> unused
        store(flat, at + n * _RISES, below_rises)
        store(flat, at + n * _FALLS, below_falls)
    store(flat, n * _LEAST, least)
    store(flat, n * _USED, used)


@inner
def _put_bases(reads, read, origin, step, start, flip, tiles, field, lane):
    """Write 64 steps of a walk to three fields: lower bits, higher bits, known; arbitrary beyond the read."""
    words = uncounted(reads.words)
    if step > 0:
        first, second = word_from(words, origin + start), word_from(words, origin + start + WORD)
    else:
        first = reverse_bases(word_from(words, origin - start - WORD + 1))
        second = reverse_bases(word_from(words, origin - start - 2 * WORD + 1))
    first, second = first ^ flip, second ^ flip
    tiles[field, lane] = _every_other(first) | (_every_other(second) << U64(32))
    tiles[field + 1, lane] = _every_other(first >> _ONE) | (_every_other(second >> _ONE) << U64(32))
    known = _ALL
    for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
        base = WORD * reads.word_offsets[read]
        first_step = step * (base + reads.unknown_start[run] - origin) - start
        last_step = step * (base + reads.unknown_end[run] - 1 - origin) - start
        for x in range(max(0, min(first_step, last_step)), min(64, max(first_step, last_step) + 1)):
            known &= ~(_ONE << U64(x))
    tiles[field + 2, lane] = known


@inner
def _every_other(bits):
    """Return bits 0, 2, 4 ... of a word, together."""
    bits &= U64(0x5555555555555555)
    bits = (bits | (bits >> U64(1))) & U64(0x3333333333333333)
    bits = (bits | (bits >> U64(2))) & U64(0x0F0F0F0F0F0F0F0F)
    bits = (bits | (bits >> U64(4))) & U64(0x00FF00FF00FF00FF)
    bits = (bits | (bits >> U64(8))) & U64(0x0000FFFF0000FFFF)
    return (bits | (bits >> U64(16))) & U64(0x00000000FFFFFFFF)
