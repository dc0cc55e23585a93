"""The tags of corrected reads: those of the reads as they were given.

Base modifications are carried over along an alignment of the corrected read with the given one, whose bases
are paired: a call stays where both have the same base. The alignment is by the chain of exact matches that
both have near the line from corner to corner (`overlapper.kernels.evaluation.placed_chains`), with shortest
edit paths between. Tags that have a value for each base or signal of the given read are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from overlapper.correction.uncovered import Parts
from overlapper.io.base_modifications import calls_of, with_calls
from overlapper.io.read_store import AsGiven, ReadStore
from overlapper.io.tags import MODIFICATIONS, value_of, with_tags, without
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.evaluation.placed_chains import Windows, chain_in_windows
from overlapper.kernels.mapping.chain_paths import align_chains
from overlapper.mapping.edits import ends_of
from overlapper.params.mapping import MapParams
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Reads
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION
from overlapper.tables.ragged import offsets_of, places_within

OF_GIVEN_BASES = frozenset(b"mv ip pw fi fp fn ri rp rn OQ BQ E2 U2".split())
KEPT, LOST = "base modifications kept", "base modifications lost"
MARGIN = 500
"""Bases of the given read on either side of where a part of the corrected one is expected: chosen, as many as
anchors may be off the line."""
_BLOCK_BASES = 1 << 20


def with_carried(
    corrected: Iterable[Reads], parts: Parts, lengths: np.ndarray, store: ReadStore, threads: int
) -> Iterator[tuple[Reads, Counter[str]]]:
    """Yield corrected reads with the tags of the given ones, and how many base modifications stay and go.

    Parameters
    ----------
    corrected : iterable of Reads
        The parts in order, some at a time.
    parts : Parts
        Of which reads of the store they are.
    lengths : ndarray of int64, shape (reads,)
        Bases of the whole corrected reads.
    store : ReadStore
        The given reads.
    threads : int
        Changes nothing but the time.
    """
    given, first = AsGiven(store), 0
    for reads in corrected:
        part = np.arange(first, first + len(reads))
        read = parts.read[part]
        raw = given.take(store.order[read])
        scale = raw.lengths / np.maximum(lengths[read], 1)
        start = np.maximum(np.rint(parts.start[part] * scale).astype(np.int64) - MARGIN, 0)
        end = np.minimum(np.rint(parts.end[part] * scale).astype(np.int64) + MARGIN, raw.lengths)
        counts: Counter[str] = Counter()
        texts: list[bytes] = []

        def carry(block: tuple[int, int]) -> tuple[list[bytes], Counter[str]]:
            rows = slice(*block)
            return _carried(reads.rows(*block), raw.rows(*block), start[rows], end[rows])  # noqa: B023

        for some, of_some in map_in_order(carry, even_ranges(reads.lengths, _BLOCK_BASES), threads):
            texts += some
            counts.update(of_some)
        yield with_tags(reads, texts.__getitem__), counts
        first += len(reads)


def _carried(
    reads: Reads, raw: Reads, start: np.ndarray, end: np.ndarray
) -> tuple[list[bytes], Counter[str]]:
    """Return the tags of corrected reads, given where on the given ones each of them lies."""
    tags = [raw.tags_of(read) for read in range(len(raw))]
    called = np.array([value_of(text, b"MM") is not None for text in tags], np.bool_)
    called &= (start < end) & (reads.lengths > 0)
    counts: Counter[str] = Counter()
    for read, pairs in _paths(reads, raw, np.flatnonzero(called), start, end):
        calls = calls_of(tags[read], raw.codes(read)) or []
        moved = [of_kind.moved(pairs) for of_kind in calls]
        counts[KEPT] += sum(len(of_kind.places) for of_kind in moved)
        counts[LOST] += sum(len(of_kind.places) for of_kind in calls) - sum(len(m.places) for m in moved)
        tags[read] = with_calls(tags[read], moved, reads.codes(read)) if calls else tags[read]
        called[read] = bool(calls)
    kept = zip(tags, called.tolist(), strict=True)
    return [text if has else without(text, MODIFICATIONS) for text, has in kept], counts


def _paths(
    reads: Reads, raw: Reads, some: np.ndarray, start: np.ndarray, end: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield reads, and for each base of the given one which equal base of the corrected one it is, or -1."""
    packed, others = PackedReads.of(reads), PackedReads.of(raw)
    windows = Windows(
        some, some, start[some], end[some], np.zeros(len(some), np.bool_), offsets_of((end - start)[some])
    )
    starts, x, y, length = chain_in_windows(packed, others, windows)
    chained = np.flatnonzero(np.diff(starts))
    rows, cigar, offsets = align_chains(
        packed, others, some[chained], some[chained], windows.reverse[chained],
        np.append(starts[chained], len(x)), x, y, length, ends_of(MapParams()),
    )  # fmt: skip
    row_of = np.full(len(some), -1, np.int64)
    row_of[chained] = np.arange(len(chained))
    for read, row in zip(some.tolist(), row_of.tolist(), strict=True):
        pairs = np.full(raw.lengths[read], -1, np.int64)
        if row >= 0:
            runs = cigar[offsets[row] : offsets[row + 1]]
            kinds, sizes = runs & 15, (runs >> 4).astype(np.int64)
            on_read, on_raw = (np.where(kinds == gap, 0, sizes) for gap in (DELETION, INSERTION))
            equal = np.flatnonzero(kinds == EQUAL)
            first, there = (
                int(rows[row, column]) + (np.cumsum(on) - on)[equal]
                for column, on in ((0, on_read), (2, on_raw))
            )
            bases, within = sizes[equal], places_within(sizes[equal])
            pairs[np.repeat(there, bases) + within] = np.repeat(first, bases) + within
        yield read, pairs
