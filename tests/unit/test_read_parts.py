"""Parts of reads as reads of their own."""

import dataclasses

import numpy as np
import pytest

from overlapper.sketch.read_parts import cut_out, intervals_of
from overlapper.tables import Reads


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_the_bases_of_the_intervals(seed):
    """Of reads with unknown bases and without, from any place of a word on."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ACGTN"), rng.integers(140), p=[0.249] * 4 + [0.004])) for _ in range(9)]
    reads = Reads.from_sequences(texts, texts)
    read = rng.integers(9, size=30)
    start = (rng.random(30) * (reads.lengths[read] + 1)).astype(np.int64)
    end = start + (rng.random(30) * (reads.lengths[read] - start + 1)).astype(np.int64)
    expected = [texts[i][a:b] for i, a, b in zip(read, start, end, strict=True)]
    found = cut_out(reads, read, start, end)
    for name, column in vars(Reads.from_sequences([""] * 30, expected)).items():
        np.testing.assert_array_equal(getattr(found, name), column)


def test_qualities_go_along():
    reads = Reads.from_sequences("ab", ["ACGTACGT", "CCGG"])
    reads = dataclasses.replace(
        reads, qualities=np.arange(8, dtype=np.uint8), quality_offsets=np.array([0, 8, 8])
    )
    found = intervals_of(reads, np.array([2, 1]), np.array([7, 3]))
    assert [found.sequence(i) for i in range(2)] == ["GTACG", "CG"]
    assert found.qualities_of(0).tolist() == [2, 3, 4, 5, 6] and found.qualities_of(1) is None
