"""Reads laid on targets by the finder and the chain extender (``docs/algorithms/correction.md``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from overlapper.candidates.registry import finder
from overlapper.correct.pileups import Rows
from overlapper.extend import chain
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.classify import classify
from overlapper.overlap.presets import ErrorRate, preset_params
from overlapper.params.stages import Params
from overlapper.runtime.messages import Report
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads
from overlapper.tables.samples import spread

SAMPLE_TARGETS = 16

Laid = tuple[Overlaps, np.ndarray]
"""Overlaps of reads with a target, which is the query, and a mask of the internal matches."""


def rows_on(targets: Reads, reads: Reads, rate: ErrorRate, threads: int, report: Report) -> Rows:
    """Lay reads on targets, with at most one row for each pair.

    Parameters
    ----------
    targets, reads : Reads
    rate : ErrorRate
        Of the reads.
    threads : int
    report : callable
    """
    report("choosing parameters", 0, 0)
    params, _ = preset_params(reads, rate, threads)
    together = Reads.concat([targets.bases_alone(), reads.bases_alone()])
    report("seeding", 0, 0)
    find, n = finder(params.finder).prepare(together, params, threads).find, len(targets)
    sampled = Candidates.concat([of_reads(find(t, t + 1), n) for t in sample_targets(n).tolist()])
    params = chain.with_typical(params, [chain.agreements(together, sampled, params.chain)])
    return rows_of_laid(reported(laid(together, find, n, params, threads), n, report), n)


def sample_targets(n: int) -> np.ndarray:
    """Return the targets on which the typical agreement of chains is measured, evenly spread."""
    return spread(n, SAMPLE_TARGETS)


def of_reads(candidates: Candidates, first_read: int) -> Candidates:
    """Return the candidates of targets with reads; those of two targets are left out."""
    return candidates.take(candidates.target >= first_read)


def laid(
    together: Reads, find: Callable[[int, int], Candidates], n: int, params: Params, threads: int
) -> Iterator[Laid]:
    """Yield the overlaps of reads with each of ``n`` targets.

    Parameters
    ----------
    together : Reads
        Targets, then reads.
    find : callable
        ``find(start, stop)`` returns the candidates of a range of targets.
    n : int
    params : Params
    threads : int
    """

    def work(target: int) -> Laid:
        overlaps, _ = chain.extend(together, of_reads(find(target, target + 1), n), params.chain, 1)
        long = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        kept = best_of_pair(overlaps, long >= params.classes.min_overlap)
        inner = classify(overlaps, together.lengths) == OverlapClass.INTERNAL
        return overlaps.take(kept), inner[kept]

    return map_in_order(work, range(n), threads)


def reported(parts: Iterable[Laid], n: int, report: Report) -> Iterator[Laid]:
    """Yield parts, and report progress after each."""
    for done, part in enumerate(parts):
        yield part
        report("laying reads on windows", done + 1, n)


def rows_of_laid(parts: Iterable[Laid], first_read: int) -> Rows:
    """Return the rows of all reads on targets, but for those of `bettered`.

    Parameters
    ----------
    parts : iterable of Laid
    first_read : int
        Number of targets, which come before the reads.
    """
    rows, inner = [], []
    for found, internal in parts:
        rows.append(
            Rows(
                found.query, found.target - first_read, found.reverse,
                found.q_start, found.q_end, found.t_start, found.t_end, found.score, found.divergence,
            )
        )  # fmt: skip
        inner.append(internal)
    together = Rows.concat(rows)
    return together.take(~bettered(together, np.concatenate(inner)))


def bettered(rows: Rows, internal: np.ndarray) -> np.ndarray:
    """Return a mask of internal matches that share half of their read's interval or more with a better row.

    A true match stops short at a bad end of the read. So does a match with another copy of a repeat, but then
    the read has a better row where it comes from.

    Parameters
    ----------
    rows : Rows
    internal : ndarray of bool, shape (n,)
        Which rows end within both the target and the read.
    """
    order = np.lexsort((rows.target, rows.r_start, rows.r_end, -rows.score, rows.read))
    read, start, end = rows.read[order], rows.r_start[order], rows.r_end[order]
    first = np.searchsorted(read, read)
    worse = np.zeros(len(rows), bool)
    for i in np.flatnonzero(internal[order]):
        better = slice(first[i], i)
        shared = np.minimum(end[better], end[i]) - np.maximum(start[better], start[i])
        worse[order[i]] = 2 * shared.max(initial=0) >= end[i] - start[i]
    return worse
