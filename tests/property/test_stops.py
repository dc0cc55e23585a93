import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.extend import stops
from overlapper.extend.stops import Stops
from overlapper.params.stages import ClassParams
from overlapper.tables import Overlaps
from tests.oracle import stops as oracle
from tests.tries import tries

READS = 5
BORDERS = st.sampled_from([0, 90, 300, 700, 1100, 1101, 1500, 1990, 2600])


@st.composite
def read_sets(draw):
    """Return lengths of a few reads, and overlaps whose ends often lie at the same places."""
    lengths = draw(st.lists(st.integers(1, 3000), min_size=READS, max_size=READS))
    rows = []
    for _ in range(draw(st.integers(0, 25))):
        query = draw(st.integers(0, READS - 2))
        target = draw(st.integers(query + 1, READS - 1))
        intervals = []
        for read in (query, target):
            start, end = sorted(draw(st.tuples(BORDERS, BORDERS)))
            start, end = (place + draw(st.integers(0, 3)) for place in (start, end))
            end = max(1, min(end, lengths[read]))
            intervals += [min(start, end - 1), end]
        rows.append((query, target, draw(st.booleans()), *intervals))
    return lengths, rows


def table(rows):
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    zeros = np.zeros(columns.shape[1])
    return Overlaps(
        query=columns[0], target=columns[1], reverse=columns[2],
        q_start=columns[3], q_end=columns[4], t_start=columns[5], t_end=columns[6],
        matches=zeros, block_length=zeros, score=zeros, seeds=zeros, divergence=zeros, kind=zeros,
    )  # fmt: skip


def judged(parts, lengths, params, threads=1):
    found = Stops(np.array(lengths), params)
    for part in parts:
        found.add(part, threads)
    found.summarise(parts)
    return np.concatenate([np.empty(0, bool), *(found.internal(part) for part in parts)]).tolist()


@settings(max_examples=tries(200), deadline=None)
@given(read_sets(), st.sampled_from([0, 50, 400]), st.sampled_from([0.0, 0.5, 0.8]), st.booleans())
def test_equals_the_oracle(read_set, max_hang, min_ratio, contained):
    lengths, rows = read_set
    params = ClassParams(max_hang=max_hang, min_ratio=min_ratio, contained_in_repeats=contained)
    expected = oracle.internal(rows, lengths, max_hang, min_ratio, contained)
    assert judged([table(rows)], lengths, params) == expected


@settings(max_examples=tries(100), deadline=None)
@given(read_sets(), st.sampled_from([0, 50, 400]))
def test_what_is_internal_could_be_told_before_all_were_known(read_set, max_hang):
    lengths, rows = read_set
    found = Stops(np.array(lengths), ClassParams(max_hang=max_hang))
    internal = np.array(oracle.internal(rows, lengths, max_hang, 0.5), bool)
    assert not (internal & ~found.may_be_internal(table(rows))).any()


@settings(max_examples=tries(100), deadline=None)
@given(read_sets(), st.integers(0, 25), st.integers(0, 2**32 - 1))
def test_does_not_depend_on_parts_nor_on_the_order_of_reads(read_set, cut, seed):
    lengths, rows = read_set
    params = ClassParams(max_hang=50)
    whole = table(rows)
    expected = judged([whole], lengths, params)
    parts = [
        whole.take(np.arange(min(cut, len(rows)))),
        whole.take(np.arange(min(cut, len(rows)), len(rows))),
    ]
    assert judged(parts, lengths, params) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stops, "_FEW_TO_ADD", 0)
        assert judged(parts, lengths, params, threads=3) == expected

    numbers = np.random.default_rng(seed).permutation(READS)
    renumbered = whole.renumber(numbers)
    moved = np.empty(READS, int)
    moved[numbers] = lengths
    assert judged([renumbered], moved, params) == expected


