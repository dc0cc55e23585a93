"""Places at which haplotypes, or copies within one, differ (``docs/algorithms/evaluation.md``)."""

from __future__ import annotations

import numpy as np

from overlapper.evaluation.slices import plan_slices, reference_spans
from overlapper.kernels.evaluation import flanks
from overlapper.kernels.evaluation.placed_reads import Sites
from overlapper.kernels.seeds.counting import NONE
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

K = 31


def find_sites(sequences: Reads, circular: np.ndarray, memory: int, threads: int, k: int = K) -> Sites:
    """Find the sites of a reference.

    Parameters
    ----------
    sequences : Reads
        Of all haplotypes.
    circular : ndarray of bool, shape (n,)
    memory : int
        Bytes for tables.
    k : int
        A base, and as many before it as behind it: odd.
    """
    kept = NONE ^ np.uint64(3 << (k - 1))
    spans = reference_spans(sequences, circular, k)
    slicing = plan_slices(spans, k, kept, memory, threads)

    def find(number: int) -> np.ndarray:
        low, high = slicing.hashes(number)
        table = np.full((slicing.rows[number], 2), NONE)
        flanks.add_flanks(table, spans, k, kept, low, high)
        return flanks.find_sites(table, spans, k, kept, low, high)

    found = np.concatenate(list(map_in_order(find, range(len(slicing)), threads)))
    sequence, others = found[:, 0], found[:, 2].astype(np.uint8)
    position = found[:, 1] - offsets_of(sequences.lengths)[sequence]
    position -= np.where(position >= sequences.lengths[sequence], sequences.lengths[sequence], 0)
    order = np.lexsort((position, sequence))
    first = np.searchsorted(sequence[order], np.arange(len(sequences) + 1))
    return Sites(first, position[order], others[order])


def beyond_ends(sites: Sites, lengths: np.ndarray, more: np.ndarray) -> Sites:
    """Return sites of sequences that go on with their own first bases.

    Parameters
    ----------
    lengths, more : ndarray of int64, shape (n,)
        Bases of each sequence, and how many of its first ones come once more.
    """
    sequence = np.repeat(np.arange(len(lengths)), np.diff(sites.first))
    again = np.flatnonzero(sites.position < more[sequence])
    sequences = np.concatenate([sequence, sequence[again]])
    position = np.concatenate([sites.position, sites.position[again] + lengths[sequence[again]]])
    others = np.concatenate([sites.others, sites.others[again]])
    order = np.lexsort((position, sequences))
    first = np.searchsorted(sequences[order], np.arange(len(lengths) + 1))
    return Sites(first, position[order], others[order])
