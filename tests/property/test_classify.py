import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.extend.classify import classify
from overlapper.tables import OverlapClass, Overlaps
from tests.oracle import classify as oracle
from tests.tries import tries

NEAR_AN_END = st.one_of(st.integers(0, 6), st.integers(0, 100_000))


@st.composite
def rows(draw):
    """One pair: query length, target length, strand, and an interval on each."""
    parts = [(draw(NEAR_AN_END), draw(st.integers(1, 40)), draw(NEAR_AN_END)) for _ in range(2)]
    (q_left, q_match, q_right), (t_left, t_match, t_right) = parts
    return (
        q_left + q_match + q_right, t_left + t_match + t_right, draw(st.booleans()),
        q_left, q_left + q_match, t_left, t_left + t_match,
    )  # fmt: skip


def table(pairs):
    columns = np.array(pairs, np.int64).reshape(-1, 7).T
    n = columns.shape[1]
    lengths = columns[:2].T.ravel()
    zeros = np.zeros(n)
    overlaps = Overlaps(
        query=np.arange(n) * 2, target=np.arange(n) * 2 + 1, reverse=columns[2],
        q_start=columns[3], q_end=columns[4], t_start=columns[5], t_end=columns[6],
        matches=zeros, block_length=zeros, score=zeros, seeds=zeros, divergence=zeros, kind=zeros,
    )  # fmt: skip
    return overlaps, lengths


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(rows(), max_size=20), st.integers(0, 10), st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.9, 1.0]))
def test_equals_the_oracle(pairs, max_hang, min_ratio):
    overlaps, lengths = table(pairs)
    kinds = classify(overlaps, lengths, max_hang, min_ratio)
    assert kinds.tolist() == [oracle.classify(*pair, max_hang, min_ratio) for pair in pairs]


@settings(max_examples=tries(200), deadline=None)
@given(st.lists(rows(), min_size=1, max_size=20), st.integers(0, 10))
def test_does_not_depend_on_which_read_is_the_query(pairs, max_hang):
    swapped = [(tl, ql, rev, ts, te, qs, qe) for ql, tl, rev, qs, qe, ts, te in pairs]
    other = {
        OverlapClass.QUERY_CONTAINED: OverlapClass.TARGET_CONTAINED,
        OverlapClass.TARGET_CONTAINED: OverlapClass.QUERY_CONTAINED,
    }
    for pair, kind, mirrored in zip(
        pairs, classify(*table(pairs), max_hang, 0.5), classify(*table(swapped), max_hang, 0.5), strict=True
    ):
        same_extent_and_length = pair[0] == pair[1] and kind != OverlapClass.DOVETAIL and kind == mirrored
        assert mirrored == other.get(kind, kind) or same_extent_and_length
