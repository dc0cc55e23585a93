"""Parameters of overlaps: one frozen dataclass a stage, TOML in and out.

Everything here changes the result; nothing here says how many threads or which device to use. Presets by
technology are in `overlapper.overlap.presets`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Self

from overlapper.params import text
from overlapper.params.limits import ABOVE_0, BELOW_1, Limited, within


@dataclasses.dataclass(frozen=True)
class SketchParams(Limited):
    """Minimizers, and the limit above which they do not seed."""

    kmer_length: int = within(8, 28, default=15)
    """k, 8 to 28 bases."""
    window: int = within(1, 255, default=5)
    """w, the k-mers of a window, of which the smallest is a minimizer; 1 takes all k-mers."""
    repeat_limit: int = within(0, expected="0 (derive) or more", default=0)
    """Minimizers that occur more often in the whole read set do not seed; 0 derives the limit from the
    spectrum, and lets minimizers of molecules in many copies seed (`overlapper.sketch.deep_reads`)."""
    window_errors: int = within(1, 76, default=15)
    """Where k and w are chosen for a read set: most errors, in hundredths, that a read is expected to have
    within w bases; 76 at most, with which w is 255 at most. Copies of a repeat are told from true overlaps by
    the number of seeds that agree, of which noisy reads need more."""
    cut_adapters: bool = True
    """Find overlaps of what is inside of the adapters that reads have at their ends."""


@dataclasses.dataclass(frozen=True)
class DsoftParams(Limited):
    """D-SOFT (Turakhia 2018, section 4)."""

    band_width: int = 64
    """B, width of a diagonal band in bases; a power of two."""
    min_bases: int = within(1, default=21)
    """h, unique query bases that the seeds of two neighbouring bands must cover."""
    drift: int = within(0, 1000, default=200)
    """How far insertions and deletions may carry an overlap from its band, in thousandths of its length;
    seeds farther away do not belong to the candidate."""
    most_windows: int = within(1, default=4)
    """Most candidates of a read pair on either strand."""
    min_share: int = within(0, 100, default=25)
    """Least support of a further candidate of a pair, in percent of that of the first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        power = self.band_width >= 1 and self.band_width.bit_count() == 1
        self._require(power, "band_width", "a power of two")


@dataclasses.dataclass(frozen=True)
class SpgemmParams(Limited):
    """BELLA's sparse product (Guidi 2021, section 4)."""

    probability: float = within(ABOVE_0, BELOW_1, "between 0 and 1", default=0.99)
    """Wanted probability that a correct k-mer lies within the reliable multiplicities."""
    bin_size: int = within(1, default=500)
    """Position pairs whose estimates of the overlap differ by less (in bases) go into the same bin."""
    lower: int = 0
    upper: int = 0
    """`lower`, `upper`: reliable multiplicities, both included; 0 derives them from coverage and error
    rate."""
    coverage: float = within(0, expected="0 (estimate) or more", default=0.0)
    error_rate: float = within(0, BELOW_1, "0 (estimate) to below 1", default=0.0)
    """`coverage`, `error_rate`: coverage and error rate of the read set; 0 estimates them."""
    min_kmers: int = within(1, default=2)
    """Least k-mers of a bin that is a candidate; overlapping ones count once."""
    shared_kmers: int = within(0, expected="0 (all k-mers) or more", default=32)
    """Wanted number of shared k-mers of an overlap of 500 bases. Where accurate reads share more, only a
    sample of the k-mers seeds; 0 uses all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(self.lower == 0 or self.lower >= 2, "lower", "0 (derive), or 2 or more")
        fits = self.upper == 0 or self.upper >= self.lower
        self._require(fits, "upper", "0 (derive), or at least lower")


@dataclasses.dataclass(frozen=True)
class XdropParams(Limited):
    """X-drop extension (Zhang 2000; Zeni 2020)."""

    match: int = within(1, 2**20, "above 0, at most 2^20", default=1)
    mismatch: int = within(-(2**20), -1, "below 0, at least -2^20", default=-1)
    gap: int = within(-(2**20), -1, "below 0, at least -2^20", default=-1)
    """`match`, `mismatch`, `gap`: score of an equal pair (above 0), an unequal pair and a gap base (below
    0)."""
    xdrop: int = within(0, 2**30, "0 to 2^30", default=49)
    """X: a cell more than this below the best score so far is dead."""
    stop_window: int = within(0, 2**30, "0 (never stop) to 2^30", default=2048)
    stop_rate: int = within(1, 2**20, "1 to 2^20", default=14)
    """`stop_window`, `stop_rate`: extensions into unrelated DNA end: every ``stop_window`` anti-diagonals (0:
    never), where the best score times ``stop_rate`` rose by less than ``stop_window * match`` since the last
    time."""


@dataclasses.dataclass(frozen=True)
class ChainParams(Limited):
    """Colinear chaining of seeds (after Li 2018, section 2.1)."""

    look_back: int = within(1, 5000, default=100)
    """How many seeds back the predecessor of a seed is looked for."""
    max_gap: int = within(1, default=10000)
    """Most bases between neighbouring seeds of a chain, on either read."""
    gap_cost: int = within(0, default=38)
    distance_cost: int = within(0, default=1)
    """`gap_cost`, `distance_cost`: cost of a base of gap, and of a base of distance, in 256ths of a matching
    base."""
    min_seeds: int = within(1, default=2)
    """`min_seeds`, `min_score`: least seeds of a kept chain, and least score in bases."""
    sure_seeds: int = within(0, default=3)
    sure_score: int = within(0, default=0)
    """`sure_seeds`, `sure_score`: a chain of fewer seeds, or of a lower score (in bases), may be chance: it
    is kept only if walks bring both its ends to a read end."""
    min_score: int = 20
    min_agreement: int = within(0, 100, default=18)
    """Least agreement of a kept chain, in percent of the typical one; copies of a repeat that differ have
    less. Reads of which a smaller share of k-mers seeds than is typical need less."""
    typical_agreement: int = within(0, default=0)
    typical_shares: int = within(0, default=0)
    chance_share: int = within(0, default=0)
    """`typical_agreement`, `typical_shares`, `chance_share`: typical agreement (thousandths), typical share
    of k-mers that seed beyond chance, that of the query times that of the target (millionths), and share that
    seeds by chance (thousandths); agreement 0 measures all three on a sample of the read set."""
    reach: int = within(0, default=2)
    max_reach: int = within(0, default=300)
    """`reach`, `max_reach`: an end of a chain is extended to the nearer read end if that is at most
    ``max_reach`` bases away, with at most ``reach`` seeds missing."""
    give_up: int = 30
    """An end is left where it is, without a walk, if more seeds than these are missing."""
    end_edits: int = within(1, 100, default=45)
    """Percentage of edits at which the score of a walk neither rises nor falls."""
    end_drop: int = within(0, 2**30, "0 to 2^30", default=12)
    """A walk ends when its score is worth so many edits less than at its best."""
    end_tolerance: int = within(0, default=50)
    """A walk that ends at most so many bases before a read end is extended to it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(self.give_up >= self.reach, "give_up", "reach or more")


