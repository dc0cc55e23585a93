"""Find the overlaps of long DNA reads.

Examples
--------
>>> import overlapper
>>> reads = overlapper.read_fastx("reads.fastq.gz")  # doctest: +SKIP
>>> overlaps = overlapper.find_overlaps(reads, preset="ont")  # doctest: +SKIP
>>> overlapper.write_overlaps(overlaps, reads, "overlaps.paf")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib

from overlapper.version import __version__

TYPE_CHECKING = False  # `typing` takes longer to load than all of this
if TYPE_CHECKING:
    from typing import Any

_HOMES = {
    "read_fastx": "overlapper.io",
    "read_overlaps": "overlapper.io",
    "write_overlaps": "overlapper.io",
    "find_overlaps": "overlapper.pipeline",
    "run": "overlapper.pipeline",
    "Run": "overlapper.pipeline",
    "Params": "overlapper.params",
    "Scoring": "overlapper.scoring",
    "map_reads": "overlapper.mapping.mapper",
    "Mapper": "overlapper.mapping.mapper",
    "MapParams": "overlapper.mapping.params",
    "align": "overlapper.extend.pairwise",
    "Aligner": "overlapper.extend.pairwise",
    "random_genome": "overlapper.simulate",
    "simulate_reads": "overlapper.simulate",
    "evaluate_overlaps": "overlapper.evaluate",
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
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
