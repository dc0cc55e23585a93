"""The steps from reads to contigs as functions, in one style.

Reads are given as a table, as files or as sequences. Keywords are named like the options of the commands;
``changes`` replaces any other parameter of the dataclass that the function names. All keywords that are left
out, or None, keep their defaults. ``threads`` (all by default), ``device`` and ``client`` change the time
alone.
"""

from __future__ import annotations

import dataclasses
import os
import re
import warnings
from collections.abc import Mapping
from typing import Any, Never, TypeVar

import numpy as np

from overlapper.assembly.contigs import assemble_packed
from overlapper.assembly.hic import HicReads
from overlapper.correction.polish import Unitigs, polish_packed, read_unitigs
from overlapper.correction.reads import correct_packed
from overlapper.correction.resources import Resources
from overlapper.correction.uncovered import Uncovered
from overlapper.errors import ParameterError, require, shortened
from overlapper.graph import assemble as lay_out
from overlapper.graph.layout_summary import held_by, no_unitigs
from overlapper.io.given import GivenReads, reads_given
from overlapper.io.writers import read_overlaps
from overlapper.library.results import (
    AssemblyResult,
    CorrectionResult,
    LayoutResult,
    Path,
    PolishingResult,
    PoorResultWarning,
    Result,
)
from overlapper.overlap.pipeline import run
from overlapper.overlap.read_share import shorter_than
from overlapper.params.assembly import AssembleParams
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.graph import LayoutParams
from overlapper.params.shortcuts import changed_by, of_assembly
from overlapper.runtime.messages import counted
from overlapper.sketch.canonical import packed
from overlapper.tables import Overlaps, Reads

Made = TypeVar("Made", bound=Result)
_POOR = "warning: "
"""What lines begin with that say that a result is poor."""


def assemble(
    reads: GivenReads,
    preset: str = "auto",
    *,
    correct: str | None = None,
    copies: str | None = None,
    haplotypes: str | None = None,
    correct_rounds: int | None = None,
    polish_rounds: int | None = None,
    min_overlap: int | None = None,
    end_errors: float | None = None,
    min_relative_depth: float | None = None,
    depth: int | None = None,
    telomere: str | None = None,
    rotate_to: GivenReads | None = None,
    parent1: GivenReads | None = None,
    parent2: GivenReads | None = None,
    hic: tuple[GivenReads, GivenReads] | None = None,
    ul: GivenReads | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    client: Any = None,
    **unknown: Never,
) -> AssemblyResult:
    """Assemble reads into contigs, as ``overlapper assemble`` does.

    Parameters
    ----------
    reads : Reads, path, or sequence of paths or of bases
        Qualities of files are read; of a table, those it has.
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``: used only if too few reads overlap to estimate the error rate.
    correct, copies, haplotypes : str, optional
        ``always`` or ``never``; ``separate`` or ``collapse``; ``phase`` or ``collapse``. By default, all
        follow from the reads.
    correct_rounds, polish_rounds, min_overlap, end_errors, min_relative_depth, depth, telomere : optional
        Like the options of ``overlapper assemble``.
    rotate_to : Reads, path, or sequence of paths or of bases, optional
        Sequences that circular contigs begin with, such as *dnaA*.
    parent1, parent2 : Reads, path, or sequence of paths or of bases, optional
        Reads of one parent or of both. Haplotype 1 is of the first one.
    hic : pair of those, optional
        First and second reads of Hi-C pairs, which join phase blocks.
    ul : Reads, path, or sequence of paths or of bases, optional
        Ultra-long reads, which join contigs.
    changes : mapping, optional
        Further changes of `AssembleParams`, nested: ``{"graph": {"max_hang": 500}}``.
    threads, device, gpu_memory, client
        As in `find_overlaps`.

    Returns
    -------
    AssemblyResult
        If there are no contigs, its warnings say why.

    Raises
    ------
    ParameterError
        When a parameter is unknown, out of range, or contradicts another one.
    InputError
        When a file cannot be read, or is not what it should be.

    Examples
    --------
    >>> import overlapper
    >>> genome = overlapper.random_genome(20_000)
    >>> reads, _ = overlapper.simulate_reads(genome, "hifi", coverage=20)
    >>> made = overlapper.assemble(reads)
    >>> len(made.contigs)
    1
    """
    parents = parent1, parent2
    given: dict[str, Any] = {
        "correct": correct, "copies": copies, "haplotypes": haplotypes, "correct_rounds": correct_rounds,
        "polish_rounds": polish_rounds, "min_overlap": min_overlap, "end_errors": end_errors,
        "min_relative_depth": min_relative_depth, "depth": depth, "telomere": telomere,
    }  # fmt: skip
    options = of_assembly(**given, phases=(hic, *parents) != (None, None, None))
    names = [*given, "rotate_to", "parent1", "parent2", "hic", "ul"]
    params = changed_by(AssembleParams(), options, changes, unknown, names)
    resources = Resources.of(None, threads, device, gpu_memory, client)
    store = packed(reads_given(reads, resources.threads, keep_qualities=True), resources.threads)
    first = None if rotate_to is None else reads_given(rotate_to, resources.threads, name="rotate_to")
    one, other = (
        None if of is None else [reads_given(of, resources.threads, name=f"parent{number}")]
        for number, of in enumerate(parents, 1)
    )
    both = (one, other) if one or other else None
    pairs = None
    if hic is not None:
        if not isinstance(hic, tuple | list) or len(hic) != 2:
            raise ParameterError(
                f"hic: {shortened(hic)} is given, expected first and second reads, two of them"
            )
        files = "hic[0]", "hic[1]"
        ends = [[reads_given(of, resources.threads, name=name)] for of, name in zip(hic, files, strict=True)]
        pairs = HicReads(ends, files)
    ultra_long = None if ul is None else [reads_given(ul, resources.threads, name="ul")]
    made = assemble_packed(
        store, resources, params, preset=preset, first=first, parents=both, hic=pairs, ultra_long=ultra_long
    )
    empty = [] if len(made.contigs) else [_POOR + made.why_empty()]
    return _warned(AssemblyResult(made, made.told(), [*made.warnings, *empty], store, resources.threads))


