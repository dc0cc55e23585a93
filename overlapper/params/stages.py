"""Parameters of overlaps: one frozen dataclass a stage, TOML in and out.

Everything here changes the result; nothing here says how many threads or which device to use. Presets by
technology are in `overlapper.overlap.presets`.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from typing import Any, Self

from overlapper.errors import ParameterError, require
from overlapper.params import text


@dataclasses.dataclass(frozen=True)
class SketchParams:
    """Minimizers, and the limit above which they do not seed.

    Attributes
    ----------
    kmer_length : int
        k, 8 to 28 bases.
    window : int
        w, the k-mers of a window, of which the smallest is a minimizer; 1 takes all k-mers.
    homopolymer_compressed : bool
        Seed on reads whose homopolymer runs are collapsed to one base.
    repeat_limit : int
        Minimizers that occur more often in the whole read set do not seed; 0 derives the limit from the
        spectrum, and lets minimizers of molecules in many copies seed (`overlapper.sketch.deep_reads`).
    """

    kmer_length: int = 15
    window: int = 5
    homopolymer_compressed: bool = False
    repeat_limit: int = 0

    def __post_init__(self) -> None:
        require(8 <= self.kmer_length <= 28, "kmer_length", self.kmer_length, "8 to 28")
        require(1 <= self.window <= 255, "window", self.window, "1 to 255")
        require(self.repeat_limit >= 0, "repeat_limit", self.repeat_limit, "0 (derive) or more")


@dataclasses.dataclass(frozen=True)
class DsoftParams:
    """D-SOFT (Turakhia 2018, section 4).

    Attributes
    ----------
    band_width : int
        B, width of a diagonal band in bases; a power of two.
    min_bases : int
        h, unique query bases that the seeds of two neighbouring bands must cover.
    drift : int
        How far insertions and deletions may carry an overlap from its band, in thousandths of its length;
        seeds farther away do not belong to the candidate.
    most_windows : int
        Most candidates of a read pair on either strand.
    min_share : int
        Least support of a further candidate of a pair, in percent of that of the first.
    """

    band_width: int = 64
    min_bases: int = 21
    drift: int = 200
    most_windows: int = 4
    min_share: int = 25

    def __post_init__(self) -> None:
        power = self.band_width >= 1 and self.band_width.bit_count() == 1
        require(power, "band_width", self.band_width, "a power of two")
        require(self.min_bases >= 1, "min_bases", self.min_bases, "1 or more")
        require(0 <= self.drift <= 1000, "drift", self.drift, "0 to 1000")
        require(self.most_windows >= 1, "most_windows", self.most_windows, "1 or more")
        require(0 <= self.min_share <= 100, "min_share", self.min_share, "0 to 100")


@dataclasses.dataclass(frozen=True)
class SpgemmParams:
    """BELLA's sparse product (Guidi 2021, section 4).

    Attributes
    ----------
    probability : float
        Wanted probability that a correct k-mer lies within the reliable multiplicities.
    bin_size : int
        Position pairs whose estimates of the overlap differ by less (in bases) go into the same bin.
    lower, upper : int
        Reliable multiplicities, both included; 0 derives them from coverage and error rate.
    coverage, error_rate : float
        Coverage and error rate of the read set; 0 estimates them.
    min_kmers : int
        Least k-mers of a bin that is a candidate; overlapping ones count once.
    shared_kmers : int
        Wanted number of shared k-mers of an overlap of 500 bases. Where accurate reads share more, only a
        sample of the k-mers seeds; 0 uses all.
    """

    probability: float = 0.99
    bin_size: int = 500
    lower: int = 0
    upper: int = 0
    coverage: float = 0.0
    error_rate: float = 0.0
    min_kmers: int = 2
    shared_kmers: int = 32

    def __post_init__(self) -> None:
        require(0 < self.probability < 1, "probability", self.probability, "between 0 and 1")
        require(self.bin_size >= 1, "bin_size", self.bin_size, "1 or more")
        require(0 <= self.error_rate < 1, "error_rate", self.error_rate, "0 (estimate) to below 1")
        require(self.coverage >= 0, "coverage", self.coverage, "0 (estimate) or more")
        require(self.lower == 0 or self.lower >= 2, "lower", self.lower, "0 (derive), or 2 or more")
        fits = self.upper == 0 or self.upper >= self.lower
        require(fits, "upper", self.upper, "0 (derive), or at least lower")
        require(self.min_kmers >= 1, "min_kmers", self.min_kmers, "1 or more")
        require(self.shared_kmers >= 0, "shared_kmers", self.shared_kmers, "0 (all k-mers) or more")


@dataclasses.dataclass(frozen=True)
class XdropParams:
    """X-drop extension (Zhang 2000; Zeni 2020).

    Attributes
    ----------
    match, mismatch, gap : int
        Score of an equal pair (above 0), an unequal pair and a gap base (below 0).
    xdrop : int
        X: a cell more than this below the best score so far is dead.
    stop_window, stop_rate : int
        Extensions into unrelated DNA end: every ``stop_window`` anti-diagonals (0: never), where the best
        score times ``stop_rate`` rose by less than ``stop_window * match`` since the last time.
    """

    match: int = 1
    mismatch: int = -1
    gap: int = -1
    xdrop: int = 49
    stop_window: int = 2048
    stop_rate: int = 14

    def __post_init__(self) -> None:
        require(0 < self.match <= 2**20, "match", self.match, "above 0, at most 2^20")
        require(-(2**20) <= self.mismatch < 0, "mismatch", self.mismatch, "below 0, at least -2^20")
        require(-(2**20) <= self.gap < 0, "gap", self.gap, "below 0, at least -2^20")
        require(0 <= self.xdrop <= 2**30, "xdrop", self.xdrop, "0 to 2^30")
        require(0 <= self.stop_window <= 2**30, "stop_window", self.stop_window, "0 (never stop) to 2^30")
        require(1 <= self.stop_rate <= 2**20, "stop_rate", self.stop_rate, "1 to 2^20")


@dataclasses.dataclass(frozen=True)
class ChainParams:
    """Colinear chaining of seeds (after Li 2018, section 2.1).

    Attributes
    ----------
    look_back : int
        How many seeds back the predecessor of a seed is looked for.
    max_gap : int
        Most bases between neighbouring seeds of a chain, on either read.
    gap_cost, distance_cost : int
        Cost of a base of gap, and of a base of distance, in 256ths of a matching base.
    min_seeds, min_score : int
        Least seeds of a kept chain, and least score in bases.
    sure_seeds : int
        A chain of fewer seeds is kept only if walks bring both its ends to a read end.
    min_agreement : int
        Least agreement of a kept chain, in percent of the typical one; copies of a repeat that differ have
        less. Reads of which a smaller share of k-mers seeds than is typical need less.
    typical_agreement, typical_shares, chance_share : int
        Typical agreement (thousandths), typical share of k-mers that seed beyond chance, that of the query
        times that of the target (millionths), and share that seeds by chance (thousandths); agreement 0
        measures all three on a sample of the read set.
    reach, max_reach : int
        An end of a chain is extended to the nearer read end if that is at most ``max_reach`` bases away, with
        at most ``reach`` seeds missing.
    give_up : int
        An end is left where it is, without a walk, if more seeds than these are missing.
    end_edits : int
        Percentage of edits at which the score of a walk neither rises nor falls.
    end_drop : int
        A walk ends when its score is worth so many edits less than at its best.
    end_tolerance : int
        A walk that ends at most so many bases before a read end is extended to it.
    """

    look_back: int = 100
    max_gap: int = 10000
    gap_cost: int = 38
    distance_cost: int = 1
    min_seeds: int = 2
    sure_seeds: int = 3
    min_score: int = 20
    min_agreement: int = 18
    typical_agreement: int = 0
    typical_shares: int = 0
    chance_share: int = 0
    reach: int = 2
    max_reach: int = 300
    give_up: int = 30
    end_edits: int = 45
    end_drop: int = 12
    end_tolerance: int = 50

    def __post_init__(self) -> None:
        typical = ("typical_agreement", "typical_shares", "chance_share")
        lengths = ("reach", "max_reach", "end_tolerance")
        for name in ("sure_seeds", "gap_cost", "distance_cost", *typical, *lengths):
            require(getattr(self, name) >= 0, name, getattr(self, name), "0 or more")
        require(1 <= self.look_back <= 5000, "look_back", self.look_back, "1 to 5000")
        require(self.max_gap >= 1, "max_gap", self.max_gap, "1 or more")
        require(self.min_seeds >= 1, "min_seeds", self.min_seeds, "1 or more")
        require(0 <= self.min_agreement <= 100, "min_agreement", self.min_agreement, "0 to 100")
        require(self.give_up >= self.reach, "give_up", self.give_up, "reach or more")
        require(1 <= self.end_edits <= 100, "end_edits", self.end_edits, "1 to 100")
        require(0 <= self.end_drop <= 2**30, "end_drop", self.end_drop, "0 to 2^30")


@dataclasses.dataclass(frozen=True)
class GactParams:
    """GACT tiles (Turakhia 2018, section 5).

    Attributes
    ----------
    match, mismatch : int
        Score of an equal pair (above 0) and of an unequal pair (below 0).
    gap_open, gap_extend : int
        A gap of n bases scores gap_open + n * gap_extend; gap_open 0 is the linear gap.
    tile, overlap : int
        T and O: bases of the edge of a tile, and of its overlap with the next tile.
    min_identity : int
        An alignment is trimmed to where more than this percentage of its columns match; 0 trims nothing.
    give_up : int
        An extension ends when so many columns brought no better end.
    """

    match: int = 1
    mismatch: int = -1
    gap_open: int = 0
    gap_extend: int = -1
    tile: int = 320
    overlap: int = 120
    min_identity: int = 60
    give_up: int = 1000

    def __post_init__(self) -> None:
        require(self.match > 0, "match", self.match, "above 0")
        require(self.mismatch < 0, "mismatch", self.mismatch, "below 0")
        require(self.gap_open <= 0, "gap_open", self.gap_open, "0 or below")
        require(self.gap_extend < 0, "gap_extend", self.gap_extend, "below 0")
        require(8 <= self.tile <= 32768, "tile", self.tile, "8 to 32768")
        require(0 <= self.overlap < self.tile, "overlap", self.overlap, "0 to below tile")
        require(0 <= self.min_identity < 100, "min_identity", self.min_identity, "0 to below 100")
        require(self.give_up >= 1, "give_up", self.give_up, "1 or more")


@dataclasses.dataclass(frozen=True)
class ThresholdParams:
    """The adaptive score threshold of alignments, (1 - delta) * phi * span (Guidi 2021, section 4).

    Attributes
    ----------
    delta : float
        Slack.
    error_rate : float
        Of the reads; 0 estimates it.
    """

    delta: float = 0.1
    error_rate: float = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.delta < 1, "delta", self.delta, "0 to below 1")
        require(0 <= self.error_rate < 1, "error_rate", self.error_rate, "0 (estimate) to below 1")


@dataclasses.dataclass(frozen=True)
class ClassParams:
    """Which overlaps are reported.

    Attributes
    ----------
    min_overlap : int
        Shortest interval reported, in bases, on either read.
    max_hang : int
        Bases of both reads left unmatched, above which an end may be a repeat's (`overlapper.extend.stops`).
    min_ratio : float
        Where these are too few to tell, a match below this share of itself plus its hangs is internal.
    keep_internal : bool
        Report internal matches too.
    best, best_of_pair : int
        Overlaps reported of each read end, and of each read pair (modules of these names); 0 reports all.
    """

    min_overlap: int = 100
    max_hang: int = 100
    min_ratio: float = 0.5
    keep_internal: bool = False
    best: int = 0
    best_of_pair: int = 1

    def __post_init__(self) -> None:
        require(self.best >= 0, "best", self.best, "0 (all) or more")
        require(self.best_of_pair >= 0, "best_of_pair", self.best_of_pair, "0 (all) or more")
        require(self.min_overlap >= 1, "min_overlap", self.min_overlap, "1 or more")
        require(self.max_hang >= 0, "max_hang", self.max_hang, "0 or more")
        require(0 <= self.min_ratio <= 1, "min_ratio", self.min_ratio, "0 to 1")


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

    @classmethod
    def from_toml(cls, toml: str, *, file: str = "parameters") -> Self:
        """Read parameters; what the text leaves out keeps its default.

        Raises
        ------
        ParameterError
            When the text is not TOML, or names something unknown, or a value does not fit.
        """
        try:
            document = tomllib.loads(toml)
        except (ValueError, RecursionError) as error:
            raise ParameterError(f"file {file}: not valid TOML: {error}") from None
        return cls().changed(document, where=f"file {file}")

    def changed(self, changes: Mapping[str, Any], *, where: str = "changes") -> Self:
        """Return these parameters with some replaced.

        Parameters
        ----------
        changes : mapping
            Values by name; those of a stage in a mapping of their own.
        where : str
            What to call the changes in an error message.

        Raises
        ------
        ParameterError
            When something is unknown, or a value does not fit.
        """
        return text.changed(self, changes, where=where)

    def to_toml(self) -> str:
        """Write all parameters, defaults included."""
        return text.to_toml(self)
