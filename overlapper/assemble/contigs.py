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
import functools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from overlapper.assemble.agreement import with_agreement
from overlapper.assemble.chimeras import Sound, sound_parts
from overlapper.assemble.ends import without_error_prone_ends, without_shallow_ends
from overlapper.assemble.haplotigs import Ends, Haplotypes
from overlapper.assemble.haplotypes import BYTES_A_KMER, COUNTING, MOST_KMERS, Phased, phase
from overlapper.assemble.pieces import SHARED
from overlapper.assemble.separation import ACCURATE_BELOW, BOTH_ENDS, EXACT, EXACT_BELOW, separated
from overlapper.assemble.steps import AssemblySteps, HeldSteps, correct_by_accuracy
from overlapper.assemble.summary import no_unitigs
from overlapper.correct.own_reads import OwnReads, own_reads
from overlapper.correct.polish import Unitigs
from overlapper.errors import ParameterError
from overlapper.extend.differences import check_room
from overlapper.graph import assemble
from overlapper.graph.stats import n50
from overlapper.overlap.presets import ErrorRate
from overlapper.params.assembly import AssembleParams, WhatOfCopies, WhatOfHaplotypes, WhenToCorrect
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.runtime.messages import Report, unreported
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.sketch.estimates import kmer_spectrum
from overlapper.sketch.ploidy import ploidy
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.stages import Stage, Stages
from overlapper.version import __version__


@dataclasses.dataclass(frozen=True)
class Contigs:
    """Contigs and their links.

    Attributes
    ----------
    sequences : Reads
        Named as in `overlapper.graph.layout.Layout.names`, longest unitig first; with qualities in the end.
    circular : ndarray of bool, shape (n,)
    depth : ndarray of float64, shape (n,)
        Reads that cover a base, in the layout.
    copies : ndarray of float64, shape (n,)
        Depth over that of the median base.
    reads : ndarray of int64, shape (n,)
        Reads that they consist of, contained ones included.
    link_source, link_target : ndarray of int64
        Ends that are joined: ``2 * contig``, or ``2 * contig + 1`` for its reverse complement.
    link_overlap : ndarray of int32
        Bases that the reads of both ends share.
    """

    sequences: Reads
    circular: np.ndarray
    depth: np.ndarray
    copies: np.ndarray
    reads: np.ndarray
    link_source: np.ndarray
    link_target: np.ndarray
    link_overlap: np.ndarray

    def __len__(self) -> int:
        return len(self.sequences)


@dataclasses.dataclass(frozen=True)
class LaidOut:
    """Contigs before polishing, and the places of their reads."""

    contigs: Contigs
    reads: OwnReads


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
        ``auto``, ``ont``, ``clr`` or ``hifi``.
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
    error_rate, sound = _find_overlaps(steps, params, preset, separate, report)
    exact = separate and error_rate < EXACT_BELOW
    reads, overlaps = steps.reads, steps.overlaps
    if separate and not exact:
        report("telling copies apart", 0, 0)
        overlaps = separated(steps.stages, reads, overlaps, steps.room, steps.threads)
    report("laying out", 0, 0)
    graph_params = params.graph.of_exact_overlaps() if exact else params.graph

    lay_out = functools.partial(_laid_out, steps, reads, overlaps, sound, graph_params, params.cleaning)
    laid_out, phased = None, None
    depth = _depth_of_haplotype(steps, reads, params) if separate else None
    if depth:
        laid_out = lay_out(SHARED * depth)
        if params.haplotypes is WhatOfHaplotypes.AUTO:
            phased = _phased(laid_out, depth, steps)
            if not phased.of_two:
                steps.stages.rename_last("layout-of-two")  # the layout is the one to come
                laid_out, depth = None, None
    laid_out = laid_out or lay_out(np.inf)
    contigs = laid_out.contigs
    rounds = params.accurate_polish_rounds if exact else params.polishing.rounds
    laid_out_overlaps = overlaps if rounds == 0 else Overlaps.empty()
    del reads, overlaps, lay_out  # polishing has its own
    unitigs = Unitigs(contigs.sequences, contigs.circular)
    if rounds == 0:
        sequences, warnings = with_agreement(unitigs, laid_out.reads, laid_out_overlaps), list[str]()
    else:
        polished = steps.polish(
            unitigs,
            laid_out.reads if separate else None,
            ErrorRate(error_rate, "of the overlaps"),
            dataclasses.replace(params.polishing, rounds=rounds),
            lambda step, done, total: report(f"polishing, {step}", done, total),
        )
        sequences, warnings = polished.unitigs.sequences, polished.warnings
    polished_bases = sequences.total_bases
    if not separate:
        sequences = without_error_prone_ends(sequences, _ends_that_stay(contigs))
    elif exact and rounds == 0 and not depth:  # haplotypes are told apart by where reads lie
        sequences = without_shallow_ends(sequences, _ends_that_stay(contigs))
    contigs = dataclasses.replace(contigs, sequences=sequences)
    haplotypes = None
    if depth:
        report("telling haplotypes apart", 0, 0)
        if rounds or not phased:  # polishing changed the bases, or this is the first time
            phased = _phased(dataclasses.replace(laid_out, contigs=contigs), depth, steps)
        ends = Ends(contigs.link_source, contigs.link_target, contigs.link_overlap)
        haplotypes = Haplotypes.of(contigs.sequences, contigs.circular, ends, phased, depth)
    cut_off = polished_bases - sequences.total_bases
    return Assembled(contigs, params, steps.stages.done, warnings, cut_off, haplotypes)


