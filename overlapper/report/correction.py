"""What a report says of correction: reads before and after, from the table of ``overlapper correct``."""

from __future__ import annotations

import collections
import contextlib
import dataclasses

import numpy as np

from overlapper.correction.changes import Changes, Fate
from overlapper.errors import FormatError, shortened
from overlapper.graph.stats import n50
from overlapper.io.lines import name_problem, text_lines, whole
from overlapper.report.charts import histogram
from overlapper.report.page import Part, Remark, Section, Table

_MOST_VOTES = 10**9
NEEDS_CHANGES = (
    "Reads before and after correction are left out: they need the table that overlapper correct --table "
    "writes."
)


def read_changes(path: str) -> Changes:
    """Read the table that ``overlapper correct --table`` writes.

    Raises
    ------
    FormatError
        When the file is another table.
    InputError
        When it cannot be read to its end.
    """
    remedy = "Give the table that overlapper correct --table wrote."
    header = [field.name for field in dataclasses.fields(Changes)]
    rows = []
    with contextlib.closing(text_lines(path)) as lines:
        if next(lines, "").split("\t") != header:
            raise FormatError(f"does not start with the columns {' '.join(header)}", file=path, remedy=remedy)
        for number, line in enumerate(lines, 2):
            try:
                rows.append(_row(line.split("\t")))
            except ValueError as error:
                raise FormatError(str(error), file=path, record=f"on line {number}", remedy=remedy) from None
    name, bases_in, bases_out, coverage, identity, left_out, fate = list(zip(*rows, strict=True)) or [()] * 7
    return Changes(
        list(name), np.array(bases_in, np.int64), np.array(bases_out, np.int64),
        np.array(coverage, np.float64), np.array(identity, np.float64), np.array(left_out, np.int64),
        list(fate),
    )  # fmt: skip


def _row(fields: list[str]) -> tuple[str, int, int, float, float, int, Fate]:
    """Return the fields of a line as what they are, or raise a `ValueError` that says what is wrong."""
    try:
        name, bases_in, bases_out, coverage, identity, left_out, fate = fields
    except ValueError:
        raise ValueError(f"has {len(fields)} columns, expected 7: it is cut off or damaged") from None
    if problem := name_problem(name):
        raise ValueError(problem)
    damaged = ValueError(f"is cut off or damaged: {shortened(' '.join(fields[1:]))}")
    before, after, others = whole(bases_in), whole(bases_out), whole(left_out)
    try:
        votes, share, what = float(coverage), float(identity), Fate(fate)
    except ValueError:
        raise damaged from None
    if before is None or after is None or others is None:
        raise damaged
    if not 0 <= votes <= _MOST_VOTES or share < 0 or share > 1:
        raise damaged
    return name, before, after, votes, share, others, what


def correction_section(changes: Changes) -> Section:
    """Describe reads before and after their correction."""
    before, after = changes.bases_in, changes.bases_out[changes.bases_out > 0]
    fates = collections.Counter(changes.fate)
    parts: list[Part] = [
        Table(
            "Reads before and after",
            ("what", "before", "after"),
            [
                ("reads with bases", int(np.count_nonzero(before)), len(after)),
                ("bases", int(before.sum()), int(after.sum())),
                ("N50", n50(before), n50(after)),
            ],
        ),
        Table("What became of reads", ("fate", "reads"), [(str(f), fates[f]) for f in Fate], bars=True),
        *_identity(changes.identity[~np.isnan(changes.identity)]),
    ]
    if len(changes.coverage):
        caption = (
            "Other reads that voted on a base, on average over each read: "
            f"{np.median(changes.coverage):.1f} in the median. Where they are few, little can be corrected."
        )
        parts.append(histogram("Votes", caption, changes.coverage, "reads that voted", "reads"))
    left_out = int(changes.left_out.sum())
    parts.append(
        Remark(
            f"{left_out:,} overlapping reads had no vote, as they come from other haplotypes or copies of "
            "repeats."
        )
    )
    return Section("Correction", parts)


def _identity(identity: np.ndarray) -> list[Part]:
    if not len(identity):
        return []
    percent = 100 * identity
    caption = (
        f"Identity of each read to its consensus, before correction: {np.median(percent):.2f} % in the "
        "median. What is missing to 100 is what correction had to change."
    )
    return [histogram("Identity before correction", caption, percent, "identity, percent", "reads")]