def correct(
    reads: GivenReads,
    preset: str = "auto",
    *,
    overlaps: Overlaps | Path | None = None,
    uncovered: str = "keep",
    rounds: int | None = None,
    max_depth: int | None = None,
    depth: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    client: Any = None,
    **unknown: Never,
) -> CorrectionResult:
    """Correct reads by those that overlap them, as ``overlapper correct`` does.

    Parameters
    ----------
    reads : Reads, path, or sequence of paths or of bases
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``.
    overlaps : Overlaps or path, optional
        Overlaps of the reads for the first round, from any program; found if not given.
    uncovered : str
        What becomes of bases that too few reads cover: ``keep``, ``trim`` or ``split``.
    rounds, max_depth, depth : int, optional
        Like the options of ``overlapper correct``.
    changes : mapping, optional
        Further changes of `CorrectParams`.
    threads, device, gpu_memory, client
        As in `find_overlaps`.

    Returns
    -------
    CorrectionResult
    """
    given = {"rounds": rounds, "max_depth": max_depth, "depth": depth}
    params = changed_by(CorrectParams(), given, changes, unknown, given)
    choices = [choice.value for choice in Uncovered]
    require(uncovered in choices, "uncovered", uncovered, f"one of {', '.join(choices)}")
    resources = Resources.of(None, threads, device, gpu_memory, client)
    reads = reads_given(reads, resources.threads, keep_qualities=True)
    overlaps = _overlaps_given(overlaps, reads, resources.threads)
    made = correct_packed(
        packed(reads, resources.threads), resources, overlaps, params, preset=preset,
        uncovered=Uncovered(uncovered),
    )  # fmt: skip
    return _warned(CorrectionResult(made, made.held.sentence(), made.warnings))


