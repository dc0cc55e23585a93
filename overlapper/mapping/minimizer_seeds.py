"""Minimizers that reads share with a reference."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.seeds.minimizers import lanes_for
from overlapper.kernels.seeds.reference_seeds import find_anchors
from overlapper.mapping.anchors import Anchors
from overlapper.params.mapping import MapParams, SeedParams
from overlapper.sketch.reference_index import ReferenceIndex
from overlapper.tables import Reads


@dataclasses.dataclass(frozen=True)
class MinimizerSeeder:
    """Seeds are the minimizers of the reads, and their places those of the reference's minimizers."""

    index: ReferenceIndex

    @classmethod
    def prepare(cls, reference: Reads, params: MapParams, threads: int) -> Self:
        """Index a reference."""
        return cls(ReferenceIndex.build(reference, params.sketch, params.seeds.hit_limit, threads))

    def find(self, reads: Reads) -> Anchors:
        """Return the anchors of reads."""
        sketch = self.index.sketch
        starts, x, y, reverse, seeds, dropped = find_anchors(
            PackedReads.of(reads), 0, len(reads), sketch.kmer_length, sketch.window,
            self.index.lookup, self.index.limit, SeedParams.MOST_ANCHORS,
            lanes_for(sketch.kmer_length),
        )  # fmt: skip
        length = np.full(len(x), sketch.kmer_length, np.int32)
        counts = {"seeds": seeds, "seeds with too many places": dropped}
        return Anchors(starts, x, y, length, reverse, counts)
