"""Pairwise alignment: the kernels equal the oracle, and its scores those of parasail and edlib."""

import itertools

import edlib
import hypothesis.strategies as st
import numpy as np
import parasail
import pytest
from hypothesis import given, settings

from overlapper.kernels.pairwise import pairwise as cpu
from tests.oracle import pairwise as oracle
from tests.random_pairs import random_pairs
from tests.read_sets import packed_reads
from tests.tries import tries

LETTERS = "ACGTN"


def run(pairs, scheme, bits=16, wanted=cpu.PATHS, flags=None, **options):
    """Align pairs of texts; return rows and CIGARs as text columns."""
    queries, targets = zip(*pairs, strict=True)
    number = np.arange(len(pairs), dtype=np.int32)
    flags = np.zeros((2, len(pairs)), np.uint8) if flags is None else np.array(flags, np.uint8)
    rows, cigar, offsets = cpu.align_pairs(
        packed_reads(queries), packed_reads(targets), cpu.Pairs(number, number, flags[0], flags[1]), scheme,
        bits, wanted, **options,
    )  # fmt: skip
    columns = [
        "".join("MIDNSHP=X"[run & 15] * (run >> 4) for run in cigar[a:b].tolist())
        for a, b in itertools.pairwise(offsets)
    ]
    return rows, columns


def scheme_of(rule):
    free = sum(1 << bit for bit, is_free in enumerate(rule.free) if is_free)
    return cpu.Scheme(
        np.array(rule.matrix, np.int64), rule.gap_open, rule.gap_extend, rule.local, free,
        -1 if rule.band is None else rule.band,
    )  # fmt: skip


@st.composite
def rules(draw):
    if draw(st.booleans()):
        matrix = oracle.simple_matrix(
            draw(st.integers(0, 5)), -draw(st.integers(0, 5)), -draw(st.integers(0, 3))
        )
    else:
        numbers = draw(st.lists(st.integers(-6, 5), min_size=25, max_size=25))
        matrix = tuple(tuple(numbers[5 * row : 5 * row + 5]) for row in range(5))
    local = draw(st.booleans())
    free = (False,) * 4 if local else draw(st.tuples(*[st.booleans()] * 4))
    band = draw(st.none() | st.integers(0, 12))
    return oracle.Rule(matrix, -draw(st.integers(0, 6)), -draw(st.integers(0, 3)), local, free, band)


@st.composite
def text_pairs(draw):
    """Related or unrelated, short or over more than one stripe, of few letters or many."""
    letters = st.sampled_from(draw(st.sampled_from(["ACGT", "AC", "ACGTN", "N"])))
    query = draw(st.text(letters, max_size=draw(st.sampled_from([3, 40, 70]))))
    if draw(st.booleans()):
        return query, draw(st.text(letters, max_size=40))
    edits = st.sampled_from(["", "", "", "d", "s", "i"])
    target = ""
    for base in query:
        edit = draw(edits)
        target += {"": base, "d": "", "s": draw(letters), "i": base + draw(letters)}[edit]
    return query, target


@settings(max_examples=tries(150), deadline=None)
@given(st.lists(text_pairs(), min_size=1, max_size=4), rules(), st.data())
def test_kernels_equal_the_oracle(pairs, rule, data):
    bits = data.draw(st.sampled_from([16, 32]))
    flags = data.draw(st.lists(st.integers(0, 3), min_size=2 * len(pairs), max_size=2 * len(pairs)))
    flags = np.array(flags).reshape(2, -1)
    scheme = scheme_of(rule)
    held = data.draw(st.sampled_from([0, 500, cpu.DIRECTION_WORDS]))
    rows, columns = run(pairs, scheme, bits, flags=flags, room=np.empty(held, np.uint32))
    ends, _ = run(pairs, scheme, bits, cpu.ENDS, flags=flags)
    for k, (query, target) in enumerate(pairs):
        query, target = oracle.orient(query, flags[0, k]), oracle.orient(target, flags[1, k])
        expected = oracle.align(query, target, rule)
        assert (*rows[k, :5].tolist(), columns[k]) == expected
        assert rows[k, 5:7].tolist() == [columns[k].count("="), len(columns[k])]
        assert ends[k, [0, 2, 4]].tolist() == [expected.score, expected.q_end, expected.t_end]
        part = query[expected.q_start : expected.q_end], target[expected.t_start : expected.t_end]
        assert oracle.rescore(*part, columns[k], rule) == rows[k, 0]


QUERY_START, QUERY_END, TARGET_START, TARGET_END = range(4)
PARASAIL = {
    "sw": (),
    "nw": (),
    "sg": (QUERY_START, QUERY_END, TARGET_START, TARGET_END),
    "sg_qb": (QUERY_START,),
    "sg_qe": (QUERY_END,),
    "sg_qx": (QUERY_START, QUERY_END),
    "sg_db": (TARGET_START,),
    "sg_de": (TARGET_END,),
    "sg_dx": (TARGET_START, TARGET_END),
    "sg_qb_de": (QUERY_START, TARGET_END),
    "sg_qe_db": (QUERY_END, TARGET_START),
}
"""Which ends are free in parasail's functions; it has no others."""


@pytest.mark.parametrize("name", PARASAIL)
@pytest.mark.parametrize("scores", [(1, -4, -6, -1), (2, -3, 0, -2), (5, -4, -10, -1)])
def test_scores_equal_parasail(name, scores):
    match, mismatch, gap_open, gap_extend = scores
    free = PARASAIL[name]
    pairs = random_pairs(1, 400, 150)
    rule = oracle.Rule(
        oracle.simple_matrix(match, mismatch, mismatch), gap_open, gap_extend, name == "sw",
        tuple(end in free for end in range(4)),
    )  # fmt: skip
    rows, columns = run(pairs, scheme_of(rule))
    matrix = parasail.matrix_create("ACGT", match, mismatch)
    peer = getattr(parasail, f"{name}_scan_32")
    for (query, target), row, column in zip(pairs, rows, columns, strict=True):
        assert row[0] == peer(query, target, -gap_open - gap_extend, -gap_extend, matrix).score
        assert row[0] == oracle.rescore(query[row[1] : row[2]], target[row[3] : row[4]], column, rule)


@pytest.mark.parametrize(("mode", "free"), [("NW", ()), ("SHW", (3,)), ("HW", (2, 3))])
def test_unit_costs_equal_edlib(mode, free):
    pairs = random_pairs(2, 1500, 150)
    rule = oracle.Rule(oracle.simple_matrix(0, -1, -1), 0, -1, free=tuple(end in free for end in range(4)))
    rows, _ = run(pairs, scheme_of(rule), wanted=cpu.ENDS)
    for (query, target), row in zip(pairs, rows, strict=True):
        assert -row[0] == edlib.align(query, target, mode=mode)["editDistance"]