def layout(
    reads: GivenReads,
    overlaps: Overlaps | Path | None = None,
    preset: str = "auto",
    *,
    min_overlap: int | None = None,
    min_depth: int | None = None,
    max_hang: int | None = None,
    clean: bool = True,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    client: Any = None,
    **unknown: Never,
) -> LayoutResult:
    """Lay reads out along their overlaps, as ``overlapper layout`` does.

    Parameters
    ----------
    reads : Reads, path, or sequence of paths or of bases
    overlaps : Overlaps or path, optional
        Overlaps of the reads, from any program; found if not given.
    preset : str
        Used if overlaps are found: ``auto``, ``ont``, ``clr`` or ``hifi``.
    min_overlap, min_depth, max_hang : int, optional
        Like the options of ``overlapper layout``.
    clean : bool
        Clean the graph after transitive reduction.
    changes : mapping, optional
        Further changes of `GraphParams` and `CleanParams`: ``{"graph": {"fuzz": 500}, "clean": {...}}``.
    threads, device, gpu_memory, client
        As in `find_overlaps`.

    Returns
    -------
    LayoutResult
    """
    given = {"min_overlap": min_overlap, "min_depth": min_depth, "max_hang": max_hang}
    params = changed_by(LayoutParams(), {"graph": given}, changes, unknown, given)
    resources = Resources.of(None, threads, device, gpu_memory)
    reads = reads_given(reads, resources.threads)
    found = _overlaps_given(overlaps, reads, resources.threads)
    if found is None:
        found = run(
            reads, preset, threads=resources.threads, device=device, gpu_memory=gpu_memory, client=client
        ).overlaps
    made = lay_out(reads, found, params.graph, params.clean if clean else None, threads=resources.threads)
    of_reads, lengths = params.graph.of_reads(reads.lengths), made.layout.lengths
    held = held_by(made, reads, found)
    pieces = int((~made.layout.circular).sum())
    poor = held.warnings(shorter_than(reads.lengths, of_reads.least_overlap), pieces)
    empty = [] if len(lengths) else [_POOR + no_unitigs(len(found), of_reads)]
    summary = f"{counted(len(lengths), 'unitig')}, {counted(int(lengths.sum()), 'base')}; {held.sentence()}"
    return _warned(LayoutResult(made, summary, poor + empty, found, reads))


def polish(
    contigs: GivenReads | AssemblyResult | LayoutResult | PolishingResult,
    reads: GivenReads,
    preset: str = "auto",
    *,
    rounds: int | None = None,
    max_depth: int | None = None,
    depth: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    client: Any = None,
    **unknown: Never,
) -> PolishingResult:
    """Replace contigs by the consensus of reads, as ``overlapper polish`` does.

    Parameters
    ----------
    contigs : result, Reads, path, or sequence of bases
        A result, and a file of GFA or FASTA, say which contigs are circles.
    reads : Reads, path, or sequence of paths or of bases
    preset : str
        Of the reads: ``auto``, ``ont``, ``clr`` or ``hifi``.
    rounds, max_depth, depth : int, optional
        Like the options of ``overlapper polish``.
    changes : mapping, optional
        Further changes of `CorrectParams`.
    threads, client
        As in `find_overlaps`.

    Returns
    -------
    PolishingResult
    """
    given = {"rounds": rounds, "max_depth": max_depth, "depth": depth}
    params = changed_by(CorrectParams(thresholds=POLISHING_THRESHOLDS), given, changes, unknown, given)
    resources = Resources.of(None, threads, client=client)
    unitigs = unitigs_given(contigs)
    store = packed(reads_given(reads, resources.threads, keep_qualities=True), resources.threads)
    made = polish_packed(unitigs, store, resources, params, preset=preset)
    summary = f"{counted(len(unitigs.sequences), 'contig')}; {made.held.sentence()}"
    return _warned(PolishingResult(made, summary, made.all_warnings()))


def unitigs_given(given: GivenReads | AssemblyResult | LayoutResult | PolishingResult) -> Unitigs:
    """Return contigs as sequences, linear or circular."""
    if isinstance(given, AssemblyResult | LayoutResult | PolishingResult):
        return Unitigs(given.contigs, given.circular)
    if isinstance(given, str | os.PathLike) and os.path.exists(given):
        return read_unitigs(given)
    sequences = reads_given(given, name="contigs")
    return Unitigs(sequences, np.zeros(len(sequences), np.bool_))


def _overlaps_given(given: Overlaps | Path | None, reads: Reads, threads: int) -> Overlaps | None:
    if given is None or isinstance(given, Overlaps):
        return given
    if not isinstance(given, str | os.PathLike):
        raise ParameterError(
            f"overlaps: {shortened(given)} is given, expected Overlaps or the path of a file"
        )
    return read_overlaps(given, reads, threads=threads)


def _warned(result: Made) -> Made:
    """Warn of a poor result, as from where the function was called, in the words of the library."""
    said = []
    for line in result.warnings:
        words = re.sub(r"--([a-z][a-z0-9-]+)", lambda option: option[1].replace("-", "_"), line)
        said.append(words.removeprefix(_POOR))
        if words.startswith(_POOR):
            warnings.warn(said[-1], PoorResultWarning, stacklevel=3)
    return dataclasses.replace(result, warnings=said)
