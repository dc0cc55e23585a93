"""The fate of every read in correction: its lengths, identity and votes."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np


class Fate(enum.StrEnum):
    """What became of a read."""

    CORRECTED = "corrected"
    UNCHANGED = "unchanged"
    """No base was covered by enough reads."""
    TRIMMED = "trimmed"
    SPLIT = "split"
    DROPPED = "dropped"
    """Nothing was left that enough reads cover."""


@dataclasses.dataclass(frozen=True)
class Changes:
    """How correction changed every read; one value a read, in the order of the input."""

    name: list[str]
    bases_in: np.ndarray
    bases_out: np.ndarray
    """`bases_in`, `bases_out`: int64."""
    coverage: np.ndarray
    """float64; mean number of other reads that voted on a base, in the last round."""
    identity: np.ndarray
    """float64; share of columns that match in the read's alignment to its consensus, in the first round; NaN
    for a read without bases."""
    left_out: np.ndarray
    """int64; overlapping reads of other places, left out in the last round."""
    fate: list[Fate]

    def to_tsv(self) -> str:
        """Return a tab-separated table with a header."""
        columns = [field.name for field in dataclasses.fields(self)]
        rows = zip(
            self.name, self.bases_in, self.bases_out, (f"{x:.1f}" for x in self.coverage),
            (f"{x:.4f}" for x in self.identity), self.left_out, self.fate, strict=True,
        )  # fmt: skip
        lines = ["\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
        return "\n".join(lines) + "\n"
