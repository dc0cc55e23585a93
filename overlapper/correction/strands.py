"""The warning that most reads are of one strand, so that strands do not tell errors from copies.

Reads out of a realigned BAM, amplicons and reads turned by their primers are such sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Rows
from overlapper.tables.samples import spread

SAME_STRAND = "share of rows on the strand of their target"
"""Name of that share among the facts of a round."""
SAMPLE_TARGETS = 256
"""Targets whose rows are counted."""
MOST_SHARED = 0.82
"""Share from which on sets are said to be of one strand: of two reads, where nine in ten are of one."""


def share_of_same_strand(pileups: PileupSource) -> float:
    """Return the share of the rows of some targets that are on the strand of these; 0.5 if there are none."""
    targets = spread(len(pileups.targets), SAMPLE_TARGETS).tolist()
    rows = Rows.concat([pileups.rows_on(target, target + 1) for target in targets])
    return round(1 - float(np.mean(rows.reverse)), 4) if len(rows) else 0.5


def warning(facts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a warning of one line, or none, by the counts of rounds."""
    share = max((some[SAME_STRAND] for some in facts if SAME_STRAND in some), default=0.0)
    if share < MOST_SHARED:
        return []
    return [
        f"{100 * share:.0f} % of the reads that overlap are on the same strand, so errors that occur on one "
        "strand only cannot be recognized by their strand"
    ]
