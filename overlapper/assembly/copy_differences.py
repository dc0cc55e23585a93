"""Differences between copies, counted for overlaps of raw reads (``--copies``).

Errors hide what tells haplotypes and copies of a repeat apart. So the reads are corrected, which keeps a
copy's own bases, and the corrected reads of each overlap are compared (`overlapper.extend.copies`).

Definition
----------
An overlap of reads as given has as many *differences of copies* as the overlap of the same two reads, on the
same strand, has once they are corrected; of several the best one counts. It has -1 where that differs in too
much to look at, or is not found.

It joins different copies (*trans*) if it has -1, or `TRANS` and more. With none it is of one copy as far as
can be seen (*cis*), or of two that are the same over its whole length; with a few it is undecided.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.assembly.chimeras import Sound
from overlapper.assembly.steps import AssemblySteps, correct_for
from overlapper.correction.resources import Resources
from overlapper.extend.copies import tell_copies
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import COPIES_TOLD_LATER
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.stages import Stages

TRANS = 4
"""Least differences of copies of an overlap between copies: correction leaves fewer between reads of one
copy. Fitted on chromosome XII of yeast (R10, R9, HiFi), judged on yeast, prophages and human X
(``docs/notes/overlaps.md``)."""


def count_copy_differences(
    reads: Reads,
    overlaps: Overlaps,
    *,
    preset: str = "auto",
    threads: int = 1,
    device: str = "auto",
    gpu_memory: int = 0,
    order: np.ndarray | None = None,
    report: Report = unreported,
) -> Overlaps:
    """Count the differences between copies of each overlap, by correcting the reads.

    Parameters
    ----------
    reads : Reads
        Bases with qualities vote with them.
    overlaps : Overlaps
        Of these reads, by any tool.
    preset : str
        For finding the overlaps by which the reads are corrected; its error rate counts where too few reads
        overlap to estimate it.
    threads : int
        Changes nothing but the time.
    device, gpu_memory
        What finds overlaps; they change nothing but the time.
    order : ndarray of int64, shape (reads,), optional
        When the reads are in canonical order already, which this was of (`canonical_order`): the overlaps
        number them as before.
    report : callable
        Told how far it is.

    Returns
    -------
    Overlaps
        The same rows, with ``copy_differences``.
    """
    if order is None:
        order = canonical_order(reads, threads)
        reads = in_order(reads, order, threads)
    steps = AssemblySteps(ReadStore.of(reads), Resources(Stages(), threads, device, gpu_memory))
    told_later = {"classes": COPIES_TOLD_LATER}
    steps.overlap("overlaps", preset, told_later, report)
    whole = Sound.whole(reads.lengths)
    correct_for(steps, CorrectParams(), False, whole, report)
    steps.overlap("corrected-overlaps", "auto", told_later, report)
    report("telling copies apart", 0, 0)
    told = tell_copies(steps.reads, steps.overlaps, threads=threads)
    differences = np.where(told.edits < 0, -1, told.differing).astype(np.int32)
    known = steps.overlaps.renumber(order[steps.origin])
    return dataclasses.replace(overlaps, copy_differences=_looked_up(overlaps, known, differences))


def are_trans(overlaps: Overlaps) -> np.ndarray:
    """Return a mask of the overlaps that join different copies, by their ``copy_differences``."""
    differences = np.asarray(overlaps.copy_differences)
    return (differences < 0) | (differences >= TRANS)


def _looked_up(overlaps: Overlaps, known: Overlaps, values: np.ndarray) -> np.ndarray:
    """Return the value of the best overlap of the same reads and strand among those known; -1 for none."""
    order = np.lexsort((known.score, _pairs(known)))
    pairs, values = np.append(_pairs(known)[order], -1), np.append(values[order], np.int32(-1))
    wanted = _pairs(overlaps)
    place = np.searchsorted(pairs[:-1], wanted, side="right") - 1  # -1, the last one, where there is none
    return np.where(pairs[place] == wanted, values[place], np.int32(-1))


def _pairs(overlaps: Overlaps) -> np.ndarray:
    """Return a number for the two reads and the strand of each overlap."""
    return (
        (overlaps.query.astype(np.int64) << 32) | (overlaps.target.astype(np.int64) << 1) | overlaps.reverse
    )
