"""Results judged by where reads come from, or by the genome: one function for all of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from overlapper.errors import ParameterError
from overlapper.evaluation.contig_scores import ContigScores
from overlapper.evaluation.contigs import evaluate_contigs
from overlapper.evaluation.overlaps import Evaluation, evaluate_overlaps
from overlapper.evaluation.read_scores import ReadScores
from overlapper.evaluation.reads import evaluate_reads
from overlapper.io.given import GivenReads, reads_given
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.truth import Truth, read_truth
from overlapper.library.results import AssemblyResult, CorrectionResult, LayoutResult, Path, PolishingResult
from overlapper.library.steps import unitigs_given
from overlapper.runtime.threads import available_threads
from overlapper.tables import Overlaps, Reads

_PAF = (".paf", ".paf.gz")
Judged = Overlaps | AssemblyResult | LayoutResult | PolishingResult | CorrectionResult | Reads | Path


def evaluate(
    made: Judged,
    truth: Truth | Path | None = None,
    *,
    reads: GivenReads | None = None,
    reference: GivenReads | tuple[GivenReads, ...] | None = None,
    min_overlap: int = 2000,
    circular: int | Mapping[str, int] | Collection[str] | bool | None = None,
    threads: int | None = None,
) -> Evaluation | ContigScores | ReadScores:
    """Judge a result, as ``overlapper evaluate`` does.

    Parameters
    ----------
    made : Overlaps, a result of this library, Reads or path
        Reads are judged as contigs, and so is a file, unless its name is one of PAF.
    truth : Truth or path
        Where the reads come from: for overlaps and corrected reads.
    reads : Reads, path, or sequence of paths or of bases
        Those that overlaps number. For corrected reads, optional: the reads before correction.
    reference : Reads, path, or sequence of paths or of bases, or tuple of these
        The genome, or a tuple of its haplotypes: for contigs and corrected reads.
    min_overlap : int
        Shortest overlap that is asked for, in bases.
    circular : optional
        Which sequences of the genome are circles: for overlaps, their length or a mapping of names to
        lengths; for contigs, a collection of names, or True for all.
    threads : int, optional
        All by default; changes nothing but the time.

    Returns
    -------
    Evaluation, ContigScores or ReadScores
        Those of `evaluate_overlaps`, `evaluate_contigs` and `evaluate_reads`.

    Raises
    ------
    ParameterError
        When something that is needed is not given.

    Examples
    --------
    >>> import overlapper
    >>> genome = overlapper.random_genome(20_000)
    >>> reads, truth = overlapper.simulate_reads(genome, "hifi", coverage=8)
    >>> overlaps = overlapper.find_overlaps(reads, preset="hifi")
    >>> overlapper.evaluate(overlaps, truth, reads=reads).total.precision
    1.0
    """
    threads = threads or available_threads()
    if isinstance(made, Overlaps) or (isinstance(made, str | os.PathLike) and os.fspath(made).endswith(_PAF)):
        reported = made if not isinstance(made, Overlaps) else _reported(made, reads, threads)
        lengths: Any = circular or 0
        return evaluate_overlaps(_needed(truth, "truth"), reported, min_overlap=min_overlap, circular=lengths)
    references = reference if isinstance(reference, tuple) else (_needed(reference, "reference"),)
    haplotypes = [reads_given(one, threads) for one in references]
    circles: Any = circular or ()
    if isinstance(made, CorrectionResult):
        raw = None if reads is None else reads_given(reads, threads)
        return evaluate_reads(made.reads, _truth(truth), haplotypes, raw=raw, threads=threads)
    contigs = unitigs_given(made)
    return evaluate_contigs(
        contigs.sequences, haplotypes, circles=contigs.circular, circular=circles, threads=threads
    )


def _reported(overlaps: Overlaps, reads: GivenReads | None, threads: int) -> ReportedOverlaps:
    return ReportedOverlaps.from_table(overlaps, reads_given(_needed(reads, "reads"), threads))


def _truth(given: Truth | Path | None) -> Truth:
    given = _needed(given, "truth")
    return given if isinstance(given, Truth) else read_truth(os.fspath(given))


def _needed(given: Any, name: str) -> Any:
    if given is None:
        what = {"truth": "the placements of the reads", "reads": "the reads that are numbered"}
        raise ParameterError(
            f"{name} is missing: give {name}=, {what.get(name, 'the genome or a tuple of its haplotypes')}"
        )
    return given
