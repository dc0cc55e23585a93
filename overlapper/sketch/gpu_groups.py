"""Minimizers of reads grouped by hash on GPUs, each of which takes ranges of buckets."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import DeviceError
from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.deep_reads import Placing
from overlapper.sketch.page_chains import EntryLayout
from overlapper.tables import Reads
from overlapper.tables.base import offsets_of

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

Stretches = list[tuple[int, int]]


def group_by_hash(
    gpus: Gpus,
    reads: Reads,
    sketch: SketchParams,
    layout: EntryLayout,
    sketched: np.ndarray,
    spectrum_size: int,
) -> tuple[np.ndarray, list[Stretches], np.ndarray] | None:
    """Return what `overlapper.sketch.seed_index.group_by_hash` does, or None where GPUs have no room for it.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    reads : Reads
    sketch : SketchParams
    layout : EntryLayout
    sketched : ndarray of int32, shape (reads,)
        Out: minimizers of each read.
    spectrum_size : int
    """
    from overlapper.kernels.seeds.cuda.seed_index import Layout, group_range, ranges_for

    if not len(reads.words):
        return None
    of_device = Layout(layout.bucket_bits, layout.rest_bits, layout.rest_low_bit)
    placing = Placing.of(layout, reads.word_offsets)
    with gpus.slot() as slot:  # all have arenas of the same size, or nearly
        expected = 2 * reads.total_bases // (sketch.window + 1)
        ranges = ranges_for(layout.n_buckets, expected, slot.arena.free)

    def group(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        spectrum = np.zeros(spectrum_size, np.int64)
        with gpus.slot(1) as slot, slot.working():
            if slot.reads is None:
                return None
            try:
                return *group_range(
                    slot.reads, sketch.kmer_length, sketch.window, of_device, ranges[number],
                    placing.read_of_words, spectrum, None if number else sketched, slot.arena,
                ), spectrum  # fmt: skip
            except DeviceError:
                return None

    found = [grouped for grouped in map_in_order(group, range(len(ranges)), gpus.slots) if grouped]
    if len(found) < len(ranges):
        return None
    entries = found[0][0] if len(found) == 1 else np.concatenate([entries for entries, _, _ in found])
    sizes = np.concatenate([np.diff(bounds) for _, bounds, _ in found])
    buckets = list(itertools.pairwise(offsets_of(sizes).tolist()))
    stretches = [buckets[some.start : some.stop] for some in layout.bucket_ranges]
    return entries, stretches, sum((spectrum for _, _, spectrum in found), np.zeros(spectrum_size, np.int64))
