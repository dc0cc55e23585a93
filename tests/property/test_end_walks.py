"""Walks to read ends equal their oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.chain.end_walks import LANES, EndScheme, walk_ends
from overlapper.kernels.common.walks import PackedReads, Seeds
from tests.oracle import chain as oracle
from tests.read_sets import mutated, random_text, reads_of, reverse_complement
from tests.tries import tries

K = 12


def pair(rng):
    """Return a query and a target on its strand that share a seed, and where the seed starts on each."""
    seed = random_text(rng, K)
    query = [random_text(rng, int(rng.integers(0, 420))) for _ in range(2)]
    rate = rng.choice([0, 0.1, 0.3])
    target = [mutated(rng, side, rate) for side in query]
    for side in range(2):
        kind = rng.integers(6)
        at = int(rng.integers(len(target[side]) + 1))
        if kind == 0:  # Unrelated from somewhere on.
            target[side] = target[side][:at] + random_text(rng, 300)
        elif kind == 1:  # A gap that a tile may or may not bridge.
            target[side] = target[side][: max(0, at - int(rng.integers(40)))] + target[side][at:]
        elif kind == 2:
            target[side] = target[side][:at] + random_text(rng, int(rng.integers(40))) + target[side][at:]
        elif kind == 3:
            target[side] = target[side][:at]
        elif kind == 4:
            target[side] = target[side][:at] + "N" * int(rng.integers(90)) + target[side][at + 30 :]
        else:
            query[side] = query[side][:at] + "N" * int(rng.integers(9)) + query[side][at:]
    return query[0] + seed + query[1], target[0] + seed + target[1], len(query[0]), len(target[0])


@settings(max_examples=tries(25), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    pairs=st.integers(1, 12),
    end_edits=st.sampled_from([20, 45, 60, 100]),
    end_drop=st.sampled_from([0, 2, 12, 1000]),
)
def test_walks_equal_the_oracle(seed, pairs, end_edits, end_drop):
    rng = np.random.default_rng(seed)
    texts, places, expected = [], [], []
    for number in range(pairs):
        query, target, x, y = pair(rng)
        for q, t in ((query[:x][::-1], target[:y][::-1]), (query[x + K :], target[y + K :])):
            expected.append(oracle.walk(q, t, end_edits, end_drop))
        reverse = bool(rng.integers(2))
        texts += [query, reverse_complement(target) if reverse else target]
        places.append((2 * number, 2 * number + 1, reverse, x, len(target) - K - y if reverse else y))
    reads = reads_of(texts)
    packed = PackedReads.of(reads)
    query, target, reverse, x, y = (np.array(column) for column in zip(*places, strict=True))
    query, target = query.astype(np.int32), target.astype(np.int32)
    items = rng.permutation(2 * pairs)
    walked = walk_ends(
        LANES, packed, Seeds(query, target, reverse, x, y, K), items, EndScheme(end_edits, end_drop)
    )
    assert [tuple(row) for row in walked.tolist()] == [expected[item] for item in items]
