"""Seeds cut by block and joined for tiles, against the oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.seeds import tile_seeds as kernel
from overlapper.tables import Seeding
from tests.oracle import tile_seeds as oracle
from tests.tries import tries

BASE_BITS = 12
LOW_BIT = BASE_BITS + 1
entries_of = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 999), st.integers(0, 1)),
    max_size=60,
    unique_by=lambda e: e[1],
)


def packed(entries):
    """Return sorted entries as the kernels hold them."""
    values = [h << LOW_BIT | base << 1 | strand for h, base, strand in sorted(entries)]
    return np.array(values, np.uint64)


def unpacked(values):
    mask = (1 << BASE_BITS) - 1
    return [(v >> LOW_BIT, v >> 1 & mask, v & 1) for v in values.tolist()]


@settings(max_examples=tries(200), deadline=None)
@given(entries=entries_of)
def test_lone_hashes_are_dropped(entries):
    out = np.empty(len(entries), np.uint64)
    assert unpacked(out[: kernel.keep_repeated(packed(entries), LOW_BIT, out)]) == oracle.repeated(entries)


@settings(max_examples=tries(200), deadline=None)
@given(entries=entries_of, cuts=st.sets(st.integers(1, 999), max_size=6))
def test_entries_are_cut_by_block(entries, cuts):
    first_bases = np.array([0, *sorted(cuts), 1000], np.int64)
    counts = np.zeros(len(first_bases) - 1, np.int64)
    kernel.count_blocks(packed(entries), LOW_BIT, first_bases, counts)
    next_free, out = np.cumsum(counts) - counts, np.empty(len(entries), np.uint64)
    kernel.scatter_blocks(packed(entries), LOW_BIT, first_bases, next_free, out)
    assert next_free.tolist() == np.cumsum(counts).tolist()
    blocks = np.split(out, np.cumsum(counts)[:-1])
    assert [unpacked(block) for block in blocks] == oracle.by_block(entries, first_bases.tolist())


@settings(max_examples=tries(200), deadline=None)
@given(queries=entries_of, targets=entries_of)
def test_blocks_are_joined(queries, targets):
    out = np.empty(len(queries) + len(targets), np.uint64)
    n = kernel.join_blocks(packed(queries), packed(targets), LOW_BIT, 1000, out)
    assert unpacked(out[:n]) == oracle.joined(queries, targets, 1000)


@settings(max_examples=tries(200), deadline=None)
@given(entries=entries_of, cuts=st.sets(st.integers(1, 31), max_size=6))
def test_positions_are_listed_by_read(entries, cuts):
    word_offsets = np.array([0, *sorted(cuts), 32], np.int64)
    marks = np.zeros(32, np.uint32)
    kernel.mark_bases(packed(entries), LOW_BIT, marks)
    seeding = Seeding(np.zeros(len(word_offsets) - 1), marks, word_offsets)
    listed = [part.tolist() for part in np.split(seeding.positions, seeding.starts[1:-1])]
    assert listed == oracle.by_read(entries, (32 * word_offsets).tolist())
    assert seeding.starts[-1] == len(entries)
