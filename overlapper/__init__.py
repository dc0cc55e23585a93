"""Find the overlaps of long DNA reads, and assemble them.

Examples
--------
>>> import overlapper
>>> overlaps = overlapper.find_overlaps("reads.fastq.gz", min_overlap=500)  # doctest: +SKIP
>>> made = overlapper.assemble("reads.fastq.gz")  # doctest: +SKIP
>>> made.write_fasta("contigs.fasta")  # doctest: +SKIP
>>> made.table.to_pandas()  # doctest: +SKIP
"""

from __future__ import annotations

import importlib

from overlapper.version import __version__

TYPE_CHECKING = False  # `typing` takes longer to load than all of this
if TYPE_CHECKING:
    from typing import Any

    from overlapper.errors import OverlapperError as OverlapperError
    from overlapper.evaluation.contigs import evaluate_contigs as evaluate_contigs
    from overlapper.evaluation.overlaps import Evaluation as Evaluation
    from overlapper.evaluation.overlaps import evaluate_overlaps as evaluate_overlaps
    from overlapper.evaluation.reads import evaluate_reads as evaluate_reads
    from overlapper.extend.pairwise import Aligner as Aligner
    from overlapper.extend.pairwise import align as align
    from overlapper.io import read_fastx as read_fastx
    from overlapper.io import read_overlaps as read_overlaps
    from overlapper.io import write_overlaps as write_overlaps
    from overlapper.io.mappings import write_mappings as write_mappings
    from overlapper.io.reported import ReportedOverlaps as ReportedOverlaps
    from overlapper.io.truth import Truth as Truth
    from overlapper.io.truth import read_truth as read_truth
    from overlapper.library.judging import evaluate as evaluate
    from overlapper.library.results import AssemblyResult as AssemblyResult
    from overlapper.library.results import CorrectionResult as CorrectionResult
    from overlapper.library.results import LayoutResult as LayoutResult
    from overlapper.library.results import PolishingResult as PolishingResult
    from overlapper.library.results import PoorResultWarning as PoorResultWarning
    from overlapper.library.steps import assemble as assemble
    from overlapper.library.steps import correct as correct
    from overlapper.library.steps import layout as layout
    from overlapper.library.steps import polish as polish
    from overlapper.mapping.mapper import map_reads as map_reads
    from overlapper.mapping.one_by_one import Hit as Hit
    from overlapper.mapping.one_by_one import Mapper as Mapper
    from overlapper.overlap.pipeline import Run as Run
    from overlapper.overlap.pipeline import find_overlaps as find_overlaps
    from overlapper.overlap.pipeline import run as run
    from overlapper.params.assembly import AssembleParams as AssembleParams
    from overlapper.params.correction import CorrectParams as CorrectParams
    from overlapper.params.graph import CleanParams as CleanParams
    from overlapper.params.graph import GraphParams as GraphParams
    from overlapper.params.mapping import MapParams as MapParams
    from overlapper.params.scoring import Scoring as Scoring
    from overlapper.params.stages import Params as Params
    from overlapper.simulate import random_genome as random_genome
    from overlapper.simulate import simulate_reads as simulate_reads
    from overlapper.tables import Alignments as Alignments
    from overlapper.tables import Candidates as Candidates
    from overlapper.tables import MappingKind as MappingKind
    from overlapper.tables import Mappings as Mappings
    from overlapper.tables import Matches as Matches
    from overlapper.tables import OverlapClass as OverlapClass
    from overlapper.tables import Overlaps as Overlaps
    from overlapper.tables import Pairs as Pairs
    from overlapper.tables import Reads as Reads
    from overlapper.tables.columns import Columns as Columns

_HOMES = {
    "read_fastx": "overlapper.io",
    "read_overlaps": "overlapper.io",
    "write_overlaps": "overlapper.io",
    "find_overlaps": "overlapper.overlap.pipeline",
    "run": "overlapper.overlap.pipeline",
    "Run": "overlapper.overlap.pipeline",
    "Params": "overlapper.params.stages",
    "Scoring": "overlapper.params.scoring",
    "map_reads": "overlapper.mapping.mapper",
    "Mapper": "overlapper.mapping.one_by_one",
    "Hit": "overlapper.mapping.one_by_one",
    "MapParams": "overlapper.params.mapping",
    "assemble": "overlapper.library.steps",
    "correct": "overlapper.library.steps",
    "polish": "overlapper.library.steps",
    "layout": "overlapper.library.steps",
    "evaluate": "overlapper.library.judging",
    "AssemblyResult": "overlapper.library.results",
    "CorrectionResult": "overlapper.library.results",
    "PolishingResult": "overlapper.library.results",
    "LayoutResult": "overlapper.library.results",
    "Columns": "overlapper.tables.columns",
    "write_mappings": "overlapper.io.mappings",
    "PoorResultWarning": "overlapper.library.results",
    "CorrectParams": "overlapper.params.correction",
    "GraphParams": "overlapper.params.graph",
    "CleanParams": "overlapper.params.graph",
    "AssembleParams": "overlapper.params.assembly",
    "align": "overlapper.extend.pairwise",
    "Aligner": "overlapper.extend.pairwise",
    "random_genome": "overlapper.simulate",
    "simulate_reads": "overlapper.simulate",
    "evaluate_overlaps": "overlapper.evaluation.overlaps",
    "Evaluation": "overlapper.evaluation.overlaps",
    "Truth": "overlapper.io.truth",
    "read_truth": "overlapper.io.truth",
    "ReportedOverlaps": "overlapper.io.reported",
    "evaluate_contigs": "overlapper.evaluation.contigs",
    "evaluate_reads": "overlapper.evaluation.reads",
    "Alignments": "overlapper.tables",
    "Candidates": "overlapper.tables",
    "MappingKind": "overlapper.tables",
    "Mappings": "overlapper.tables",
    "Matches": "overlapper.tables",
    "OverlapClass": "overlapper.tables",
    "Overlaps": "overlapper.tables",
    "Pairs": "overlapper.tables",
    "Reads": "overlapper.tables",
    "OverlapperError": "overlapper.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import overlapper`` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'overlapper' has no attribute {name!r}")
    home = _HOMES[name]
    if not home.startswith(("overlapper.tables", "overlapper.params", "overlapper.errors")):
        importlib.import_module("overlapper.runtime.compile.notice")  # what follows may compile kernels
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
