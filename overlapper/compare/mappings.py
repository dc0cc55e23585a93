"""Seeders x extenders of mappings.

Judged by placements, the scores are those of `overlapper.mapping.evaluate`. Without placements:

- Two mappings of a read *agree* if they are on one strand of one sequence and their intervals there share
  half of the shorter one. The *consensus* place of a read is that of the method with which the most methods
  agree, of equals the first, if these are more than half of all methods. Its start and end are the medians of
  theirs, each carried on along the diagonal to the ends of the read.
- The *mapped share* is that of the reads with a consensus place that the method maps; a *mapping error* is as
  with placements.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from overlapper.compare.comparison import Comparison, Method
from overlapper.compare.processes import run_methods
from overlapper.compare.reported_mappings import read_reported_mappings
from overlapper.io.truth import Truth, TruthRow
from overlapper.mapping.evaluate import MappingEvaluation, ReportedMappings, evaluate_mappings
from overlapper.mapping.extenders import map_extender
from overlapper.mapping.seeders import seeder
from overlapper.runtime.messages import Report, unreported
from overlapper.tables import Reads

MEASURES = {
    "mapped": "share of the placed reads that are mapped",
    "wrong": "share of the mapped reads that lie elsewhere, by more than a tenth of the read",
    "wrong_q10": "the same among mappings of quality 10 or more",
    "mapping_error": "median distance of the worse end from its place, in bases, of those mapped right",
}


def compare_mappings(
    reference: Reads,
    reads: Reads,
    files: tuple[str, Sequence[str]],
    seeders: Sequence[str],
    extenders: Sequence[str],
    *,
    options: Sequence[str] = (),
    truth: Truth | None = None,
    circular: Collection[str] = (),
    threads: int | None = None,
    report: Report = unreported,
) -> Comparison:
    """Map reads with every combination of seeders and extenders.

    Parameters
    ----------
    reference, reads : Reads
        What the files hold.
    files : tuple of str and list of str
        Of the reference and of the reads.
    seeders, extenders : list of str
    options : list of str
        Further options of ``overlapper map`` that all methods get.
    truth : Truth, optional
        Where the reads come from.
    circular : collection of str
        Names of circular reference sequences.
    threads : int, optional
        All by default.
    report : callable
        ``report(step, done, total)`` is told how far the comparison is.

    Raises
    ------
    ParameterError
        When there is no such seeder or extender, or a method fails.
    """
    for name in seeders:
        seeder(name)
    for name in extenders:
        map_extender(name)
    methods = [(first, second) for first in seeders for second in extenders]
    costs, reported = run_methods(
        ["map", files[0]], reads, files[1], ("seeder", "extender"), methods,
        ["-t", str(threads or 0), *options], read_reported_mappings, report,
    )  # fmt: skip
    lengths = dict(zip(reference.names, reference.lengths.tolist(), strict=True))
    places = truth.of_reads(reads.names) if truth else consensus(reported, reads)
    scores = [_scores(evaluate_mappings(method, places, lengths, circular)) for method in reported]
    return Comparison(
        mode="map",
        judged_by="placements" if truth else "consensus",
        files=[files[0], *files[1]],
        options={"threads": threads or 0, "options": " ".join(options)},
        measures=MEASURES,
        methods=[Method(*both) for both in zip(*zip(*methods, strict=True), costs, scores, strict=True)],
    )


def _scores(result: MappingEvaluation) -> dict[str, float | None]:
    sure = [b for b in result.by_quality if b.low >= 10]
    mapped, wrong = sum(b.mapped for b in sure), sum(b.wrong for b in sure)
    return {
        "mapped": result.mapped_share,
        "wrong": result.wrong_share if result.mapped else None,
        "wrong_q10": wrong / mapped if mapped else None,
        "mapping_error": result.error,
    }


def consensus(reported: Sequence[ReportedMappings], reads: Reads) -> Truth:
    """Return the consensus places of reads as a truth table."""
    rows_of = [{name: row for row, name in enumerate(method.read.tolist())} for method in reported]
    rows = []
    for name, length in zip(reads.names, reads.lengths.tolist(), strict=True):
        places = [
            _place(method, rows[name], length)
            for method, rows in zip(reported, rows_of, strict=True)
            if name in rows
        ]
        groups = [[other for other in places if _agree(place, other)] for place in places]
        best = max(groups, key=len, default=[])
        if 2 * len(best) <= len(reported):
            continue
        ref, reverse = best[0][:2]
        start, end = (int(np.median([place[column] for place in best])) for column in (4, 5))
        strand = "-" if reverse else "+"
        row = TruthRow(name, ref, start, end, strand, 0, length, length, "normal", float("nan"))
        rows.append(row)
    return Truth.from_rows(rows)


def _place(method: ReportedMappings, row: int, length: int) -> tuple[str, bool, int, int, int, int]:
    """Return sequence, strand and interval of a mapping, and the interval carried on to the whole read."""
    reverse = bool(method.reverse[row])
    before, after = int(method.q_start[row]), length - int(method.q_end[row])
    if reverse:
        before, after = after, before
    start, end = int(method.t_start[row]), int(method.t_end[row])
    return str(method.ref[row]), reverse, start, end, start - before, end + after


def _agree(one: tuple, other: tuple) -> bool:
    shared = min(one[3], other[3]) - max(one[2], other[2])
    return one[:2] == other[:2] and 2 * shared >= min(one[3] - one[2], other[3] - other[2])
