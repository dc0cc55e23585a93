"""Places of a reference whose surroundings occur elsewhere in it with another base between them.

``docs/algorithms/evaluation.md`` has the definition. A k-mer is hashed without its middle base
(`overlapper.kernels.seeds.counting.canonical_kmers`); a table of a slice of hashes, as in
`overlapper.kernels.seeds.kmer_table`, holds which middle bases each has, a bit a base, on the canonical
strand.
"""

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.packed import base_at
from overlapper.kernels.seeds.counting import NONE
from overlapper.kernels.seeds.kmer_table import CHUNK, choose, hash_chunk, new_chunk, row_of
from overlapper.runtime.compile.cache import njit

_ONE = np.uint64(1)
_FIRST_ROOM = 64


@njit(nogil=True, cache=True, forceinline=True)
def _middle(spans, span, first, k, reverse):
    """Return the middle base, on the canonical strand, of the k-mer at a base of a span's sequence."""
    base = base_at(spans.words[spans.first_word[span] :], first + k // 2)
    return 3 - base if reverse else base


@njit(nogil=True, cache=True)
def add_flanks(table, spans, k, kept, low, high):
    """Add the k-mers of all spans that lie in the slice ``[low, high)``.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        With more rows than there are k-mers; full of `NONE` before.
    spans : kmer_table.Spans
    k : int
        Odd.
    kept, low, high : uint64
        ``kept`` without the bits of the middle base.
    """
    hashes, reverse, chosen = new_chunk()
    for span in range(len(spans.start)):
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, kept, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, low, high - low, chosen)]:
                row = row_of(table, hashes[i])
                bit = _ONE << np.uint64(_middle(spans, span, at + i, k, reverse[i]))
                if table[row, 0] == NONE:
                    table[row, 0], table[row, 1] = hashes[i], bit
                else:
                    table[row, 1] |= bit


@njit(nogil=True, cache=True)
def find_sites(table, spans, k, kept, low, high):
    """Find the sites of a slice, the table of which is complete.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Sequence; place of the middle base; the other bases on the forward strand, a bit each.
    """
    hashes, reverse, chosen = new_chunk()
    sites = np.empty((_FIRST_ROOM, 3), np.int64)
    found = 0
    for span in range(len(spans.start)):
        offset = spans.place[span] - spans.start[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, kept, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, low, high - low, chosen)]:
                bases = np.int64(table[row_of(table, hashes[i]), 1])
                others = bases & ~(1 << _middle(spans, span, at + i, k, reverse[i]))
                if others == 0:
                    continue
                if reverse[i]:
                    others = (others & 1) << 3 | (others & 2) << 1 | (others & 4) >> 1 | others >> 3
                if found == len(sites):
                    sites = grow_rows(sites, 2 * found)
                sites[found, 0], sites[found, 1] = spans.sequence[span], offset + at + i + k // 2
                sites[found, 2] = others
                found += 1
    return sites[:found].copy()
