"""Joining the k-mers of two blocks, beside plain Python."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.seeds.tile_kmers import join_kmers, keep_shared
from tests.tries import tries

READS = 5


def listed(columns):
    """Return numbers of k-mers and packed occurrences of ``{kmer: [(read, place)]}``."""
    rows = [(kmer, read << 32 | place) for kmer in sorted(columns) for read, place in sorted(columns[kmer])]
    kmers, occurrences = zip(*rows, strict=True) if rows else ((), ())
    return np.array(kmers, np.int64), np.array(occurrences, np.int64)


def columns_of(count, offsets, occurrences):
    return [occurrences[offsets[i] : offsets[i + 1]].tolist() for i in range(count)]


blocks = st.dictionaries(
    st.integers(0, 12),
    st.sets(st.tuples(st.integers(0, READS - 1), st.integers(0, 9)), min_size=1, max_size=4),
)


@settings(deadline=None, max_examples=tries(200))
@given(one=blocks, other=blocks)
def test_joined_k_mers_are_those_of_both(one, other):
    offsets, joined = np.empty(min(len(one), len(other)) + 1, np.int64), np.empty(99, np.int64)
    count = join_kmers(*listed(one), *listed(other), READS, offsets, joined)
    together = defaultdict(list)
    for kmer in sorted(one.keys() & other.keys()):
        together[kmer] += [read << 32 | place for read, place in sorted(one[kmer])]
        together[kmer] += [(read + READS) << 32 | place for read, place in sorted(other[kmer])]
    assert columns_of(count, offsets, joined) == list(together.values())


@settings(deadline=None, max_examples=tries(200))
@given(one=blocks)
def test_k_mers_that_a_block_has_twice_are_kept(one):
    kmers, occurrences = listed(one)
    offsets, kept = np.empty(len(kmers) // 2 + 1, np.int64), np.empty(99, np.int64)
    count = keep_shared(kmers, occurrences, offsets, kept)
    twice = [[read << 32 | place for read, place in sorted(one[k])] for k in sorted(one) if len(one[k]) > 1]
    assert columns_of(count, offsets, kept) == twice
