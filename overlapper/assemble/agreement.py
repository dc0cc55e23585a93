"""Qualities of contigs that were laid out by exact overlaps: how many of their reads have each base.

Such contigs are not polished. Every base of them has been voted on in each of its reads, and the reads agree
in it to the last one; a vote of the reads as given would take again what a vote of better chosen reads found.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.correct.own_reads import OwnReads
from overlapper.correct.polish import Unitigs
from overlapper.correct.voted import CONFIRMED_DEPTH
from overlapper.tables import Reads
from overlapper.tables.base import offsets_of

AGREED = 50
"""Phred quality of a base that enough reads have, the highest that polishing gives. Of 6.4 Mb of contigs of
the LPA locus, the MHC and yeast, simulated HiFi reads, the one wrong base that so many had was of a run."""


def with_agreement(unitigs: Unitigs, own: OwnReads) -> Reads:
    """Return the sequences of unitigs with qualities.

    A base that `CONFIRMED_DEPTH` reads have is of quality `AGREED`, others of 0, as polishing has it for
    bases on which no vote is taken.

    Parameters
    ----------
    unitigs : Unitigs
    own : OwnReads
        Where their reads lie, by unitig in any order.
    """
    sequences = unitigs.sequences
    order = np.argsort(own.unitig, kind="stable")
    bounds = np.searchsorted(own.unitig[order], np.arange(len(sequences) + 1))
    parts = [np.empty(0, np.uint8)]
    for unitig, length in enumerate(sequences.lengths.tolist()):
        of_unitig = order[bounds[unitig] : bounds[unitig + 1]]
        start = own.start[of_unitig]
        end = start + (own.r_end - own.r_start)[of_unitig]
        depth = _depth(start, end, length, bool(unitigs.circular[unitig]))
        parts.append(np.where(depth >= CONFIRMED_DEPTH, AGREED, 0).astype(np.uint8))
    return dataclasses.replace(
        sequences, qualities=np.concatenate(parts), quality_offsets=offsets_of(sequences.lengths)
    )


def _depth(start: np.ndarray, end: np.ndarray, length: int, circular: bool) -> np.ndarray:
    """Return how many intervals cover each base; those that leave a circle come back at its other end."""
    around = range(-length, 2 * length, length) if circular else [0]
    steps = np.zeros(length + 1, np.int64)
    for turn in around:
        np.add.at(steps, np.clip(start + turn, 0, length), 1)
        np.add.at(steps, np.clip(end + turn, 0, length), -1)
    return np.cumsum(steps[:-1])
