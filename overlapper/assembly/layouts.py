"""Layouts that become contigs: overlaps of one copy alone, and of two haplotypes where there are two."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from overlapper.assembly.alleles import differ
from overlapper.assembly.chimeras import Sound
from overlapper.assembly.covered import Covered
from overlapper.assembly.ends import unconfirmed_ends
from overlapper.assembly.haplotigs import Haplotypes
from overlapper.assembly.haplotypes import BYTES_A_KMER, COUNTING, MOST_KMERS, Phased, phase
from overlapper.assembly.hic import HicReads
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.lost import LostKmers
from overlapper.assembly.parents import ParentReads
from overlapper.assembly.passages import join_by
from overlapper.assembly.pieces import SHARED
from overlapper.assembly.plan import Plan
from overlapper.assembly.rounds import in_one_round
from overlapper.assembly.rubbish import FEWER, OWN, OWN_OF_ACCURATE, LeftOut, leave_out
from overlapper.assembly.separation import drop_overlaps_between_copies
from overlapper.assembly.shallow import without_shallow
from overlapper.assembly.steps import AssemblySteps
from overlapper.assembly.telomeres import telomeres
from overlapper.correction.own_reads import OwnReads, own_reads
from overlapper.errors import ParameterError
from overlapper.graph import assemble
from overlapper.params.assembly import AssembleParams, WhatOfHaplotypes
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.runtime.memory import check_room
from overlapper.runtime.messages import Report
from overlapper.sketch.estimates import kmer_spectrum
from overlapper.sketch.ploidy import ploidy
from overlapper.tables import Overlaps, Reads

LOST = "lost"
"""The stage that lays out what the layout lost."""


class LayoutWithHaplotypes(NamedTuple):
    """A layout, and what is known of haplotypes."""

    laid_out: LaidOut
    left_out: LeftOut
    """Reads of other contigs."""
    cut_off: int
    """Bases of ends of contigs that were cut off."""
    overlaps: Overlaps
    """Those that were laid out; empty where contigs will be polished, which finds its own."""
    depth: float | None
    """Of a haplotype; None if there are not two of them to be told apart."""
    phased: Phased | None
    """Reads by haplotype, if they had to be told apart to see whether there are two."""


def lay_out(
    steps: AssemblySteps,
    params: AssembleParams,
    plan: Plan,
    sound: Sound | None,
    depth: float | None,
    covered: Covered | None,
    weights: np.ndarray,
    ultra_long: Iterable[Reads] | None,
    report: Report,
) -> LayoutWithHaplotypes:
    """Lay out the current reads by their overlaps, of which those between copies are left out before.

    Ends of contigs outside of what is ``covered`` of their reads are cut off, unless reads are accurate.
    Of two haplotypes the layout is another one. Where it shows that there are not two, it is made again.
    Each read stands for as many as ``weights`` says. ``ultra_long`` reads join contigs in the end.
    """
    reads, overlaps = steps.reads, steps.overlaps
    if plan.separate and not plan.exact:
        report("layout, telling copies apart", 0, 0)
        overlaps = drop_overlaps_between_copies(steps.stages, reads, overlaps, steps.room, steps.threads)
    report("layout", 0, 0)
    graph_params = params.graph.of_exact_overlaps() if plan.exact else params.graph
    laid_out_of = functools.partial(_laid_out, steps, reads, sound, graph_params, params.cleaning)
    kept = Overlaps.empty() if plan.polish_rounds else overlaps

    def in_the_end(laid_out: LaidOut, fewer: float) -> tuple[LaidOut, LeftOut, int]:
        if ultra_long:
            report("layout, ultra-long reads", 0, 0)
            laid_out = join_by(steps, laid_out, ultra_long)
        return cleaned(laid_out, fewer)

    def cleaned(laid_out: LaidOut, fewer: float) -> tuple[LaidOut, LeftOut, int]:
        whole = laid_out.contigs
        if covered and plan.error_rate > params.end_errors:
            lengths, stays = whole.sequences.lengths, whole.ends_that_stay()
            stays |= telomeres(whole.sequences, params.telomere)
            laid_out = laid_out.without_ends(
                unconfirmed_ends(lengths, covered.on(laid_out, steps.origin), stays)
            )
        cut_off = whole.sequences.total_bases - laid_out.contigs.sequences.total_bases
        own_share = OWN_OF_ACCURATE if plan.accurate else OWN
        laid_out, left_out = leave_out(
            reads, laid_out, params.cleaning.tip_reads, steps.room, steps.threads, own_share, fewer
        )
        laid_out, left_out = without_shallow(laid_out, left_out, params.min_relative_depth, weights)
        return laid_out, left_out, cut_off

    if not depth:
        laid_out_of = functools.partial(laid_out_of, np.inf)
        if plan.accurate:  # Of other reads several share errors, which look like sequence that was lost.
            laid_out = _whole_layout(laid_out_of, steps, None, overlaps)
        else:
            laid_out = laid_out_of("layout", overlaps)
        return LayoutWithHaplotypes(*in_the_end(laid_out, FEWER), kept, None, None)
    whole = _whole_layout(functools.partial(laid_out_of, SHARED * depth), steps, depth, overlaps)
    if params.haplotypes is not WhatOfHaplotypes.AUTO:
        return LayoutWithHaplotypes(*in_the_end(whole, 0.0), kept, depth, None)
    made = cleaned(whole, 0.0)
    phased = _phased(made[0].contigs, made[0], depth, steps)
    if not phased.of_two:
        # Those to come have their names.
        steps.stages.rename({"layout": "layout-of-two", "lost": "lost-of-two"})
        whole = _whole_layout(functools.partial(laid_out_of, np.inf), steps, depth, overlaps)
        return LayoutWithHaplotypes(*in_the_end(whole, FEWER), kept, None, None)
    if ultra_long:
        made = in_the_end(whole, 0.0)
        phased = _phased(made[0].contigs, made[0], depth, steps)
        if not phased.of_two:  # What looked like two was a repeat.
            return LayoutWithHaplotypes(*made, kept, None, None)
    return LayoutWithHaplotypes(*made, kept, depth, phased)


def _whole_layout(
    laid_out_of: Callable[[str, Overlaps], LaidOut],
    steps: AssemblySteps,
    depth: float | None,
    overlaps: Overlaps,
) -> LaidOut:
    """Lay out overlaps, and what that loses beside it.

    Parameters
    ----------
    laid_out_of : callable
        ``laid_out_of(stage, overlaps)`` lays out overlaps as a stage of this name.
    steps : AssemblySteps
    depth : float or None
        Reads that cover a base of one haplotype; None for those on half of the bases of contigs.
    overlaps : Overlaps
        Of all current reads.
    """
    laid_out, reads = laid_out_of("layout", overlaps), steps.reads
    depth = depth or laid_out.contigs.median_depth()
    lost = LostKmers.of(reads, laid_out, depth, steps.room, steps.threads)
    if not len(lost.read):
        return laid_out
    has_lost = np.isin(np.arange(len(reads)), lost.read)
    again = laid_out_of(LOST, overlaps.take(has_lost[overlaps.query] & has_lost[overlaps.target]))
    return laid_out.beside(again.take(lost.contigs_with(again)))


def tell_haplotypes_apart(
    steps: AssemblySteps,
    layout: LayoutWithHaplotypes,
    contigs: Contigs,
    polished: bool,
    parents: ParentReads | None,
    hic: HicReads | None,
    report: Report,
) -> Haplotypes | None:
    """Return the haplotypes of contigs; None if there are not two.

    Parameters
    ----------
    steps : AssemblySteps
    layout : LayoutWithHaplotypes
    contigs : Contigs
        Those of the layout, polished and cut off.
    polished : bool
        Whether they were polished, so that they have to be phased again.
    parents : ParentReads or None
    hic : HicReads or None
    report : callable
        Told how far it is.
    """
    if not layout.depth:
        return None
    report("haplotypes", 0, 0)
    phased = layout.phased
    if polished or parents or hic or not phased:
        phased = _phased(contigs, layout.laid_out, layout.depth, steps, parents, hic)
    return Haplotypes.of(contigs, phased, layout.depth)


def depth_of_haplotype(steps: AssemblySteps, params: AssembleParams, resolved: bool) -> float | None:
    """Return the depth of a haplotype; None if there are not two haplotypes to be told apart.

    Repeats look like haplotypes; where ultra-long reads resolve them, what is laid out keeps their copies.

    Raises
    ------
    ParameterError
        When they are to be told apart, but the reads do not tell their depth.
    """
    if params.haplotypes is WhatOfHaplotypes.COLLAPSE:
        return None
    found = ploidy(kmer_spectrum(steps.reads, steps.threads))
    if params.haplotypes is WhatOfHaplotypes.AUTO:
        if not (found and found.has_both_peaks):
            return None
        return found.depth if resolved or differ(steps.reads, found.depth, steps.threads) else None
    if not found:
        raise ParameterError(
            "haplotypes cannot be told apart: too few k-mers of the reads occur often enough to estimate the "
            "depth; expected more reads, or --haplotypes collapse"
        )
    return found.depth if found.has_both_peaks else found.of_one_peak


def _phased(
    contigs: Contigs,
    laid_out: LaidOut,
    depth: float,
    steps: AssemblySteps,
    parents: ParentReads | None = None,
    hic: HicReads | None = None,
) -> Phased:
    kmers = min(MOST_KMERS, contigs.sequences.total_bases)
    check_room(COUNTING + BYTES_A_KMER * kmers, steps.room, f"{kmers:,} k-mers that tell haplotypes apart")
    own, given = OwnReads.concat([laid_out.reads, laid_out.carried]), (contigs.sequences, contigs.circular)
    return phase(*given, own, depth, parents=parents, hic=hic, threads=steps.threads)


def _laid_out(
    steps: AssemblySteps,
    reads: Reads,
    sound: Sound | None,
    params: GraphParams,
    cleaning: CleanParams,
    shared_depth: float,
    stage: str,
    overlaps: Overlaps,
) -> LaidOut:
    cleaning = dataclasses.replace(cleaning, keep_confirmed=stage == LOST)

    def make() -> tuple[LaidOut, dict[str, Any]]:
        assembly = assemble(
            reads,
            overlaps,
            params,
            cleaning,
            within=sound and sound[:2],
            shared_depth=shared_depth,
            threads=steps.threads,
        )
        unitigs = assembly.layout
        source, target, edge = unitigs.links()
        sequences = (unitigs.sequence(unitig, reads) for unitig in range(len(unitigs)))
        made = Contigs(
            Reads.from_sequences(unitigs.names, sequences), unitigs.circular, unitigs.depth,
            unitigs.read_counts, source, target, unitigs.graph.edges.overlap[edge],
        )  # fmt: skip
        own = own_reads(unitigs, reads.lengths)
        return in_one_round(LaidOut(made, own)), {"counts": assembly.counts, "sizes": assembly.sizes}

    depends_on = [dataclasses.asdict(params), dataclasses.asdict(cleaning), str(shared_depth)]
    return steps.stages.run(stage, LaidOut, depends_on, make)[0]
