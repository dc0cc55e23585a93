"""Words that the other strand contradicts: the kernel equals the oracle."""

from collections import Counter

import numpy as np
from hypothesis import example, given, settings

from overlapper.kernels.consensus.erring_words import contradicted_words
from overlapper.kernels.consensus.layers import Rows, Settings, Windows
from tests.oracle import erring_words as oracle
from tests.oracle.layer_paths import first_path
from tests.property.test_correct import MAX_GAP, NEVER, PILEUPS, K, a_pileup, table
from tests.tries import tries


def named(counts):
    """Counts by words, of those that there are."""
    return Counter(
        {
            np.base_repr(4**7 + n, 4)[1:].translate("ACGT".maketrans("0123", "ACGT")): int(counts[n])
            for n in np.flatnonzero(counts).tolist()
        }
    )


@settings(max_examples=tries(40), deadline=None)
@given(PILEUPS)
@example(a_pileup(3, 450, 0.05, 24, False, "bases", 1, True))
def test_contradicted_words_equal_the_oracle(pileup):
    target, rows = pileup
    layers = [
        {"bases": [5 if c == 4 else c for c in read], "reverse": reverse, "t_start": start, "t_end": end}
        for read, reverse, start, end in rows
    ]
    for layer in layers:
        first_path(target, layer, K, MAX_GAP, len(target) + 256)
    reads = [[3 - c if c < 4 else c for c in read[::-1]] if turned else read for read, turned, _, _ in rows]
    ends = np.array([(s, e, 0, len(read)) for read, _, s, e in rows] or np.zeros((0, 4)), np.int64)
    sequences, none = table([target, *reads], []), np.zeros(len(rows), np.int32)
    made = contradicted_words(
        sequences, sequences,
        Windows(np.array([0]), np.array([0]), np.array([len(target)]), np.array([0, len(rows)])),
        Rows(
            np.arange(1, len(rows) + 1, dtype=np.int32), np.array([turned for _, turned, _, _ in rows], bool),
            *np.ascontiguousarray(ends.T), none, none,
        ),
        Settings(
            K, MAX_GAP, 40, np.zeros((2, 2), np.int64), 10, 40, True, False, True, 64, 16, NEVER, 0, 0,
            np.zeros((2, 0), bool),
        ),
    )  # fmt: skip
    assert tuple(named(counts) for counts in made) == oracle.contradicted(target, layers)
