"""Texts too large for one index: cut into parts that are indexed in turn, with matches merged.

Parts are cut between runs of known bases, which no match crosses. Then the MEMs in a text are those in its
parts. An interval of a read is an SMEM in the text if it is one in some part and no part has a longer one
around it; its places are those in all parts. Suffix array bounds are counts of suffixes, and add up.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from overlapper.errors import DeviceError
from overlapper.index.build import index_windows, table_kmer_length
from overlapper.index.bwt import row_type
from overlapper.index.index import FixedSeeds
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Matches

SHARE = 0.7
"""Share of the memory for an index; the rest is for reads and matches."""


def index_size(bases: int, segments: int, sample_shift: int) -> int:
    """Return an upper bound of the bytes of an index, by the bases and segments of its text."""
    rows = 2 * (bases + segments)
    item = np.dtype(row_type(rows)).itemsize
    bins, samples = rows // 2, rows * item >> sample_shift
    table = 2 * item * 4 ** table_kmer_length(rows)
    return bins + samples + table + rows // 8 + 48 * segments + 4096


def cut(fm: FmIndex, memory: int) -> tuple[list[int], int]:
    """Cut a text between segments so that the index of every part fits into memory.

    Parameters
    ----------
    fm : FmIndex
        Of the whole text.
    memory : int
        Bytes.

    Returns
    -------
    bounds : list of int
        Of segments.
    size : int
        Bytes that are enough for the index of any part.

    Raises
    ------
    DeviceError
        When a single segment does not fit.
    """
    lengths = np.diff(fm.segments[:, 0]) - 1
    room, longest = int(memory * SHARE), int(lengths.max())
    if index_size(longest, 1, fm.sample_shift) > room:
        raise DeviceError(
            f"a run of {longest} known bases of the text takes "
            f"{index_size(longest, 1, fm.sample_shift) / 1e9:.3f} GB of GPU memory for its index, and "
            f"{room / 1e9:.3f} GB of {memory / 1e9:.3f} GB are for the index. "
            "Use a GPU with more memory, or the CPU"
        )
    parts = 1
    while True:
        bounds = cut_evenly(lengths, max(longest, -(-int(lengths.sum()) // parts)))
        size = max(
            index_size(int(lengths[first:last].sum()), last - first, fm.sample_shift)
            for first, last in pairwise(bounds.tolist())
        )
        if size <= room:
            return bounds.tolist(), size
        parts += 1


def index_part(fm: FmIndex, first: int, last: int, threads: int) -> FmIndex:
    """Return the index of the segments ``[first, last)`` of an indexed text.

    Parameters
    ----------
    fm : FmIndex
        Of the whole text.
    first, last : int
    threads : int
    """
    starts, shifts = fm.segments[first:last, 0], fm.segments[first:last, 1]
    lengths = fm.segments[first + 1 : last + 1, 0] - starts - 1
    return index_windows(
        fm.text, starts, lengths, starts + shifts,
        sample_shift=fm.sample_shift, kmer_length=None, threads=threads,
    )  # fmt: skip


def merge_smems(parts: list[Matches]) -> Matches:
    """Return the SMEMs of a text, given those of its parts."""
    matches = Matches.concat(parts).sort_canonical()
    if not len(matches):
        return matches
    # Longest first of those that start together; one lies in another if that one, which starts no later,
    # ends no earlier.
    q_end = matches.q_start + matches.length
    order = np.lexsort([-q_end, matches.q_start, matches.query])
    query, start, end = matches.query[order], matches.q_start[order], q_end[order]
    new_interval = np.append(True, (np.diff(query) != 0) | (np.diff(start) != 0) | (np.diff(end) != 0))
    first = np.flatnonzero(new_interval)
    span = int(end.max()) + 1
    reach = np.maximum.accumulate(query[first].astype(np.int64) * span + end[first])
    before = np.append(-1, reach[:-1])
    outside = query[first].astype(np.int64) * span + end[first] > before
    kept = np.empty(len(matches), bool)
    kept[order] = np.repeat(outside, np.diff(np.append(first, len(order))))
    return matches.take(kept)


def merge_fixed_seeds(parts: list[FixedSeeds], hit_limit: int) -> FixedSeeds:
    """Return the fixed seeds of a text, given those of its parts; limits apply to all parts together."""
    query = np.concatenate([p.matches.query for p in parts] + [p.dropped_query for p in parts])
    start = np.concatenate([p.matches.q_start for p in parts] + [p.dropped_start for p in parts])
    found = sum(len(p.matches) for p in parts)
    weights = np.concatenate([np.ones(found, np.int64)] + [p.dropped_hits for p in parts])
    order = np.lexsort([start, query])
    new_seed = np.append(True, (np.diff(query[order]) != 0) | (np.diff(start[order]) != 0))[: len(order)]
    first = np.flatnonzero(new_seed)
    hits = np.add.reduceat(weights[order], first) if len(first) else np.empty(0, np.int64)
    too_many = hits > hit_limit
    kept = np.empty(len(order), bool)
    kept[order] = np.repeat(~too_many, np.diff(np.append(first, len(order))))
    matches, mismatches = (
        Matches.concat([p.matches for p in parts]),
        np.concatenate([p.mismatches for p in parts]),
    )
    matches, mismatches = matches.take(kept[:found]), mismatches[kept[:found]]
    sort = np.lexsort([getattr(matches, key) for key in reversed(Matches.SORT_KEYS)])
    dropped = order[first[too_many]]
    return FixedSeeds(
        matches=matches.take(sort),
        mismatches=mismatches[sort],
        dropped_query=query[dropped],
        dropped_start=start[dropped],
        dropped_hits=hits[too_many],
    )
