"""Chunks hold the bases, the numbers and the classes of their pairs."""

import itertools

import numpy as np
import pytest

from overlapper.kernels.pairwise import pairwise_chunks as chunks
from overlapper.kernels.pairwise.pairwise_layout import Pairs
from tests.read_sets import packed_reads

LENGTHS = np.arange(42)
CLASSES = chunks.Classes(
    # Known ones of up to 20 bases are of class 1, of up to 40 of class 2, all others of 3 or, beyond, 4.
    np.array([np.where(LENGTHS <= 20, 1, np.where(LENGTHS <= 40, 2, -1)), np.where(LENGTHS <= 40, 3, 4)]),
    np.array([30, 1000]),
    np.array([100, 1000]),
    np.array([True, False]),
    5,
)


def text_at(chunk, word, length):
    """Read a sequence back."""
    text = ""
    for base in range(length):
        at, bit = word + base // 32, base % 32
        known = not len(chunk.unknown) or not (int(chunk.unknown[at]) >> bit) & 1
        text += "ACGT"[(int(chunk.words[at]) >> 2 * bit) & 3] if known else "N"
    return text


def class_of(query, target):
    if not query or not target:
        return 0
    known = "N" not in query + target
    if known and len(query) <= 40 and len(target) <= 100 and min(len(query), len(target)) <= 30:
        return 1 if len(query) <= 20 else 2
    return 3 if len(query) <= 40 else 4


@pytest.fixture
def texts():
    rng = np.random.default_rng(1)
    letters = [list("ACGT"), list("ACGTN")]
    return ["".join(rng.choice(letters[k % 2], rng.integers(0, 150))) for k in range(60)]


@pytest.mark.parametrize("room", [10, 1500, 1 << 20])
def test_chunks_hold_their_pairs(texts, room):
    rng = np.random.default_rng(room)
    reads = packed_reads(texts)
    query, target = rng.integers(0, 60, (2, 200)).astype(np.int32)
    flags = rng.integers(0, 4, (2, 200)).astype(np.uint8)
    pairs, begin = Pairs(query, target, *flags), 0
    while begin < 200:
        extent = chunks.extent_of(reads, reads, pairs, begin, 200, room)
        block = np.full(chunks.bytes_of(extent), 0x55, np.uint8)
        assert extent.end == begin + 1 or len(block) <= room
        chunk = chunks.chunk_in(block, extent)
        starts = chunks.pack(reads, reads, pairs, begin, CLASSES, chunk)
        some = range(begin, extent.end)
        assert extent.q_longest == max(len(texts[query[k]]) for k in some)
        assert extent.t_longest == max(len(texts[target[k]]) for k in some)
        assert extent.unknown == any("N" in texts[query[k]] + texts[target[k]] for k in some)
        offset, n, m, both_flags, order = chunk.numbers.tolist()
        for k in some:
            at = offset[k - begin]
            assert text_at(chunk, at, n[k - begin]) == texts[query[k]]
            assert text_at(chunk, at + -(-n[k - begin] // 32), m[k - begin]) == texts[target[k]]
            assert both_flags[k - begin] == flags[0, k] + 4 * flags[1, k]
        assert sorted(order) == list(range(len(some)))
        for number in range(CLASSES.total):
            members = order[starts[number] : starts[number + 1]]
            assert all(class_of(texts[query[begin + k]], texts[target[begin + k]]) == number for k in members)
            assert all(m[a] >= m[b] or m[b] < 1.2 * m[a] for a, b in itertools.pairwise(members))
        begin = extent.end
