"""From reads to contigs: overlap, correct the reads if they need it, lay them out, polish.

::

    reads ── overlaps ──┬────────────────────────────────► layout ── polish ──► contigs
                        └── correct ── overlaps again ──►┘            ▲
      └───────────────────────────────────────────────────────────────┘

Contigs are the unitigs of the layout. The reads as given polish them, not the corrected ones, whose errors
are no longer independent. Each step is a stage (`overlapper.tiled.stages`): what a killed run finished is
kept.

Where copies are kept apart, reads are always corrected, and of their overlaps only those within a copy are
laid out (`overlapper.assembly.separation`): of accurate reads the exact ones, which are the only ones to be
found::

    reads ── overlaps ── correct ── overlaps again ── copies ── layout ── polish ──► contigs

Each contig is polished by the reads that the layout has in it: others are of other copies, and would mix what
was kept apart. Contigs of exact overlaps are not polished (`overlapper.assembly.agreement`).
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from overlapper.assembly.beginnings import Beginnings
from overlapper.assembly.chimeras import Sound, sound_parts, within_molecules
from overlapper.assembly.consensus import finished
from overlapper.assembly.covered import Covered
from overlapper.assembly.cuts import Cut, cut_where_contradicted
from overlapper.assembly.deep import deep_stretches
from overlapper.assembly.disagreeing import Disagreeing, Motif, shared_motifs
from overlapper.assembly.ends import unconfirmed_ends, without_ends
from overlapper.assembly.folds import before_folds, folded_ends
from overlapper.assembly.haplotigs import Haplotypes
from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.hic import HicReads
from overlapper.assembly.layouts import Contigs, depth_of_haplotype, lay_out, tell_haplotypes_apart
from overlapper.assembly.parents import ParentReads
from overlapper.assembly.placed import ContigMapper, PlacedReads, write_reads
from overlapper.assembly.plan import Plan
from overlapper.assembly.rubbish import LeftOut
from overlapper.assembly.separation import BOTH_ENDS, COUNTED_RUN, EXACT
from overlapper.assembly.steps import AssemblySteps, correct_for, within
from overlapper.assembly.telomeres import telomeres
from overlapper.assembly.ultra_long import UltraLong
from overlapper.assembly.undecided import Undecided, find_in_doubt
from overlapper.correction import contradictions, strands
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.resources import Resources
from overlapper.graph.layout_summary import no_unitigs, shortest
from overlapper.graph.stats import length_figures
from overlapper.io.mappings import MappingOptions
from overlapper.io.read_store import ReadStore
from overlapper.overlap.read_share import ReadShare, shorter_than
from overlapper.params.assembly import AssembleParams
from overlapper.runtime.messages import Report, counted, unreported
from overlapper.sketch.depth import ASIDE, told
from overlapper.tables import Reads
from overlapper.tiled.stages import Stage
from overlapper.version import __version__


@dataclasses.dataclass(frozen=True)
class Assembled:
    """The result of an assembly: contigs, and the summary of the run."""

    contigs: Contigs
    params: AssembleParams
    stages: list[Stage]
    """In order."""
    held: ReadShare
    """What contigs hold of the reads that were laid out."""
    warnings: list[str]
    """That reads are too few or most are lost (`overlapper.overlap.read_share`), what polishing left undone
    (`overlapper.correction.polish.Polished`, `overlapper.correction.contradictions.warning`), and that reads
    are of one strand (`overlapper.correction.strands.warning`)."""
    doubt: Doubt
    """Stretches of contigs that are in doubt."""
    undecided: Undecided
    """Runs of contigs of exact overlaps that reads hardly decide."""
    disagreeing: Disagreeing
    """Bases of contigs of exact overlaps about which the strands of reads disagree."""
    adapters: list[str]
    """Those of the reads (`overlapper.sketch.adapters`)."""
    cut_off: int
    """Bases of ends of contigs that too few reads have for their errors to be corrected."""
    haplotypes: Haplotypes | None
    """Where they were told apart."""
    left_out: LeftOut
    """Reads of contigs that are left out (`overlapper.assembly.rubbish`)."""
    names_left_out: list[str]
    """Of these reads."""
    placed: PlacedReads
    """Where the reads of contigs lie."""
    aside: np.ndarray
    """int64; numbers in the input of reads that were set aside, which have no place."""
    ultra_long: UltraLong | None
    """What was seen of ultra-long reads, where they are given, and used."""
    passages: np.ndarray | None
    """int64, shape (contigs,); of these reads."""

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
                **length_figures(lengths, self.contigs.circular),
                "adapters": self.adapters,
                "bases cut off ends": self.cut_off,
                "left out": int(self.left_out.group.max(initial=0)),
                "motifs of modified bases": {motif.bases: motif.stretches for motif in self.motifs},
            },
            "held": self.held.facts(),
            **({"haplotypes": self.haplotypes.figures()} if self.haplotypes else {}),
            "stages": {
                stage.name: {"folder": stage.folder, "seconds": stage.seconds, **stage.facts}
                for stage in self.stages
            },
            "warnings": self.warnings,
            "params": dataclasses.asdict(self.params),
        }
        return json.dumps(parts | ({"run": dict(run)} if run else {}), indent=2) + "\n"

    @functools.cached_property
    def motifs(self) -> list[Motif]:
        """Motifs that bases share about which strands disagree."""
        return shared_motifs(self.contigs.sequences, self.disagreeing)

    @property
    def phased(self) -> Phased | None:
        """Pieces of contigs by haplotype, where haplotypes were told apart."""
        return self.haplotypes.phased if self.haplotypes else None

    def write_reads(
        self, path: str, store: ReadStore, options: MappingOptions, threads: int
    ) -> dict[str, int]:
        """Write the reads of a store, aligned to the contigs (`overlapper.assembly.placed.write_reads`)."""
        mapper = ContigMapper(self.contigs, self.placed, threads, self.aside)
        return write_reads(path, mapper, self.phased, store, options)

    @property
    def error_rate(self) -> float:
        """Errors a base of the reads as they were given."""
        return float(next(stage.facts["error rate"] for stage in self.stages if stage.name == "overlaps"))

    def told(self) -> str:
        """Return the contigs in figures, as a sentence has them."""
        figures = length_figures(self.contigs.sequences.lengths, self.contigs.circular)
        circles = f", {counted(figures['circular'], 'circle')}" if figures["circular"] else ""
        coverage = "" if math.isnan(self.held.coverage) else f", coverage {self.held.coverage:.0f}"
        return (
            f"{counted(figures['number'], 'contig')}, {counted(figures['bases'], 'base')}, "
            f"N50 {figures['n50']:,}{circles}{coverage}"
        )

    def decision(self) -> str:
        """Text that says whether the reads were corrected, and at which error rate."""
        rate = self.error_rate
        done = "laid out as they are"
        plan = Plan.of(self.params, rate)
        if plan.separate:
            done = "corrected, and copies kept apart"
        elif plan.correct:
            done = "corrected"
        return f"error rate {100 * rate:.2g} %: reads are {done}; {shortest(self.params.graph)}"

    def without_adapters(self) -> list[str]:
        """Text that says what was cut off the ends of reads, if something was."""
        adapters = " and ".join(self.adapters)
        return [
            f"{stage.facts['bases cut']:,} bases of adapters ({adapters}) were cut off ends of "
            f"{stage.facts['reads cut']:,} reads"
            for stage in self.stages
            if stage.name == "adapters"
        ]

    def set_aside(self) -> list[str]:
        """Text that says which reads were set aside, if some were."""
        return [told(stage.facts) for stage in self.stages if stage.name == "depth" and stage.facts[ASIDE]]

    def why_empty(self) -> str:
        """Say why there are no contigs, and what to try."""
        overlaps = [
            stage.facts.get("overlaps", 0) for stage in self.stages if stage.name.endswith("overlaps")
        ]
        return no_unitigs(overlaps[-1], self.params.graph, "min_depth in [graph] of --config")


def assemble_packed(
    store: ReadStore,
    resources: Resources,
    params: AssembleParams | None = None,
    *,
    preset: str = "auto",
    first: Reads | None = None,
    parents: ParentReads | None = None,
    hic: HicReads | None = None,
    ultra_long: Iterable[Reads] | None = None,
    report: Report = unreported,
) -> Assembled:
    """Assemble reads that are packed, in memory or on disk.

    Parameters
    ----------
    store : ReadStore
        With qualities, which vote, where the reads have them.
    resources : Resources
    params : AssembleParams, optional
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``, whose error rate is taken where too few reads overlap to
        estimate it.
    first : Reads, optional
        Sequences that circular contigs begin with (`overlapper.assembly.beginnings`).
    parents : (iterable of Reads or None, iterable of Reads or None), optional
        Reads of either parent, which may come in parts, as `overlapper.io.fastx.FastxParts` gives them, or of
        one of them: haplotype 1 is of the first one.
    hic : HicReads, optional
        Pairs of reads, which join phase blocks.
    ultra_long : iterable of Reads, optional
        Reads, in parts, that join contigs of exact overlaps.
    report : callable
        Told how far it is.

    Raises
    ------
    ParameterError
        When a memory budget is too small for the reads, or for the overlaps that are laid out.
    """
    steps, params = AssemblySteps(store, resources), params or AssembleParams()
    adapters = steps.cut_adapters()
    weights = steps.choose(params.depth, preset)
    params = dataclasses.replace(params, graph=params.graph.of_reads(steps.reads.lengths))
    plan = Plan.of(params, round(steps.error_rate(preset).value, 4))
    lengths = steps.reads.lengths
    is_deep = bool((weights > 1).any())
    joining = ultra_long if plan.exact else None
    sound, depth, cover, covered = _find_overlaps(steps, params, plan, preset, is_deep, bool(joining), report)
    layout = lay_out(steps, params, plan, sound, depth, covered, weights[steps.origin], joining, report)
    laid_out, left_out = layout.laid_out, layout.left_out
    sequences, doubt, warnings = finished(steps, laid_out, layout.overlaps, covered, params, plan, report)
    contigs = dataclasses.replace(laid_out.contigs, sequences=sequences)
    doubt = Doubt.concat([doubt, deep_stretches(contigs, store.mapped(), steps.threads)])
    undecided, disagreeing = Undecided.empty(), Disagreeing.empty()
    bases = sequences.total_bases
    laid_out, sequences, doubt, left_out = cut_where_contradicted(Cut(laid_out, sequences, doubt, left_out))
    layout, contigs = layout._replace(laid_out=laid_out), laid_out.contigs
    polished_lengths, beginnings = sequences.lengths, None
    stays = contigs.ends_that_stay()
    cut = np.zeros((len(contigs), 2), np.int64)
    if len(contigs) and not plan.separate and plan.error_rate > params.end_errors:
        confirmed = np.asarray(sequences.qualities) > 0
        kept = stays | telomeres(sequences, params.telomere)
        cut = unconfirmed_ends(sequences.lengths, confirmed, kept)
    if not layout.depth:  # Haplotypes are told apart by where reads lie.
        cut = np.maximum(cut, folded_ends(sequences, stays, plan.error_rate, steps.threads))
    sequences, doubt = without_ends(sequences, cut), doubt.without_ends(cut, sequences.lengths)
    if not layout.depth:
        beginnings = Beginnings.of(sequences, contigs.circular, first, steps.threads)
        sequences = beginnings.turned(sequences)
        left_out = left_out.turned(*beginnings, sequences.lengths)
        doubt = doubt.turned(*beginnings, sequences.lengths)
    if not plan.polish_rounds:
        undecided, disagreeing = find_in_doubt(
            sequences, contigs.circular, steps.given, steps.room, steps.threads
        )
        doubt = Doubt.concat([doubt, undecided.doubt(), disagreeing.doubt()])
    changed = plan.polish_rounds > 0 or bool(np.isin(doubt.reason, (Reason.MENDED, Reason.CUT)).any())
    cut_off = layout.cut_off + bases - sequences.total_bases
    contigs = dataclasses.replace(contigs.of_all(laid_out.reads, weights[steps.origin]), sequences=sequences)
    haplotypes = tell_haplotypes_apart(steps, layout, contigs, changed, parents, hic, report)
    before = laid_out.contigs.sequences.lengths
    placed = steps.placed(laid_out.reads).moved(before, polished_lengths, cut, beginnings)
    placed = placed.phased(haplotypes.phased) if haplotypes else placed
    held = ReadShare.of("contigs", steps.origin[laid_out.reads.read], lengths, cover)
    pieces = int((~contigs.circular).sum())
    too_few = held.warnings(shorter_than(lengths, params.graph.least_overlap), pieces)
    warnings += contradictions.warning(sequences.names, doubt)
    warnings += haplotypes.warnings() if haplotypes else []
    seen = UltraLong.of(steps.stages.done)
    passages = np.bincount(laid_out.carried.unitig, minlength=len(contigs)) if seen else None
    warnings += seen.warnings() if seen else []
    if ultra_long and not seen:
        warnings.append("warning: --ul is not used: ultra-long reads join contigs of accurate reads alone")
    warnings = [*too_few, *warnings, *strands.warning(stage.facts for stage in steps.stages.done)]
    names = steps.names_of(left_out.read)
    return Assembled(
        contigs, params, steps.stages.done, held, warnings, doubt, undecided, disagreeing, adapters, cut_off,
        haplotypes, left_out, names, placed, steps.aside, seen, passages,
    )  # fmt: skip


def _find_overlaps(
    steps: AssemblySteps,
    params: AssembleParams,
    plan: Plan,
    preset: str,
    is_deep: bool,
    resolved: bool,
    report: Report,
) -> tuple[Sound | None, float | None, np.ndarray, Covered | None]:
    """Find the overlaps to lay out; reads that need it are corrected before, cut, and overlapped again.

    Returns
    -------
    sound : Sound or None
        What of each read is of one molecule and one strand; None where reads were cut to it.
    depth : float or None
        Of a haplotype; None if there are not two of them to be told apart.
    cover : ndarray of float64, shape (reads,)
        Overlaps that cover a base of each read as given, on average.
    covered : Covered or None
        What enough reads cover of each; None where copies are not kept apart.
    """
    steps.overlap("overlaps", preset, plan.of_given_overlaps(is_deep), within("overlaps", report))
    lengths, overlaps = steps.reads.lengths, steps.overlaps
    cover = overlaps.mean_cover(lengths)
    sound = before_folds(steps.reads, steps.threads, plan.error_rate)
    sound = within_molecules(overlaps, lengths, is_deep, steps.threads).within(sound)
    if not plan.correct:
        return sound, None, cover, None
    if plan.exact:
        sound = sound_parts(overlaps, lengths, steps.threads).within(sound)
    covered = Covered.of(overlaps, sound, steps.threads) if plan.separate else None
    del overlaps
    correct_for(steps, params.correction, plan.exact, sound, report)
    depth = depth_of_haplotype(steps, params, resolved) if plan.separate else None
    report = within("overlaps of corrected reads", report)
    if plan.exact:
        steps.overlap("exact-overlaps", "auto", EXACT, report, COUNTED_RUN)
    else:
        steps.overlap("corrected-overlaps", "auto", BOTH_ENDS, report)
    return None, depth, cover, covered
