import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.graph.pairs import Pairs, pairs_of
from overlapper.graph.trim import trim
from overlapper.kernels.graph import folds, trimming
from overlapper.params.graph import GraphParams
from tests.graph_cases import overlap_table
from tests.oracle import trimming as oracle
from tests.tries import tries

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


@settings(max_examples=tries(200), deadline=None)
@given(st.lists(st.tuples(st.lists(INTERVALS, max_size=8), st.integers(0, 4), st.integers(1, 4)), max_size=4))
def test_covered_equals_the_oracle(reads):
    clips, depths = (np.array([read[i] for read in reads], np.int64) for i in (1, 2))
    found = trimming.covered(*by_read([pile for pile, *_ in reads]), 0, len(reads), depths, clips)
    for (pile, clip, min_depth), cores in zip(reads, found.tolist(), strict=True):
        clipped = [(a + clip, b - clip) for a, b in pile if b - a > 2 * clip]
        expected = oracle.covered(clipped, LENGTH, min_depth)
        assert cores == [x for a, b in expected for x in ((a - clip, b + clip) if b > a else (a, b))]


@settings(max_examples=tries(200), deadline=None)
@given(
    st.lists(st.tuples(st.lists(INTERVALS, max_size=8), INTERVALS, st.integers(1, 6)), min_size=1, max_size=3)
)
def test_grown_equals_the_oracle(reads):
    low = np.array([core[0] for _, core, _ in reads], np.int32)
    high = np.array([core[1] for _, core, _ in reads], np.int32)
    reach = np.array([reach for _, _, reach in reads])
    found = trimming.grown(*by_read([pile for pile, _, _ in reads]), low, high, reach)
    expected = [oracle.grown(pile, *core, reach) for pile, core, reach in reads]
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


@settings(max_examples=tries(200), deadline=None)
@given(overlap_rows(), st.lists(INTERVALS, min_size=3, max_size=3), st.integers(0, 10))
def test_opposed_ends_equal_the_oracle(rows, kept, hang):
    lengths = [LENGTH, LENGTH + 3, LENGTH + 10]
    low, high = (np.array(ends, np.int32) for ends in zip(*kept, strict=True))
    found = trimming.opposed_ends(*columns(rows), np.array(lengths), low, high, hang)
    assert found.tolist() == oracle.opposed_ends(rows, lengths, low, high, hang)


@settings(max_examples=tries(200), deadline=None)
@given(overlap_rows(max_reads=2))
def test_shadowed_equals_the_oracle(rows):
    assert trimming.shadowed(*columns(rows)).tolist() == oracle.shadowed(rows)


@settings(max_examples=tries(200), deadline=None)
@given(overlap_rows(), st.permutations(range(3)), st.randoms(), st.integers(1, 2))
def test_pairs_of_sorts_overlaps_in_terms_of_ordered_reads(rows, order, random, threads):
    random.shuffle(rows)
    rank = {read: place for place, read in enumerate(order)}
    expected = []
    for number, (q, t, reverse, q_start, q_end, t_start, t_end) in enumerate(rows):
        sides = sorted([(rank[q], q_start, q_end), (rank[t], t_start, t_end)])
        (q_new, q_first, q_last), (t_new, t_first, t_last) = sides
        place = (q_new, t_new, reverse, q_first, t_first, q_last, t_last)
        expected.append((place, number, q_new != rank[q]))
    pairs = pairs_of(overlap_table(rows), np.array(order), threads=threads)
    keys = (getattr(pairs, key) for key in (*Pairs.SORT_KEYS, "row", "swapped"))
    found = list(zip(*(column.tolist() for column in keys), strict=True))
    assert found == [(*place, number, swapped) for place, number, swapped in sorted(expected)]


@settings(max_examples=tries(300), deadline=None)
@given(CIGARS, st.booleans(), st.integers(0, 5), st.integers(0, 5), INTERVALS, INTERVALS)
def test_cut_aligned_equals_the_oracle(cigar, reverse, q_start, t_start, q_bounds, t_bounds):
    t_end = t_start + sum(size for size, letter in cigar if letter != "I")
    packed = np.array([size << 4 | CODE[letter] for size, letter in cigar], np.uint32)
    found = trimming.cut_aligned(
        np.array([reverse]), *(np.array([x], np.int32) for x in (q_start, t_start, t_end)), packed,
        np.array([0, len(packed)]), np.array([0]), *(np.array([x]) for x in (*q_bounds, *t_bounds)),
    )  # fmt: skip
    expected = oracle.cut_aligned(reverse, q_start, t_start, t_end, cigar, *q_bounds, *t_bounds)
    assert tuple(found[:, 0].tolist()) == expected


def cut_linear(reverse, query, target, q_bounds, t_bounds):
    """Cut one match of read 0 with read 1."""
    low, high = np.transpose([q_bounds, t_bounds])
    one, other, *ends = (np.array([x], np.int32) for x in (0, 1, *query, *target))
    return trimming.cut_linear(one, other, np.array([reverse]), *ends, low.copy(), high.copy())


@settings(max_examples=tries(300), deadline=None)
@given(st.booleans(), st.integers(0, 9), st.integers(0, 9), st.integers(1, 40), INTERVALS, INTERVALS)
def test_cut_linear_equals_cut_aligned_without_gaps(reverse, q_start, t_start, size, q_bounds, t_bounds):
    q_end, t_end = q_start + size, t_start + size
    found = cut_linear(reverse, (q_start, q_end), (t_start, t_end), q_bounds, t_bounds)
    expected = oracle.cut_aligned(reverse, q_start, t_start, t_end, [(size, "M")], *q_bounds, *t_bounds)
    assert tuple(found[:, 0].tolist()) == expected


@settings(max_examples=tries(200), deadline=None)
@given(st.booleans(), INTERVALS, INTERVALS, INTERVALS, INTERVALS)
def test_cut_linear_stays_inside(reverse, query, target, q_bounds, t_bounds):
    found = cut_linear(reverse, query, target, q_bounds, t_bounds)
    q_start, q_end, t_start, t_end = found[:, 0].tolist()
    if q_end > q_start:
        assert max(query[0], q_bounds[0]) <= q_start < q_end <= min(query[1], q_bounds[1])
        assert max(target[0], t_bounds[0]) <= t_start < t_end <= min(target[1], t_bounds[1])


@settings(max_examples=tries(200), deadline=None)
@given(overlap_rows(), st.lists(st.integers(-1, LENGTH), min_size=3, max_size=3))
def test_palindromes_equal_the_oracle(rows, junctions):
    found = folds.palindromes(*columns(rows), np.array(junctions))
    assert found.tolist() == oracle.palindromes(rows, junctions)


def test_a_shallow_molecule_stays_beside_a_deep_one():
    """Of 60 reads of one place all overlap, of 4 of another one, too; a bad read has 3 of the 60."""
    groups = [range(60), range(60, 64), [*range(3), 64]]
    rows = {pair for group in groups for pair in itertools.combinations(group, 2)}
    overlaps = overlap_table([(q, t, 0, 0, 3000, 0, 3000) for q, t in sorted(rows)])
    lengths = np.full(65, 3000)
    trimmed = trim(pairs_of(overlaps, np.arange(65)), overlaps, lengths, GraphParams())
    assert np.flatnonzero(trimmed.end == 0).tolist() == [64]
