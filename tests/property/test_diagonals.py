"""The diagonals of seeds are those that counting them one by one gives."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlapper.kernels.chain.diagonals import seed_diagonals

POSITION = st.integers(0, 12)
CANDIDATES = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(POSITION, POSITION), max_size=12)), max_size=6
)
LAST = 2**31 - 40


@given(CANDIDATES, st.sampled_from([12, LAST]))
def test_diagonals_of_seeds(candidates, last):
    expected = []
    for number, (reverse, hits) in enumerate(candidates):
        counted = Counter((last - t if reverse else t) - q for q, t in hits)
        expected += [(number, diagonal, seeds) for diagonal, seeds in sorted(counted.items())]
    hits = np.array([hit for _, hits in candidates for hit in hits], np.int32).reshape(-1, 2)
    found = seed_diagonals(
        np.cumsum([0, *(len(hits) for _, hits in candidates)]),
        hits[:, 0].copy(),
        hits[:, 1].copy(),
        np.array([reverse for reverse, _ in candidates], bool),
        np.full(len(candidates), last, np.int64),
    )
    assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == expected
