"""What a report says of correction: reads before and after, from the table of ``overlapper correct``."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np

from graph.changes import Changes, Fate
from graph.summary import n50
from overlapper.errors import FormatError
from overlapper.io.sources import line_blocks
from overlapper.report.charts import histogram
from overlapper.report.page import Part, Remark, Section, Table

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
    text = b"".join(line_blocks(path)).decode(errors="replace")
    first, *lines = text.splitlines() or [""]
    if first.split("\t") != header:
        raise FormatError(f"does not start with the columns {' '.join(header)}", file=path, remedy=remedy)
    rows = [line.split("\t") for line in lines]
    try:
        name, bases_in, bases_out, coverage, identity, left_out, fate = zip(*rows, strict=True)
        return Changes(
            list(name), np.array(bases_in, np.int64), np.array(bases_out, np.int64),
            np.array(coverage, np.float64), np.array(identity, np.float64), np.array(left_out, np.int64),
            [Fate(word) for word in fate],
        )  # fmt: skip
    except ValueError as error:
        raise FormatError(f"is cut off or damaged: {error}", file=path, remedy=remedy) from None


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