def _find_overlaps(
    steps: AssemblySteps, params: AssembleParams, preset: str, separate: bool, report: Report
) -> tuple[float, Sound | None]:
    """Find the overlaps to lay out; reads that need it are corrected before, and overlapped again.

    Returns
    -------
    error_rate : float
        Of the given reads.
    sound : Sound or None
        Parts of the current reads that are not chimeric; where overlaps are exact.
    """
    error_rate = steps.overlap("overlaps", preset, BOTH_ENDS, report)["error rate"]
    if not separate and not needs_correction(params, error_rate):
        return error_rate, None
    exact, given = separate and error_rate < EXACT_BELOW, steps.reads.lengths
    sound = sound_parts(steps.overlaps, given, steps.threads) if exact else None
    accurate = separate and error_rate < ACCURATE_BELOW
    correct_by_accuracy(steps, params, accurate, exact, report)
    name, changes = ("exact-overlaps", EXACT) if exact else ("corrected-overlaps", BOTH_ENDS)
    steps.overlap(name, "auto", changes, report)
    if sound is not None:
        sound = sound.of_corrected(given, steps.origin, steps.reads.lengths)
    return error_rate, sound


def _ends_that_stay(contigs: Contigs) -> np.ndarray:
    """Return a mask (shape (n, 2)) of the ends of contigs that are linked to others or to themselves."""
    stays = np.repeat(contigs.circular, 2).reshape(-1, 2)
    stays[contigs.link_source >> 1, 1 - (contigs.link_source & 1)] = True
    stays[contigs.link_target >> 1, contigs.link_target & 1] = True
    return stays


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


def _depth_of_haplotype(steps: AssemblySteps, reads: Reads, params: AssembleParams) -> float | None:
    """Return the depth of a haplotype; None if there are not two haplotypes to be told apart."""
    if params.haplotypes is WhatOfHaplotypes.COLLAPSE:
        return None
    found = ploidy(kmer_spectrum(reads, steps.threads))
    if params.haplotypes is WhatOfHaplotypes.AUTO:
        return found.depth if found and found.has_both_peaks else None
    if not found:
        raise ParameterError(
            "haplotypes cannot be told apart: no k-mer of the reads is so frequent that it tells their "
            "depth; expected more reads, or --haplotypes collapse"
        )
    return found.depth if found.has_both_peaks else found.of_one_peak


def _phased(laid_out: LaidOut, depth: float, steps: AssemblySteps) -> Phased:
    kmers = min(MOST_KMERS, laid_out.contigs.sequences.total_bases)
    check_room(COUNTING + BYTES_A_KMER * kmers, steps.room, f"{kmers:,} k-mers that tell haplotypes apart")
    return phase(laid_out.contigs.sequences, laid_out.reads, depth, threads=steps.threads)


def _laid_out(
    steps: AssemblySteps,
    reads: Reads,
    overlaps: Overlaps,
    sound: Sound | None,
    params: GraphParams,
    cleaning: CleanParams,
    shared_depth: float,
) -> LaidOut:
    def lay_out() -> tuple[LaidOut, dict[str, Any]]:
        assembly = assemble(
            reads, overlaps, params, cleaning, within=sound, shared_depth=shared_depth, threads=steps.threads
        )
        unitigs = assembly.layout
        source, target, edge = unitigs.links()
        sequences = (unitigs.sequence(unitig, reads) for unitig in range(len(unitigs)))
        made = Contigs(
            Reads.from_sequences(unitigs.names, sequences), unitigs.circular, unitigs.depth, unitigs.copies,
            unitigs.read_counts, source, target, unitigs.graph.edges.overlap[edge],
        )  # fmt: skip
        own = own_reads(unitigs, reads.lengths)
        return LaidOut(made, own), {"counts": assembly.counts, "sizes": assembly.sizes}

    depends_on = [dataclasses.asdict(params), dataclasses.asdict(cleaning), str(shared_depth)]
    return steps.stages.run("layout", LaidOut, depends_on, lay_out)[0]
