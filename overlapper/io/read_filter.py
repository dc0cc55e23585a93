"""Which reads of files are used: those that are long and good enough."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.errors import require
from overlapper.io.tags import is_parent
from overlapper.tables import Reads

LEFT_OUT = "left out: "
"""What the names of counts begin with."""
_HIGHEST = 93
"""Of the Phred qualities that FASTQ can hold."""


@dataclasses.dataclass(frozen=True)
class ReadFilter:
    """What reads must have to be used; false as a condition where all reads are."""

    min_length: int = 0
    """Bases."""
    min_quality: float = 0.0
    """Mean quality, by error probabilities: ``-10 log10`` of the mean of ``10^(-quality / 10)`` of all bases,
    as nanoq and chopper have it; a bad stretch weighs more than in the mean of the qualities. A read without
    bases has quality 0."""
    no_duplex_parents: bool = False
    """Leave out reads from which a basecaller made duplex reads (tag ``dx:i:-1``): what they say is said
    twice else."""

    def __post_init__(self) -> None:
        require(self.min_length >= 0, "min_length", self.min_length, "0 (all reads) or more")
        fits = isinstance(self.min_quality, int | float) and 0 <= self.min_quality <= _HIGHEST
        require(fits, "min_quality", self.min_quality, f"0 (all reads) to {_HIGHEST}")

    def __bool__(self) -> bool:
        return bool(self.min_length or self.min_quality or self.no_duplex_parents)

    @property
    def given(self) -> dict[str, float]:
        """What is asked for, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}

    @property
    def counts(self) -> dict[str, int]:
        """Counts, all 0, of reads left out, by reason, in the order in which `judge` tells them."""
        counts = {}
        if self.min_length:
            counts[f"{LEFT_OUT}too short"] = 0
        if self.min_quality:
            counts[f"{LEFT_OUT}low quality"] = 0
        if self.no_duplex_parents:
            counts[f"{LEFT_OUT}parents of duplex reads"] = 0
        return counts

    def judge(self, reads: Reads) -> list[np.ndarray]:
        """Return a mask of reads left out, for each reason of `counts`; each has one reason, the first one.

        Parameters
        ----------
        reads : Reads
            With their qualities, if `min_quality` is above 0, and with whole comments for tags if parents are
            left out.
        """
        judged: list[np.ndarray] = []
        short = reads.lengths < self.min_length
        if self.min_length:
            judged.append(short)
        if self.min_quality:
            from overlapper.kernels.common.error_sums import ONE, error_sums

            assert reads.qualities is not None and reads.quality_offsets is not None
            sums = error_sums(reads.qualities, reads.quality_offsets)
            most = round(ONE * 10 ** (-self.min_quality / 10)) * reads.lengths
            judged.append(~short & ((sums > most) | (reads.lengths == 0)))
        if self.no_duplex_parents:
            parents = np.array([is_parent(reads.tags_of(read)) for read in range(len(reads))], np.bool_)
            judged.append(parents & ~np.logical_or.reduce([short, *judged]))
        return judged


ALL = ReadFilter()
