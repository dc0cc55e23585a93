"""From reads to contigs: overlap, correct the reads if they need it, lay them out, polish.

::

    reads ── overlaps ──┬────────────────────────────────► layout ── polish ──► contigs
                        └── correct ── overlaps again ──►┘            ▲
      └───────────────────────────────────────────────────────────────┘

Contigs are the unitigs of the layout. The reads as given polish them, not the corrected ones, whose errors
are no longer independent. Each step is a stage (`overlapper.tiled.stages`): what a killed run finished is
kept.

Where copies are kept apart, reads are always corrected, and of their overlaps only those within a copy are
laid out (`overlapper.assemble.separation`): of accurate reads the exact ones, which are the only ones to be
found::

    reads ── overlaps ── correct ── overlaps again ── copies ── layout ── polish ──► contigs

Each contig is polished by the reads that the layout has in it: others are of other copies, and would mix what
was kept apart. Contigs of exact overlaps are not polished (`overlapper.assemble.agreement`).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from overlapper.assemble.agreement import with_agreement
from overlapper.assemble.chimeras import Sound, sound_parts
from overlapper.assemble.ends import without_error_prone_ends, without_shallow_ends
from overlapper.assemble.haplotigs import Haplotypes
from overlapper.assemble.layouts import (
    Contigs,
    LaidOut,
    depth_of_haplotype,
    lay_out,
    tell_haplotypes_apart,
)
from overlapper.assemble.separation import ACCURATE_BELOW, BOTH_ENDS, EXACT, EXACT_BELOW, LONGEST_RUN
from overlapper.assemble.steps import AssemblySteps, HeldSteps, correct_by_accuracy
from overlapper.assemble.summary import no_unitigs
from overlapper.correct.polish import Polished, Unitigs
from overlapper.graph.stats import n50
from overlapper.overlap.presets import ErrorRate
from overlapper.params.assembly import AssembleParams, WhatOfCopies, WhatOfHaplotypes, WhenToCorrect
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Reads
from overlapper.tiled.stages import Stage, Stages
from overlapper.version import __version__


@dataclasses.dataclass(frozen=True)
class Assembled:
    """The result of `assemble_reads`: contigs, and the summary of the run.

    Attributes
    ----------
    contigs : Contigs
    params : AssembleParams
    stages : list of Stage
        In order.
    warnings : list of str
        What polishing left undone (`overlapper.correct.unvoted.warning`).
    cut_off : int
        Bases of error-prone ends of contigs, which are left out (`overlapper.assemble.ends`).
    haplotypes : Haplotypes, optional
        Where they were told apart.
    """

    contigs: Contigs
    params: AssembleParams
    stages: list[Stage]
    warnings: list[str]
    cut_off: int
    haplotypes: Haplotypes | None

    def to_json(self, left_out: Mapping[str, int], run: Mapping[str, Any] | None = None) -> str:
        """Write the contigs in figures, what every stage found, its time, and the parameters.

        Parameters
        ----------
        left_out : mapping of str to int
            How many reads of the files were not assembled, by why.
        run : mapping, optional
            What to say besides about the run, under that name: who was called how, on what, when.
        """
        lengths = self.contigs.sequences.lengths
        parts = {
            "version": __version__,
            "left_out": dict(left_out),
            "contigs": {
                "number": len(lengths),
                "circular": int(self.contigs.circular.sum()),
                "bases": int(lengths.sum()),
                "longest": int(lengths.max(initial=0)),
                "n50": n50(lengths),
                "bases cut off ends": self.cut_off,
            },
            **({"haplotypes": self.haplotypes.figures()} if self.haplotypes else {}),
            "stages": {
                stage.name: {"folder": stage.folder, "seconds": stage.seconds, **stage.facts}
                for stage in self.stages
            },
            "warnings": self.warnings,
            "params": dataclasses.asdict(self.params),
        }
        return json.dumps(parts | ({"run": dict(run)} if run else {}), indent=2) + "\n"

    def decision(self) -> str:
        """Text that says whether the reads were corrected, and at which error rate."""
        rate = self.stages[0].facts["error rate"]
        done = "laid out as they are"
        if keeps_copies_apart(self.params, rate):
            done = "corrected, and copies kept apart"
        elif needs_correction(self.params, rate):
            done = "corrected"
        return f"error rate {100 * rate:.2g} %: reads are {done}"

    def why_empty(self) -> str:
        """Say why there are no contigs, and what to try."""
        overlaps = [
            stage.facts.get("overlaps", 0) for stage in self.stages if stage.name.endswith("overlaps")
        ]
        return no_unitigs(overlaps[-1], self.params.graph, "min_depth in [graph] of --config")


def assemble_reads(
    reads: Reads,
    params: AssembleParams | None = None,
    *,
    preset: str = "auto",
    threads: int = 1,
    device: str = "auto",
    gpu_memory: int = 0,
    stages: Stages | None = None,
    report: Report = unreported,
) -> Assembled:
    """Assemble reads.

    Parameters
    ----------
    reads : Reads
        Bases with qualities vote with them.
    params : AssembleParams, optional
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``, whose error rate is taken where too few reads overlap to
        estimate it.
    threads : int
        Changes nothing but the time.
    device : str
        What finds overlaps and the consensus of reads and of contigs: ``cpu``; ``cuda`` for all GPUs,
        ``cuda:0,2`` for some; ``auto`` for all GPUs if there are any. Changes nothing but the time.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    stages : Stages, optional
        Keep what every stage makes; those of a run on the same reads.
    report : callable
        Told how far it is.

    Returns
    -------
    Assembled

    Raises
    ------
    ParameterError
        When there is no such preset or device, or haplotypes are to be told apart by reads that do not tell
        their depth.
    OutOfMemoryError
        When there is too little memory to put overlaps in order.
    DeviceError, MissingExtraError
        When a GPU that was asked for is missing or unusable, or a GPU fails.

    Examples
    --------
    >>> from overlapper.simulate import random_genome, simulate_reads
    >>> reads, _ = simulate_reads(random_genome(40_000), "hifi", coverage=20)
    >>> len(assemble_reads(reads).contigs)
    1
    """
    reads = in_order(reads, canonical_order(reads, threads), threads)
    steps = HeldSteps(reads, stages or Stages(), threads, device, gpu_memory)
    del reads
    return assemble_in_steps(steps, params or AssembleParams(), preset, report)


def assemble_in_steps(steps: AssemblySteps, params: AssembleParams, preset: str, report: Report) -> Assembled:
    """Assemble reads in memory or on disk (`AssemblySteps`), as `assemble_reads` does."""
    separate = keeps_copies_apart(params, round(steps.error_rate(preset).value, 4))
    error_rate, sound, depth = _find_overlaps(steps, params, preset, separate, report)
    exact = separate and error_rate < EXACT_BELOW
    rounds = params.accurate_polish_rounds if exact else params.polishing.rounds
    layout = lay_out(steps, params, sound, separate, exact, depth, rounds > 0, report)
    contigs = layout.laid_out.contigs
    if rounds:
        polishing = dataclasses.replace(params.polishing, rounds=rounds)
        polished = _polish(steps, layout.laid_out, separate, error_rate, polishing, report)
        sequences, warnings = polished.unitigs.sequences, polished.warnings
    else:
        unitigs = Unitigs(contigs.sequences, contigs.circular)
        sequences, warnings = with_agreement(unitigs, layout.laid_out.reads, layout.overlaps), list[str]()
    uncut_bases = sequences.total_bases
    if not separate:
        sequences = without_error_prone_ends(sequences, contigs.ends_that_stay())
    elif exact and not rounds and not layout.depth:  # haplotypes are told apart by where reads lie
        sequences = without_shallow_ends(sequences, contigs.ends_that_stay())
    contigs = dataclasses.replace(contigs, sequences=sequences)
    haplotypes = tell_haplotypes_apart(steps, layout, contigs, rounds > 0, report)
    cut_off = uncut_bases - sequences.total_bases
    return Assembled(contigs, params, steps.stages.done, warnings, cut_off, haplotypes)


def _find_overlaps(
    steps: AssemblySteps, params: AssembleParams, preset: str, separate: bool, report: Report
) -> tuple[float, Sound | None, float | None]:
    """Find the overlaps to lay out; reads that need it are corrected before, and overlapped again.

    Returns
    -------
    error_rate : float
        Of the given reads.
    sound : Sound or None
        Parts of the current reads that are not chimeric; where overlaps are exact.
    depth : float or None
        Of a haplotype; None if there are not two of them to be told apart.
    """
    error_rate = steps.overlap("overlaps", preset, BOTH_ENDS, report)["error rate"]
    if not separate and not needs_correction(params, error_rate):
        return error_rate, None, None
    exact, given = separate and error_rate < EXACT_BELOW, steps.reads.lengths
    sound = sound_parts(steps.overlaps, given, steps.threads) if exact else None
    accurate = separate and error_rate < ACCURATE_BELOW
    correct_by_accuracy(steps, params, accurate, exact, report)
    depth = depth_of_haplotype(steps, params) if separate else None
    if exact:
        steps.overlap("exact-overlaps", "auto", EXACT, report, None if depth else LONGEST_RUN)
    else:
        steps.overlap("corrected-overlaps", "auto", BOTH_ENDS, report)
    if sound is not None:
        sound = sound.of_corrected(given, steps.origin, steps.reads.lengths)
    return error_rate, sound, depth


def _polish(
    steps: AssemblySteps,
    laid_out: LaidOut,
    separate: bool,
    error_rate: float,
    params: CorrectParams,
    report: Report,
) -> Polished:
    """Polish contigs by the given reads, or, where copies are kept apart, by those of their layout alone."""
    contigs = laid_out.contigs
    return steps.polish(
        Unitigs(contigs.sequences, contigs.circular),
        laid_out.reads if separate else None,
        ErrorRate(error_rate, "of the overlaps"),
        params,
        lambda step, done, total: report(f"polishing, {step}", done, total),
    )


def needs_correction(params: AssembleParams, error_rate: float) -> bool:
    """Return whether reads of this error rate are corrected before layout."""
    if params.correct is WhenToCorrect.AUTO:
        return error_rate > params.correct_above
    return params.correct is WhenToCorrect.ALWAYS


def keeps_copies_apart(params: AssembleParams, error_rate: float) -> bool:
    """Return whether copies and haplotypes are kept apart, by the error rate of the reads."""
    if params.haplotypes is WhatOfHaplotypes.PHASE:
        return True
    if params.copies is WhatOfCopies.AUTO:
        return params.correct is not WhenToCorrect.NEVER and error_rate < params.separate_below
    return params.copies is WhatOfCopies.SEPARATE
