"""The sparse product A·Aᵀ of reads x k-mers, block by block of rows (`overlapper.candidates.spgemm`)."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params.stages import SpgemmParams
from overlapper.runtime.threads import cut_evenly, for_each
from overlapper.tables import Candidates, Seeding

_PRODUCTS_PER_BLOCK = 1 << 19
_ROW_BASES_PER_TASK = 1 << 23


@dataclasses.dataclass
class Rows:
    """The rows of A."""

    starts: np.ndarray
    """int64, shape (reads + 1,); where the row of each read starts."""
    entries: np.ndarray
    behind: np.ndarray
    """`entries`, `behind`: shape (n,); as `overlapper.kernels.candidates.spgemm.transpose` makes them, sorted
    by position."""
    positions: np.ndarray
    """int32, shape (n,); of the entries."""
    products: np.ndarray
    """int64, shape (reads,); position pairs of each row."""


def build_rows(
    column_offsets: np.ndarray, occurrences: np.ndarray, lengths: np.ndarray, queries: int, threads: int
) -> Rows:
    """Build the rows of A from its columns.

    Parameters
    ----------
    column_offsets, occurrences : ndarray of int64
        As in `overlapper.sketch.counting.KmerCounts`.
    lengths : ndarray of int64, shape (reads,)
    queries : int
        Number of reads whose rows will be multiplied; the rows of later reads are left unsorted.
    """
    from overlapper.kernels.candidates.spgemm import sort_rows, transpose

    starts, entries, behind = transpose(column_offsets, occurrences, len(lengths))
    positions, products = np.empty(len(entries), np.int32), np.zeros(len(lengths), np.int64)
    bounds = cut_evenly(lengths[:queries], _ROW_BASES_PER_TASK)

    def sort(block: int) -> None:
        sort_rows(
            occurrences, starts, entries, behind,
            bounds[block], bounds[block + 1], lengths, positions, products,
        )  # fmt: skip

    for_each(sort, range(len(bounds) - 1), threads)
    return Rows(starts, entries, behind, positions, products)


@dataclasses.dataclass
class SparseProduct:
    """Finds candidates by multiplying rows of A, the matrix of the whole read set or of two blocks of it."""

    lengths: np.ndarray
    """int64, shape (reads,)."""
    occurrences: np.ndarray
    """int64, shape (n,); the entries of A column by column, packed as `overlapper.sketch.counting.KmerCounts`
    says."""
    rows: Rows
    seeding: Seeding
    """Of all reliable k-mers of the reads."""
    kmer_length: int
    params: SpgemmParams
    first_target: int = 0
    """Reads before this one are not targets."""

    def hits_per_base(self) -> float:
        """See `QueryFinder`; hits are position pairs."""
        return int(self.rows.products.sum()) / max(1, int(self.lengths.sum()))

    def find(self, query_start: int, query_stop: int) -> Candidates:
        """See `QueryFinder`: candidates with the hits of the best bin and those near it.

        Memory is that of these candidates and of a block of position pairs.
        """
        if not 0 <= query_start <= query_stop <= len(self.lengths):
            raise ParameterError(f"queries [{query_start}, {query_stop}) of {len(self.lengths)} reads")
        bounds = query_start + cut_evenly(self.rows.products[query_start:query_stop], _PRODUCTS_PER_BLOCK)
        blocks = [self._multiply(first, last) for first, last in itertools.pairwise(bounds.tolist())]
        return Candidates.concat(blocks or [self._multiply(query_start, query_start)])

    def _multiply(self, first: int, last: int) -> Candidates:
        """Return the candidates of the rows ``[first, last)``."""
        from overlapper.kernels.candidates.spgemm import HITS, multiply_rows

        room = int(self.rows.products[first:last].sum())
        pairs = np.empty((room, HITS + 1), np.int32)
        hit_query_pos, hit_target_pos = np.empty(room, np.int32), np.empty(room, np.int32)
        candidates, hits = multiply_rows(
            self.occurrences, self.rows.starts, self.rows.entries, self.rows.behind, self.lengths,
            first, last, self.first_target, self.kmer_length, self.params.bin_size, self.params.min_kmers,
            pairs, hit_query_pos, hit_target_pos,
        )  # fmt: skip
        return Candidates.of_rows(
            pairs[:candidates, :-1], pairs[:candidates, -1], hit_query_pos[:hits].copy(),
            hit_target_pos[:hits].copy(), self.kmer_length, self.seeding,
        )  # fmt: skip
