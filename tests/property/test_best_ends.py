"""The best overlaps of every read end, against the oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.extend.best_ends import BestEnds
from overlapper.tables import Overlaps
from tests.oracle import best_ends as oracle
from tests.tries import tries

READS = 5


@st.composite
def overlap_rows(draw):
    lengths = draw(st.lists(st.integers(5, 20), min_size=READS, max_size=READS))
    rows = []
    for _ in range(draw(st.integers(0, 25))):
        query = draw(st.integers(0, READS - 2))
        target = draw(st.integers(query + 1, READS - 1))
        q_start, t_start = (draw(st.integers(0, 4)) for _ in range(2))
        q_end, t_end = (draw(st.integers(5, lengths[read])) for read in (query, target))
        rows.append((query, target, draw(st.booleans()), q_start, q_end, t_start, t_end))
    scores = draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows)))
    return lengths, rows, scores


def table(rows, scores):
    columns = np.array(rows, np.int32).reshape(-1, 7).T
    names = ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end")
    zeros = np.zeros(len(rows))
    return Overlaps(
        **dict(zip(names, columns, strict=True)),
        matches=zeros, block_length=zeros, score=np.array(scores), seeds=zeros, divergence=zeros, kind=zeros,
    )  # fmt: skip


@settings(max_examples=tries(300), deadline=None)
@given(case=overlap_rows(), n=st.integers(1, 4), cut=st.integers(0, 25))
def test_the_best_are_those_of_the_definition(case, n, cut):
    lengths, rows, scores = case
    best = BestEnds(np.array(lengths), n)
    best.add(table(rows[:cut], scores[:cut]))
    best.add(table(rows[cut:], scores[cut:]))
    assert best.among(table(rows, scores)).tolist() == oracle.best(rows, scores, lengths, n)
