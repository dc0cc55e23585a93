import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.cpu import pileup
from tests.graph_cases import overlap_table
from tests.oracle import pileup as oracle

LENGTH = 30
INTERVALS = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 20)).map(
    lambda p: (p[0], min(p[0] + p[1], LENGTH))
)
CIGARS = st.lists(st.tuples(st.integers(1, 6), st.sampled_from("=XIDM=")), min_size=1, max_size=8)
CODE = {letter: code for code, letter in enumerate("MIDNSHP=X")}


def by_read(piles):
    offsets = np.cumsum([0] + [len(pile) for pile in piles])
    flat = np.array([interval for pile in piles for interval in pile], np.int32).reshape(-1, 2)
    return offsets, flat[:, 0].copy(), flat[:, 1].copy()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(INTERVALS, max_size=8), max_size=4), st.integers(1, 4))
def test_covered_equals_the_oracle(piles, min_depth):
    opens = [sorted(start for start, _ in pile) for pile in piles]
    closes = [sorted(end for _, end in pile) for pile in piles]
    offsets = np.cumsum([0] + [len(pile) for pile in piles])
    flat = [np.array([x for pile in ends for x in pile], np.int32) for ends in (opens, closes)]
    found = pileup.covered(offsets, *flat, min_depth)
    expected = [sum(oracle.covered(pile, LENGTH, min_depth), ()) for pile in piles]
    assert [tuple(row) for row in found.tolist()] == expected


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.lists(INTERVALS, max_size=8), INTERVALS), min_size=1, max_size=3), st.integers(1, 6)
)
def test_grown_equals_the_oracle(reads, reach):
    low = np.array([core[0] for _, core in reads], np.int32)
    high = np.array([core[1] for _, core in reads], np.int32)
    found = pileup.grown(*by_read([pile for pile, _ in reads]), low, high, reach)
    expected = [oracle.grown(pile, *core, reach) for pile, core in reads]
    assert list(zip(*(ends.tolist() for ends in found), strict=True)) == expected


@st.composite
def overlap_rows(draw, max_reads=3):
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        q, t = sorted(draw(st.lists(st.integers(0, max_reads - 1), min_size=2, max_size=2, unique=True)))
        rows.append((q, t, draw(st.booleans()), *draw(INTERVALS), *draw(INTERVALS)))
    return sorted(rows)


def columns(rows):
    o = overlap_table(rows)
    return o.query, o.target, o.reverse, o.q_start, o.q_end, o.t_start, o.t_end


@settings(max_examples=200, deadline=None)
@given(overlap_rows(), st.lists(INTERVALS, min_size=3, max_size=3), st.integers(0, 10))
def test_opposed_ends_equal_the_oracle(rows, kept, hang):
    lengths = [LENGTH, LENGTH + 3, LENGTH + 10]
    low, high = (np.array(ends, np.int32) for ends in zip(*kept, strict=True))
    found = pileup.opposed_ends(*columns(rows), np.array(lengths), low, high, hang)
    assert found.tolist() == oracle.opposed_ends(rows, lengths, low, high, hang)


@settings(max_examples=200, deadline=None)
@given(overlap_rows(max_reads=2))
def test_shadowed_equals_the_oracle(rows):
    assert pileup.shadowed(*columns(rows)).tolist() == oracle.shadowed(rows)


@settings(max_examples=100, deadline=None)
@given(overlap_rows(max_reads=2), st.randoms())
def test_order_within_pairs_sorts(rows, random):
    groups = {}
    for row in rows:
        groups.setdefault(row[:3], []).append(row)
    for group in groups.values():
        random.shuffle(group)
    shuffled = [row for group in groups.values() for row in group]
    q, t, reverse, q_start, q_end, t_start, t_end = columns(shuffled)
    order = pileup.order_within_pairs(q, t, reverse, q_start, t_start, q_end, t_end)
    by_interval = [sorted(group, key=lambda r: (r[3], r[5], r[4], r[6])) for group in groups.values()]
    assert [shuffled[i] for i in order] == [row for group in by_interval for row in group]


@settings(max_examples=300, deadline=None)
@given(CIGARS, st.booleans(), st.integers(0, 5), st.integers(0, 5), INTERVALS, INTERVALS)
def test_cut_aligned_equals_the_oracle(cigar, reverse, q_start, t_start, q_bounds, t_bounds):
    t_end = t_start + sum(size for size, letter in cigar if letter != "I")
    packed = np.array([size << 4 | CODE[letter] for size, letter in cigar], np.uint32)
    found = pileup.cut_aligned(
        np.array([reverse]), np.array([q_start]), np.array([t_start]), np.array([t_end]), packed,
        np.array([0, len(packed)]), np.array([0]), *(np.array([x]) for x in (*q_bounds, *t_bounds)),
    )  # fmt: skip
    expected = oracle.cut_aligned(reverse, q_start, t_start, t_end, cigar, *q_bounds, *t_bounds)
    assert tuple(found[:, 0].tolist()) == expected


@settings(max_examples=300, deadline=None)
@given(st.booleans(), st.integers(0, 9), st.integers(0, 9), st.integers(1, 40), INTERVALS, INTERVALS)
def test_cut_linear_equals_cut_aligned_without_gaps(reverse, q_start, t_start, size, q_bounds, t_bounds):
    q_end, t_end = q_start + size, t_start + size
    found = pileup.cut_linear(
        *(np.array([x]) for x in (reverse, q_start, q_end, t_start, t_end, *q_bounds, *t_bounds))
    )
    expected = oracle.cut_aligned(reverse, q_start, t_start, t_end, [(size, "M")], *q_bounds, *t_bounds)
    assert tuple(found[:, 0].tolist()) == expected


@settings(max_examples=200, deadline=None)
@given(st.booleans(), INTERVALS, INTERVALS, INTERVALS, INTERVALS)
def test_cut_linear_stays_inside(reverse, query, target, q_bounds, t_bounds):
    found = pileup.cut_linear(*(np.array([x]) for x in (reverse, *query, *target, *q_bounds, *t_bounds)))
    q_start, q_end, t_start, t_end = found[:, 0].tolist()
    if q_end > q_start:
        assert max(query[0], q_bounds[0]) <= q_start < q_end <= min(query[1], q_bounds[1])
        assert max(target[0], t_bounds[0]) <= t_start < t_end <= min(target[1], t_bounds[1])


@settings(max_examples=200, deadline=None)
@given(overlap_rows(), st.lists(st.integers(-1, LENGTH), min_size=3, max_size=3))
def test_palindromes_equal_the_oracle(rows, junctions):
    found = pileup.palindromes(*columns(rows), np.array(junctions))
    assert found.tolist() == oracle.palindromes(rows, junctions)
