"""The sequences of contigs: polished, or, where overlaps were exact, as they were laid out."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from overlapper.assembly.agreement import with_agreement, with_votes
from overlapper.assembly.covered import Covered
from overlapper.assembly.laid_out import LaidOut
from overlapper.assembly.plan import Plan
from overlapper.assembly.steps import AssemblySteps, within
from overlapper.correction.doubt import Doubt, of_qualities
from overlapper.correction.polish import Unitigs
from overlapper.overlap.presets import ErrorRate
from overlapper.params.assembly import AssembleParams
from overlapper.runtime.messages import Report
from overlapper.tables import Overlaps, Reads


class Finished(NamedTuple):
    """Contigs with qualities."""

    sequences: Reads
    doubt: Doubt
    """What was mended of them, what reads contradict, and of polished ones what has a low quality."""
    warnings: list[str]
    """What polishing left undone (`overlapper.correction.polish.Polished`)."""


def finished(
    steps: AssemblySteps,
    laid_out: LaidOut,
    overlaps: Overlaps,
    covered: Covered | None,
    params: AssembleParams,
    plan: Plan,
    report: Report,
) -> Finished:
    """Find the sequences of contigs.

    They are polished by the given reads, where copies are kept apart by those of their layout alone. Those of
    exact overlaps are not: they get qualities by how many reads agree, and are mended where reads contradict
    them that were laid out nowhere (`overlapper.correction.mending`).

    Parameters
    ----------
    steps : AssemblySteps
    laid_out : LaidOut
    overlaps : Overlaps
        Those that were laid out.
    covered : Covered or None
        What enough reads cover of each read.
    params : AssembleParams
    plan : Plan
    report : callable
    """
    contigs, own, rate = laid_out.contigs, laid_out.reads, ErrorRate(plan.error_rate, "of the overlaps")
    unitigs = Unitigs(contigs.sequences, contigs.circular)
    if plan.polish_rounds:
        polishing = dataclasses.replace(params.polishing, rounds=plan.polish_rounds, depth=0)
        of_layout = own if plan.separate else None
        made = steps.polish(unitigs, of_layout, rate, polishing, within("polishing", report))
        sequences = made.unitigs.sequences
        doubt = Doubt.concat([made.doubt, of_qualities(sequences, rate.value)])
        return Finished(sequences, doubt, made.warnings)
    sequences = with_agreement(unitigs, own, overlaps, rate.value, threads=steps.threads)
    if covered:
        sequences = with_votes(sequences, covered.on(laid_out, steps.origin), rate.value)
    mended = steps.mend(
        dataclasses.replace(unitigs, sequences=sequences), own, rate, within("checking contigs", report)
    )
    return Finished(mended.unitigs.sequences, mended.doubt, [])
