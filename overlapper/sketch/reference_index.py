"""The index of the minimizers of a reference, by hash."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.seeds import seed_index as pages_kernel
from overlapper.kernels.seeds.reference_seeds import Y_BITS, Lookup, count_places, fill_slots
from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.sketch.page_chains import EntryLayout, partition
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

BLOCK_BASES = 1 << 24
SPECTRUM_SIZE = 1 << 16
REPEATED_SHARE = 2e-4
"""Share of the distinct minimizers that are left out, those with the most places (as in minimap2)."""
LEAST_LIMIT = 10
"""Minimizers with at most this many places are never left out."""


@dataclasses.dataclass(frozen=True)
class ReferenceIndex:
    """All minimizers of a reference."""

    sketch: SketchParams
    lookup: Lookup
    limit: int
    """Places that a minimizer may have."""

    @classmethod
    def build(cls, reference: Reads, sketch: SketchParams, hit_limit: int, threads: int) -> Self:
        """Index a reference.

        Parameters
        ----------
        hit_limit : int
            Places that a minimizer may have; 0 derives it.

        Raises
        ------
        ParameterError
            When k is too long for a word to hold hash and place together, or the reference too long.
        """
        bases = int(reference.word_offsets[-1]) * BASES_PER_WORD
        if bases >= 1 << Y_BITS:
            raise ParameterError(f"the reference has {bases} bases, expected less than {1 << Y_BITS}")
        layout = EntryLayout.choose(bases, sketch)
        sketched = np.empty(len(reference), np.int32)

        def sketch_block(block: tuple[int, int]) -> tuple[np.ndarray, ...]:
            start, stop = block
            first_base = int(reference.word_offsets[start]) * BASES_PER_WORD
            return partition(reference.rows(*block), sketch, layout, sketched[start:stop], first_base)

        parts = list(map_in_order(sketch_block, even_ranges(reference.lengths, BLOCK_BASES), threads))
        sizes = sum((part[3] for part in parts), np.zeros(layout.n_buckets, np.int64))
        firsts = offsets_of(sizes)
        # One bit at least: entries of 64 bits cannot be shifted by all of them.
        per_bucket = max(1, int(firsts[-1]) >> layout.bucket_bits)
        slot_bits = min(layout.rest_bits, per_bucket.bit_length())
        lookup = Lookup(
            np.empty(firsts[-1], np.uint64),
            np.zeros((layout.n_buckets << slot_bits) + 1, np.int64),
            layout.bucket_bits, layout.base_bits, layout.rest_bits, slot_bits,
        )  # fmt: skip

        def sort_bucket(bucket: int) -> np.ndarray:
            entries = lookup.entries[firsts[bucket] : firsts[bucket + 1]]
            n = 0
            for pages, previous_page, last_page, counts in parts:
                pages_kernel.gather_bucket(
                    pages, previous_page, last_page[bucket], counts[bucket], entries[n:]
                )
                n += counts[bucket]
            entries.sort()
            spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
            fill_slots(entries, bucket, lookup)
            count_places(entries, layout.base_bits, spectrum)
            return spectrum

        spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        for counted in map_in_order(sort_bucket, range(layout.n_buckets), threads):
            spectrum += counted
        np.cumsum(lookup.slots, out=lookup.slots)
        return cls(sketch, lookup, hit_limit or places_limit(spectrum))


def places_limit(spectrum: np.ndarray) -> int:
    """Return the most places of a minimizer that is kept.

    Parameters
    ----------
    spectrum : ndarray of int64
        Minimizers by how many places they have; the last one takes all that have more.

    Returns
    -------
    int
        The fewest, `LEAST_LIMIT` or more, that at most `REPEATED_SHARE` of the minimizers exceed.
    """
    above = spectrum.sum() - np.cumsum(spectrum)
    limit = int(np.argmax(above <= REPEATED_SHARE * spectrum.sum()))
    return max(limit, LEAST_LIMIT)