@dataclasses.dataclass(frozen=True)
class GactParams(Limited):
    """GACT tiles (Turakhia 2018, section 5)."""

    match: int = within(1, expected="above 0", default=1)
    mismatch: int = within(-math.inf, -1, "below 0", default=-1)
    """`match`, `mismatch`: score of an equal pair (above 0) and of an unequal pair (below 0)."""
    gap_open: int = within(-math.inf, 0, "0 or below", default=0)
    gap_extend: int = within(-math.inf, -1, "below 0", default=-1)
    """`gap_open`, `gap_extend`: a gap of n bases scores gap_open + n * gap_extend; gap_open 0 is the linear
    gap."""
    tile: int = within(8, 32768, default=320)
    overlap: int = 120
    """`tile`, `overlap`: T and O: bases of the edge of a tile, and of its overlap with the next tile."""
    min_identity: int = within(0, 99, "0 to below 100", default=60)
    """An alignment is trimmed to where more than this percentage of its columns match; 0 trims nothing."""
    give_up: int = within(1, default=1000)
    """An extension ends when so many columns brought no better end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(0 <= self.overlap < self.tile, "overlap", "0 to below tile")


@dataclasses.dataclass(frozen=True)
class ThresholdParams(Limited):
    """The adaptive score threshold of alignments, (1 - delta) * phi * span (Guidi 2021, section 4)."""

    delta: float = within(0, BELOW_1, "0 to below 1", default=0.1)
    """Slack."""
    error_rate: float = within(0, BELOW_1, "0 (estimate) to below 1", default=0.0)
    """Of the reads; 0 estimates it."""


@dataclasses.dataclass(frozen=True)
class ClassParams(Limited):
    """Which overlaps are reported."""

    min_overlap: int = within(1, default=100)
    """Shortest interval reported, in bases, on either read."""
    max_hang: int = within(0, default=100)
    """Bases of both reads left unmatched, above which an end may be a repeat's
    (`overlapper.extend.stops`)."""
    min_ratio: float = within(0, 1, default=0.5)
    """Where these are too few to tell, a match below this share of itself plus its hangs is internal."""
    keep_internal: bool = False
    """Report internal matches too."""
    contained_in_repeats: bool = False
    """Report overlaps of reads that lie within a repeat with reads that leave it, for what tells copies apart
    itself."""
    best: int = within(0, expected="0 (all) or more", default=0)
    best_of_pair: int = within(0, expected="0 (all) or more", default=1)
    """`best`, `best_of_pair`: overlaps reported of each read end, and of each read pair (modules of these
    names); 0 reports all."""


@dataclasses.dataclass(frozen=True)
class Params:
    """Everything that decides a result: names of a finder and an extender, and parameters by stage."""

    finder: str = "dsoft"
    extender: str = "chain"
    sketch: SketchParams = SketchParams()
    dsoft: DsoftParams = DsoftParams()
    spgemm: SpgemmParams = SpgemmParams()
    chain: ChainParams = ChainParams()
    xdrop: XdropParams = XdropParams()
    gact: GactParams = GactParams()
    threshold: ThresholdParams = ThresholdParams()
    classes: ClassParams = ClassParams()

    def changed(self, changes: Mapping[str, Any], *, where: str = "changes") -> Self:
        """Return these parameters with some replaced, as `overlapper.params.text.changed` does."""
        return text.changed(self, changes, where=where)

    def to_toml(self) -> str:
        """Write all parameters, defaults included."""
        return text.to_toml(self)
