"""The index of exact matches: built, saved, loaded and searched.

An index holds a text, of reads or of references, on both strands. It finds where reads match it exactly:

- a **MEM** is a match that can be extended neither to the left nor to the right;
- an **SMEM** is a longest match: its interval on the read lies in that of no other match. All places where
  the text has it are reported;
- **nov-SMEMs** cut the read from the left: the longest match that starts at its first base, then the longest
  one that starts where that ended, and so on.

Unknown bases match nothing, and no match crosses the border of a sequence. docs/exact-matches.md draws all of
it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from functools import partial
from typing import Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.index import store
from overlapper.index.build import build_fm_index, with_kmer_table
from overlapper.index.limits import ANY_NUMBER, check_matches, check_sample_rate
from overlapper.index.segments import Segments
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.kernels.index.mems import find_mems
from overlapper.kernels.index.smems import find_nov_smems, find_smems
from overlapper.runtime.threads import available_threads, map_in_order
from overlapper.tables import Matches, Reads


@dataclasses.dataclass(frozen=True, eq=False)
class Index:
    """FM-index of both strands of a text.

    A position in the text counts the bases of its sequences in order, unknown ones included; `place` turns it
    into a sequence and a position there.

    Attributes
    ----------
    fm : FmIndex
        The arrays.
    text : Reads
        Names and lengths of the sequences.
    """

    fm: FmIndex
    text: Reads

    @classmethod
    def build(
        cls, text: Reads, *, sample_rate: int = 8, kmer_length: int | None = None, threads: int | None = None
    ) -> Self:
        """Index the reads or references of a table.

        Parameters
        ----------
        text : Reads
        sample_rate : int
            Of how many suffix array values one is kept, a power of two: higher is smaller, and slower to
            locate.
        kmer_length : int, optional
            k of the table of the intervals of all k-mers, 1 to 13. By default about as many k-mers as the
            index has rows, 13 at most. Changes speed and memory, no result.
        threads : int, optional
            All that the process may use by default.

        Raises
        ------
        EmptyInputError
            When the text holds no known base.
        ParameterError
            When a parameter is out of range.

        Examples
        --------
        >>> text = Reads.from_sequences(["t"], ["ACGTTGCANNGATTACA"])
        >>> index = Index.build(text)
        >>> index.smems(Reads.from_sequences(["q"], ["CGATTAG"]), min_length=4).to_pandas()
           query  q_start  t_start  length  reverse
        0      0        1       10       5    False
        """
        check_sample_rate(sample_rate)
        if kmer_length is not None and not 1 <= kmer_length <= 13:
            raise ParameterError(f"kmer_length is {kmer_length}, expected 1 to 13")
        fm = build_fm_index(
            text,
            sample_shift=sample_rate.bit_length() - 1,
            kmer_length=kmer_length,
            threads=threads or available_threads(),
        )
        return cls(fm, text.heads())

    def save(self, path: str | os.PathLike) -> None:
        """Write the index to a file.

        Raises
        ------
        OutputError
            When the file cannot be written; none is left behind then.
        ParameterError
            When it is standard output, or a name that asks for compression.
        """
        with store.open_index(os.fspath(path)) as file:
            store.write(file, self.fm, self.text)

    @classmethod
    def load(cls, path: str | os.PathLike, *, threads: int | None = None) -> Self:
        """Read an index file.

        Parameters
        ----------
        path : path
        threads : int, optional
            All that the process may use by default.

        Raises
        ------
        InputError
            When the file is missing, not an index, of another version or damaged.
        """
        return cls(*store.load(path, threads or available_threads()))

    def mems(
        self, reads: Reads, min_length: int, *, most: int = ANY_NUMBER, threads: int | None = None
    ) -> Matches:
        """Find all maximal exact matches of a minimum length.

        Parameters
        ----------
        reads : Reads
        min_length : int
        most : int
            Matches; reads and a text of the same repeat have as many as the product of their lengths.
        threads : int, optional
            All that the process may use by default.

        Returns
        -------
        Matches
            In canonical order.

        Raises
        ------
        TooManyMatchesError
            When there are more than ``most``; the search ends then.
        """
        fm = self.for_length(min_length)
        return self._find(
            partial(find_mems, fm), reads, min_length, most, threads, seed_length(fm, min_length)
        )

    def smems(
        self,
        reads: Reads,
        min_length: int,
        *,
        most: int = ANY_NUMBER,
        most_places: int = ANY_NUMBER,
        threads: int | None = None,
    ) -> Matches:
        """Find super-maximal exact matches of a minimum length, with up to ``most_places`` places of each.

        As `mems`; the places are all by default.
        """
        fm = self.for_length(min_length)
        return self._find(partial(find_smems, fm), reads, min_length, most, threads, most_places)

    def nov_smems(
        self,
        reads: Reads,
        min_length: int,
        *,
        most: int = ANY_NUMBER,
        most_places: int = ANY_NUMBER,
        threads: int | None = None,
    ) -> Matches:
        """Find the greedy non-overlapping matches of a minimum length, with their places, as `smems`."""
        find = partial(find_nov_smems, self.for_length(min_length))
        return self._find(find, reads, min_length, most, threads, most_places)

    def place(self, t_start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn positions in the text into sequences and positions there.

        Parameters
        ----------
        t_start : ndarray of int64, shape (n,)

        Returns
        -------
        sequence, position : ndarray of int64, shape (n,)
        """
        ends = np.cumsum(self.text.lengths)
        sequence = np.searchsorted(ends, t_start, side="right")
        return sequence, t_start - (ends - self.text.lengths)[sequence]

    def for_length(self, min_length: int) -> FmIndex:
        """Return the index with k-mers no longer than the matches that are searched.

        Raises
        ------
        ParameterError
            When the length is below 1.
        """
        if min_length < 1:
            raise ParameterError(f"the length of matches is {min_length}, expected 1 or more")
        if min_length >= self.fm.kmer_length:
            return self.fm
        return with_kmer_table(self.fm, min_length, threads=1)

    def _find(
        self,
        kernel: Callable[..., np.ndarray],
        reads: Reads,
        min_length: int,
        most: int,
        threads: int | None,
        *arguments: int,
    ) -> Matches:
        def search(block: Segments) -> np.ndarray:
            return _in_order(
                kernel(
                    reads.words, block.packed_starts, block.lengths, block.reads, block.starts,
                    min_length, most, *arguments,
                )
            )  # fmt: skip

        blocks = Segments.of(reads, min_length).blocks()
        parts, count = [np.empty((0, 5), np.int64)], 0
        for part in map_in_order(search, blocks, threads or available_threads()):
            count += len(part)
            check_matches(count, most)
            parts.append(part)
        return _matches(np.concatenate(parts))


def seed_length(fm: FmIndex, min_length: int) -> int:
    """Return the length at which a random seed is rare in the text, or the length of matches if shorter."""
    return min(min_length, max(fm.kmer_length, fm.rows.bit_length() // 2 + 3))


def _in_order(found: np.ndarray) -> np.ndarray:
    """Return rows of `overlapper.kernels.index.mems.FOUND_COLUMNS` in canonical order."""
    return found[np.lexsort([found[:, column] for column in (4, 3, 2, 1, 0)])]


def _matches(found: np.ndarray) -> Matches:
    return Matches(
        query=found[:, 0],
        q_start=found[:, 1],
        length=found[:, 2],
        reverse=found[:, 3],
        t_start=found[:, 4],
    )
