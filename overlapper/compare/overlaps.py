"""Finders x extenders of overlaps.

Judged by placements, the scores are those of `overlapper.evaluation.overlaps`. Without placements:

- Methods report a *pair* when they report an overlap of two reads on one strand, of the minimum length or
  more on the longer of its intervals. The *consensus* is the pairs that more than half of the methods report.
- *Recall* is the share of the consensus that a method reports, *precision* the share of what it reports that
  is in the consensus.
- *End error*: the distance of either end of the query interval from the median of the methods that report the
  pair; its median over the pairs of the consensus that the method reports.

Of a pair's overlaps the longest counts, the first of equals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from overlapper.candidates.registry import finder
from overlapper.compare.comparison import Comparison, Method
from overlapper.compare.processes import run_methods
from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.extend.registry import extender
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.truth import Truth
from overlapper.runtime.messages import Report, unreported
from overlapper.tables import Reads

MEASURES = {
    "recall": "share of the true pairs that are reported",
    "precision": "share of the reported pairs that are true",
    "end_error": "median distance of an end from its place, in bases",
}
Ends = dict[tuple[str, str, bool], tuple[int, int]]
"""Query interval of the pairs that a method reports: names, the lower one first, and strand."""


def compare_overlaps(
    reads: Reads,
    files: Sequence[str],
    finders: Sequence[str],
    extenders: Sequence[str],
    *,
    options: Sequence[str] = (),
    min_overlap: int = 2000,
    truth: Truth | None = None,
    circular: int | Mapping[str, int] = 0,
    threads: int | None = None,
    report: Report = unreported,
) -> Comparison:
    """Find overlaps with every combination of finders and extenders.

    Parameters
    ----------
    reads : Reads
        What the files hold.
    files : list of str
    finders, extenders : list of str
    options : list of str
        Further options of ``overlapper overlap`` that all methods get.
    min_overlap : int
        Shortest overlap that is judged.
    truth : Truth, optional
        Where the reads come from.
    circular : int or mapping of str to int
        Lengths of circular references, as `overlapper.evaluate_overlaps` takes them.
    threads : int, optional
        All by default.
    report : callable
        ``report(step, done, total)`` is told how far the comparison is.

    Raises
    ------
    ParameterError
        When there is no such finder or extender, or a method fails.
    """
    for name in finders:
        finder(name)
    for name in extenders:
        extender(name)
    methods = [(first, second) for first in finders for second in extenders]
    costs, found = run_methods(reads, files, methods, ["-t", str(threads or 0), *options], report)
    if truth:
        truth = truth.of_reads(reads.names)
        scores = [_scores(truth, overlaps, min_overlap, circular) for overlaps in found]
    else:
        scores = consensus_scores([ends_of(overlaps, min_overlap) for overlaps in found])
    return Comparison(
        judged_by="placements" if truth else "consensus",
        files=list(files),
        options={"threads": threads or 0, "min_overlap": min_overlap, "options": " ".join(options)},
        measures=MEASURES,
        methods=[Method(*both) for both in zip(*zip(*methods, strict=True), costs, scores, strict=True)],
    )


def _scores(
    truth: Truth, overlaps: ReportedOverlaps, min_overlap: int, circular: int | Mapping[str, int]
) -> dict[str, float | None]:
    total = evaluate_overlaps(truth, overlaps, min_overlap=min_overlap, circular=circular).total
    return {
        "recall": total.recall if total.true_pairs else None,
        "precision": total.precision if total.claimed else None,
        "end_error": total.end_error,
    }


def ends_of(overlaps: ReportedOverlaps, min_overlap: int) -> Ends:
    """Return the pairs of a method with the interval on the read of the lower name."""
    span = np.maximum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
    ends: Ends = {}
    for row in np.argsort(-span, kind="stable")[: int((span >= min_overlap).sum())].tolist():
        query, target = overlaps.names[overlaps.query[row]], overlaps.names[overlaps.target[row]]
        interval = int(overlaps.q_start[row]), int(overlaps.q_end[row])
        if target < query:
            query, target = target, query
            interval = int(overlaps.t_start[row]), int(overlaps.t_end[row])
        ends.setdefault((query, target, bool(overlaps.reverse[row])), interval)
    return ends


def consensus_scores(methods: Sequence[Ends]) -> list[dict[str, float | None]]:
    """Return the scores of methods against their consensus."""
    votes = Counter(pair for ends in methods for pair in ends)
    agreed = {pair for pair, count in votes.items() if 2 * count > len(methods)}
    medians = {
        pair: np.median([ends[pair] for ends in methods if pair in ends], axis=0) for pair in sorted(agreed)
    }
    scores: list[dict[str, float | None]] = []
    for ends in methods:
        shared = [pair for pair in ends if pair in agreed]
        apart = [np.abs(np.array(ends[pair]) - medians[pair]) for pair in shared]
        scores.append(
            {
                "recall": len(shared) / len(agreed) if agreed else None,
                "precision": len(shared) / len(ends) if ends else None,
                "end_error": float(np.median(apart)) if apart else None,
            }
        )
    return scores
