"""Parameters of mapping, and presets by technology: chosen, after minimap2's."""

from __future__ import annotations

import dataclasses
from typing import Self

from overlapper.errors import ParameterError, require
from overlapper.params.limits import Limited, within
from overlapper.params.scoring import Scoring
from overlapper.params.stages import GactParams, SketchParams, XdropParams


@dataclasses.dataclass(frozen=True)
class SeedParams(Limited):
    """Parameters of the seeds."""

    length: int = within(8, 1000, default=19)
    """Shortest exact match; minimizers have a length of their own."""
    hit_limit: int = within(0, expected="0 (derive) or more", default=0)
    """A seed with more places on the reference is left out; 0 derives the limit of minimizers from the
    reference, and is `MOST_PLACES` for other seeds."""

    MOST_PLACES = 500
    MOST_ANCHORS = 1024
    """Places together of the seeds of a stretch of a read, at most, however often the bases repeat."""


@dataclasses.dataclass(frozen=True)
class AnchorChainParams(Limited):
    """Chaining of seeds on the reference (after Li 2018, section 2.1)."""

    look_back: int = within(1, 5000, default=64)
    """Seeds before a seed that may precede it in a chain."""
    max_gap: int = within(1, 100_000, default=5000)
    """Bases between neighbouring seeds of a chain, on read or reference."""
    bandwidth: int = within(0, default=500)
    """Largest gap between neighbouring seeds."""
    gap_cost: int = within(0, 2**20, "0 to 2^20", default=38)
    distance_cost: int = within(0, 2**20, "0 to 2^20", default=1)
    """`gap_cost`, `distance_cost`: cost of a base of gap, and of a base of distance, in 256ths of a matching
    base."""
    doubling_cost: int = within(0, 2**20, "0 to 2^20", default=128)
    """Cost of every doubling of a gap, in the same unit."""
    min_seeds: int = within(1, default=3)
    """Shortest chain kept, in seeds; a long match counts as several."""
    min_score: int = within(1, default=40)
    """Lowest score kept, in bases."""


@dataclasses.dataclass(frozen=True)
class ChoiceParams(Limited):
    """Which mappings of a read are kept, and as what."""

    mask_level: int = within(1, 100, default=50)
    """Two mappings are for the same part of the read when they share this percentage of the shorter one."""
    secondary_ratio: int = within(0, 100, default=80)
    """A secondary chain is aligned when its score is at least this percentage of the primary one's."""
    most_secondary: int = within(0, default=5)
    """Secondary mappings kept for a part of a read."""
    min_score: int = within(1, default=80)
    """Lowest alignment score kept."""


@dataclasses.dataclass(frozen=True)
class MapParams(Limited):
    """Everything that decides where reads are mapped.

    Attributes
    ----------
    seeder, extender : str
        Names in the registries.
    sketch : SketchParams
        Minimizers of the reference and of the reads.
    seeds : SeedParams
    chain : AnchorChainParams
    choice : ChoiceParams
    scoring : Scoring
        Of alignments; its match must be above 0. Unknown bases score as unequal ones do.
    drop : int
        Where the score of an alignment falls by more, it ends.
    end_bonus : int
        What an alignment that reaches the end of the read scores more, when `edits` decides where to clip.
    xdrop : XdropParams
        Of the extender `xdrop`.
    gact : GactParams
        Of the extender `gact`.
    """

    seeder: str = "minimizers"
    extender: str = "edits"
    sketch: SketchParams = SketchParams(kmer_length=15, window=10)
    seeds: SeedParams = SeedParams()
    chain: AnchorChainParams = AnchorChainParams()
    choice: ChoiceParams = ChoiceParams()
    scoring: Scoring = Scoring(match=2, mismatch=-4, unknown=-4, gap_open=-4, gap_extend=-2)
    drop: int = within(0, default=400)
    end_bonus: int = within(0, default=10)
    xdrop: XdropParams = XdropParams(match=2, mismatch=-3, gap=-3, xdrop=60, stop_window=0)
    gact: GactParams = GactParams()

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.scoring.match > 0, "match", self.scoring.match, "above 0")
        require(self.scoring.matrix is None, "matrix", self.scoring.matrix, "none: match and mismatch")

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the parameters for a technology.

        Raises
        ------
        ParameterError
            When there is no preset of that name.
        """
        if name not in PRESETS and name not in ALIASES:
            raise ParameterError(
                f"preset is {name!r}, expected one of {', '.join(PRESETS)}, or one of minimap2's "
                f"{', '.join(ALIASES)}"
            )
        return dataclasses.replace(cls(), **PRESETS[ALIASES.get(name, name)])


PRESETS: dict[str, dict] = {
    "ont": {},
    "clr": {},
    "hifi": {"sketch": SketchParams(kmer_length=19, window=19)},
    "short": {
        "sketch": SketchParams(kmer_length=17, window=5),
        "chain": AnchorChainParams(max_gap=200, bandwidth=100, min_seeds=2, min_score=25),
        "choice": ChoiceParams(min_score=40),
    },
}
"""What differs from the defaults. Accurate reads need few, long seeds; short ones dense seeds, short gaps."""
ALIASES = {"map-ont": "ont", "map-pb": "clr", "map-hifi": "hifi", "lr:hq": "hifi", "sr": "short"}
"""Presets of minimap2, and which of ours each is taken as."""
