"""Stretches of contigs that are deeper than the rest: of arrays that have more copies than the contig.

Reads of copies that a contig lacks may lie nowhere, so depth is told by k-mers: how often those of a contig
occur in all reads, divided by how often they do in all contigs, compared with the median of the contig.
k-mers are sampled by content, as for the depth of reads (`overlapper.sketch.depth`).

A base whose k-mers are ``d`` times as deep says as much as ``d D / L`` reads that begin there, where the
contig has a depth of ``D`` and reads have ``L`` bases: its evidence for `MORE` copies, not one, is
``(d ln MORE - (MORE - 1)) D / L``. A stretch is deep where the sum is as high as can be, and at least `SURE`
and the logarithm of the number of reads that fit on the contig end to end.
"""

from __future__ import annotations

import itertools

import numpy as np

from overlapper.assembly.laid_out import Contigs
from overlapper.correction.doubt import Doubt, Reason
from overlapper.sketch.depth import SHORTEST_K, Sampling
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

MORE, SURE = 1.5, 7.0
"""Copies; chosen: a stretch of one copy is taken for deep on one contig in 1,000 (e to 7)."""
MOST = 8.0
"""Depth, compared with the median, that counts at most: k-mers may be frequent in what reads do not share."""
BIN = 64
"""k-mers whose depth is one of those that the median is taken of."""


def deep_stretches(contigs: Contigs, reads: Reads, threads: int) -> Doubt:
    """Return the stretches of contigs that are deeper than the rest of the same contig.

    Parameters
    ----------
    contigs : Contigs
    reads : Reads
    threads : int
        Changes nothing but the time.
    """
    from overlapper.kernels.seeds import read_depth

    sequences = contigs.sequences
    sampling = Sampling.of(reads.total_bases + sequences.total_bases, SHORTEST_K)
    in_reads = sampling.table()
    for slots, _, _ in sampling.samples(reads, threads):
        read_depth.count(slots, in_reads)
    slot, places, counts = map(np.concatenate, zip(*sampling.samples(sequences, threads), strict=True))
    first = offsets_of(counts)
    _, number, in_contigs = np.unique(slot, return_inverse=True, return_counts=True)
    each = in_reads[slot] / in_contigs[number]
    usual = reads.total_bases / max(1, len(reads))
    parts = [Doubt.empty()]
    for contig, (start, stop) in enumerate(itertools.pairwise(first.tolist())):
        place, depth = places[start:stop], each[start:stop]
        median = _median(depth)
        if not median:
            continue
        depth = depth / median
        bases = np.diff(place, append=sequences.lengths[contig]) * contigs.depth[contig] / max(1.0, usual)
        gain = (np.minimum(depth, MOST) * np.log(MORE) - (MORE - 1)) * bases
        least = SURE + np.log1p(sequences.lengths[contig] / max(1.0, usual))
        for begin, end in best_stretches(gain, least):
            figure = float(np.mean(depth[begin:end]))
            behind = place[end] if end < len(place) else sequences.lengths[contig]
            parts.append(Doubt(*(np.array([x]) for x in (contig, place[begin], behind, Reason.DEEP, figure))))
    return Doubt.concat(parts)


def _median(depth: np.ndarray) -> float:
    """Return the median of the means of bins; 0 without k-mers."""
    if not len(depth):
        return 0.0
    bins = np.arange(0, len(depth), BIN)
    return float(np.median(np.add.reduceat(depth, bins) / np.minimum(len(depth) - bins, BIN)))


def best_stretches(gain: np.ndarray, least: float) -> list[tuple[int, int]]:
    """Return stretches, half open, with the highest sums, of ``least`` or more.

    A stretch begins where the sum of all before it is as low as never before, and ends where it is highest
    from there on, before it is as low again.
    """
    total = np.append(0.0, np.cumsum(gain))
    starts = np.flatnonzero(total == np.minimum.accumulate(total))
    stops = np.append(starts[1:], len(total))
    found = np.flatnonzero(np.maximum.reduceat(total, starts) - total[starts] >= least)
    ranges = zip(starts[found].tolist(), stops[found].tolist(), strict=True)
    return [(start, start + int(total[start:stop].argmax())) for start, stop in ranges]
