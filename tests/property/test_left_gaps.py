"""Gaps move left as the oracle says, and alignments stay alignments of the same bases."""

from itertools import groupby, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.left_gaps import align_left
from tests.oracle import mapping as oracle
from tests.read_sets import reads_of, reverse_complement
from tests.tries import tries

CODES = {"I": 1, "D": 2, "=": 7, "X": 8}
COLUMNS = st.lists(st.tuples(st.sampled_from("PPPPID"), st.sampled_from("AAACN")), min_size=1, max_size=40)


def alignment(columns):
    """Query, target and letters of columns: a pair of a base with an A, or a base without a partner."""
    query = "".join(base for kind, base in columns if kind != "D")
    target = "".join("A" if kind == "P" else base for kind, base in columns if kind != "I")
    letters = "".join("=X"[base != "A"] if kind == "P" else kind for kind, base in columns)
    return query, target, letters


def packed(letters):
    return np.array([len(list(run)) << 4 | CODES[kind] for kind, run in groupby(letters)], np.uint32)


@settings(max_examples=tries(300), deadline=None)
@given(cases=st.lists(st.tuples(COLUMNS, st.booleans(), st.integers(0, 3)), min_size=1, max_size=4))
def test_gaps_move_as_in_the_oracle(cases):
    made = [alignment([("P", "A"), *columns, ("P", "A")]) for columns, _, _ in cases]
    before = [number for _, _, number in cases]
    reverse = np.array([turned for _, turned, _ in cases])
    queries = ["C" * n + query for (query, _, _), n in zip(made, before, strict=True)]
    targets = ["C" * n + target for (_, target, _), n in zip(made, before, strict=True)]
    reads = [reverse_complement(q) if turned else q for q, turned in zip(queries, reverse, strict=True)]
    rows = np.array(
        [(n, len(q), n, len(t)) for n, q, t in zip(before, queries, targets, strict=True)], np.int64
    )
    runs = [packed(letters) for _, _, letters in made]
    expected = [
        oracle.with_gaps_left(query, target, tuple(row), letters)
        for query, target, row, (_, _, letters) in zip(queries, targets, rows.tolist(), made, strict=True)
    ]
    numbers = np.arange(len(cases))
    cigar, offsets = align_left(
        PackedReads.of(reads_of(reads)), PackedReads.of(reads_of(targets)), numbers, numbers, reverse, rows,
        np.concatenate(runs), np.cumsum([0, *map(len, runs)]),
    )  # fmt: skip
    for number, (interval, letters) in enumerate(expected):
        found = cigar[offsets[number] : offsets[number + 1]]
        assert all(a & 15 != b & 15 for a, b in pairwise(found.tolist()))
        assert "".join("MIDNSHP=X"[run & 15] * (run >> 4) for run in found.tolist()) == letters
        assert tuple(rows[number].tolist()) == interval
        _, _, given_letters = made[number]
        assert letters.count("=") == given_letters.count("=")
        assert letters[0] in "=X"


def test_the_oracle_moves_gaps_to_their_first_place():
    def moved(query, target, letters):
        return oracle.with_gaps_left(query, target, (0, len(query), 0, len(target)), letters)

    assert moved("ACGTTTC", "ACGTTTTC", "======D=") == ((0, 7, 0, 8), "===D====")
    assert moved("GCACACAT", "GCACAT", "=====II=") == ((0, 8, 0, 6), "=II=====")
    assert moved("AAAC", "AAC", "==I=") == ((1, 4, 0, 3), "===")
    assert moved("GTAAAC", "GTAC", "==I=I=") == ((0, 6, 0, 4), "==II==")
    assert moved("GCAAT", "GAAAAT", "=X=DD==") == ((0, 5, 0, 6), "=XDD===")
