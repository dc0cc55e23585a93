"""Parameters of the correction of reads and of polishing.

What they were fitted on is in ``docs/notes/fitted-numbers.md``.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from overlapper.params.limits import Limited, within

POLISHING_THRESHOLDS = (20, 30, 40, 0)
"""Unitigs, of which there are few, have two drafts more than reads. Chosen on real R9.4 reads of E. coli,
judged on real R7.3 and on simulated R9 reads."""
CORRECTED_THRESHOLD = 45
"""Percentage of corrected reads that a base needs: where few columns are undecided, in simulated and in
real reads (CLR of lambda)."""
DEPTH = 160
"""Reads that a layout or a vote needs on a base: votes look at four times as many as the 40 that vote."""


@dataclasses.dataclass(frozen=True)
class CorrectParams(Limited):
    """Correction of reads and consensus of unitigs (``docs/algorithms/correction.md``).

    Attributes
    ----------
    rounds : int
        Each round corrects all reads; later ones find the overlaps of the corrected reads.
    further_rounds : int
        Of reads, so many rounds follow where the last one still changed more than a third of them; of
        unitigs none.
    max_depth : int
        Reads that vote on a stretch of the target.
    kmer_length : int
        Shortest anchor, in bases, at most 16; 0 derives it from the divergence of the overlaps.
    max_gap : int
        Bases between neighbouring anchors, on either read, at most 1800.
    thresholds : tuple of int
        Percentage of the weight that a base needs in each draft, two or more; the last one is the consensus,
        for which 0 derives it from the insertions and deletions of raw reads; for corrected ones it is 45.
        Where it is derived and reads insert more, those of unitigs before it are up to 10 higher.
    run_threshold : int
        That of the consensus for bases of homopolymer runs; 0 derives it from those in the runs of raw reads;
        for corrected ones it is 45.
    haplotype_filter : bool
        Leave out reads that disagree with the target systematically.
    error_rate : float
        Of the reads as given, which tells how many layers may have the same error; 0 derives it.
    depth : int
        Reads of molecules that are deeper are corrected in groups of at most this depth; beyond it, reads do
        not polish. 0 for any depth (`overlapper.sketch.depth`).
    erring : tuple of str
        Motifs at which reads of a strand err, of up to three bases on either side of a small letter; none
        derives them in each round (`overlapper.correction.motifs`).
    """

    rounds: int = within(1, 100, default=2)
    further_rounds: int = within(0, 100, default=0)
    max_depth: int = within(3, 255, default=40)
    kmer_length: int = 0
    max_gap: int = within(1, 1800, default=1000)
    thresholds: tuple[int, ...] = (30, 0)
    run_threshold: int = within(0, 99, "0 (derive) to 99", default=0)
    haplotype_filter: bool = True
    error_rate: float = within(0, 1, "0 (derive) to 1", default=0.0)
    depth: int = within(0, default=DEPTH)
    erring: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        derived_or_fits = self.kmer_length == 0 or 8 <= self.kmer_length <= 16
        self._require(derived_or_fits, "kmer_length", "0 (derive), or 8 to 16")
        fit = (
            len(self.thresholds) >= 2
            and all(1 <= t <= 99 for t in self.thresholds[:-1])
            and (0 <= self.thresholds[-1] <= 99)
        )
        erring = all(re.fullmatch("[ACGT]{,3}[acgt][ACGT]{,3}", motif) for motif in self.erring)
        self._require(erring, "erring", "words like GgTC, the base that is read for another one small")
        self._require(fit, "thresholds", "two or more, each 1 to 99, the last one perhaps 0 (derive)")

    def fitted(self) -> dict[str, Any]:
        """Return what the first round may derive from the reads, for `with_fitted`."""
        return {name: getattr(self, name) for name in ("thresholds", "run_threshold", "erring")}

    def with_fitted(self, facts: dict[str, Any]) -> CorrectParams:
        """Return the parameters with what a round derived."""
        return dataclasses.replace(
            self, thresholds=tuple(facts["thresholds"]), run_threshold=facts["run_threshold"],
            erring=tuple(facts["erring"]),
        )  # fmt: skip

    def of_corrected_reads(self, error_rate: float) -> CorrectParams:
        """Return the parameters for reads corrected before, of this error rate then; none is derived."""
        *first, last = self.thresholds
        return dataclasses.replace(
            self,
            thresholds=(*first, last or CORRECTED_THRESHOLD),
            run_threshold=self.run_threshold or CORRECTED_THRESHOLD,
            error_rate=self.error_rate or error_rate,
        )

    def of_round(self) -> dict[str, Any]:
        """Return what the result of one round depends on: all but how many there are."""
        numbers = ("rounds", "further_rounds")
        return {name: value for name, value in dataclasses.asdict(self).items() if name not in numbers}