def with_a_repeat(copies, depth=3):
    """Return lengths and overlaps of reads of 8 kb, which end or begin with 2 kb of copies of a repeat."""
    numbers = iter(range(2 * copies * depth))
    left, right = ([[next(numbers) for _ in range(depth)] for _ in range(copies)] for _ in range(2))
    rows = []
    for one, other in itertools.product(range(copies), repeat=2):
        rows += [(a, b, False, 6000, 8000, 0, 2000) for a in left[one] for b in right[other]]
    for reads in left + right:
        rows += [(*pair, False, 0, 7000, 1000, 8000) for pair in itertools.combinations(reads, 2)]
    return [8000] * (2 * copies * depth), rows


@pytest.mark.parametrize(("copies", "are_internal"), [(1, False), (2, False), (5, True)])
def test_dovetails_within_a_repeat_of_many_copies_are_internal(copies, are_internal):
    lengths, rows = with_a_repeat(copies)
    within = [are_internal and row[3] == 6000 for row in rows]
    assert judged([table(rows)], lengths, ClassParams()) == oracle.internal(rows, lengths, 100, 0.5) == within


@pytest.mark.parametrize(("copies", "are_internal"), [(1, False), (5, True)])
def test_reads_within_a_repeat_of_many_copies_keep_only_what_nothing_lies_beside(copies, are_internal):
    lengths, rows = with_a_repeat(copies)
    inside = range(len(lengths), len(lengths) + 2)
    beside = [(a, b, False, 6000, 8000, 0, 2000) for a in range(len(lengths) // 2) for b in inside]
    alone = [(*inside, False, 0, 2000, 0, 2000)]
    within = [are_internal and row[3] == 6000 for row in rows + beside] + [False]
    rows = rows + beside + alone
    lengths = [*lengths, 2000, 2000]
    assert judged([table(rows)], lengths, ClassParams()) == oracle.internal(rows, lengths, 100, 0.5) == within
    assert not Stops(np.array(lengths), ClassParams()).may_be_internal(table(alone)).any()
    dovetails = [inside and row not in beside for row, inside in zip(rows, within, strict=True)]
    params = ClassParams(contained_in_repeats=True)
    assert (
        judged([table(rows)], lengths, params) == oracle.internal(rows, lengths, 100, 0.5, True) == dovetails
    )


def with_a_rearrangement(molecules, depth):
    """Return lengths and overlaps of reads of 4 kb, some of which go on elsewhere beyond the same base."""
    rearranged = range(depth, depth + molecules)
    alike = (itertools.combinations(reads, 2) for reads in (range(depth), rearranged))
    rows = [(*pair, False, 0, 3500, 500, 4000) for pair in itertools.chain(*alike)]
    rows += [(a, b, False, 0, 2000, 500, 2500) for a in range(depth) for b in rearranged]
    return [4000] * (depth + molecules), rows


@pytest.mark.parametrize(
    ("molecules", "depth", "are_internal"), [(2, 20, False), (2, 12, True), (4, 40, False), (5, 50, True)]
)
def test_reads_of_few_rearranged_molecules_keep_their_overlaps(molecules, depth, are_internal):
    lengths, rows = with_a_rearrangement(molecules, depth)
    stopping = [are_internal and row[4] == 2000 for row in rows]
    assert (
        judged([table(rows)], lengths, ClassParams()) == oracle.internal(rows, lengths, 100, 0.5) == stopping
    )


def test_what_the_least_number_is_at_borders_and_among_errors():
    found = Stops(np.array([1]), ClassParams())
    for levels, others, least in (
        ((0, 0, 0), 0.0, 1), ((100, 90, 5000), 0.3, 1), ((100, 10, 500), 0.01, 2), ((100, 15, 500), 0.15, 3),
        ((100, 60, 40), 0.6, 4),
    ):  # fmt: skip
        found._levels[:] = levels
        found._others = others
        assert found.least == oracle.least_number(*levels, others) == least
