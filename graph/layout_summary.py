"""The summary of a layout as JSON, and the reason for an empty one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from overlapper.graph import Assembly
from overlapper.graph.stats import length_figures
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.tables import Overlaps, Reads
from overlapper.version import __version__


def to_json(
    assembly: Assembly,
    reads: Reads,
    overlaps: Overlaps,
    params: GraphParams,
    cleaning: CleanParams | None,
    run: Mapping[str, Any] | None = None,
) -> str:
    """Return counts of every step, figures of the contigs, parameters, times and memory, as JSON.

    Parameters
    ----------
    assembly : Assembly
    reads : Reads
    overlaps : Overlaps
    params : GraphParams
    cleaning : CleanParams or None
        None where nothing was cleaned.
    run : mapping, optional
        What to say besides about the run, under that name: who was called how, on what, when.
    """
    parts = {
        "version": __version__,
        "reads": len(reads),
        "bases": reads.total_bases,
        "overlaps": len(overlaps),
        "counts": assembly.counts,
        "sizes": assembly.sizes,
        "unitigs": length_figures(assembly.layout.lengths, assembly.layout.circular),
        "seconds": assembly.seconds,
        "memory": assembly.memory,
        "params": {
            "graph": dataclasses.asdict(params),
            "clean": None if cleaning is None else dataclasses.asdict(cleaning),
        },
    }
    return json.dumps(parts | ({"run": dict(run)} if run else {}), indent=2) + "\n"


def no_unitigs(overlaps: int, params: GraphParams, min_depth: str = "--min-depth") -> str:
    """Return why an assembly has no unitigs, by its number of overlaps, and what to try.

    Only trimming can take every read: each later step leaves one. ``min_depth`` is how the command calls the
    parameter of that name.
    """
    if not overlaps:
        return "no unitigs: there are no overlaps"
    return (
        f"no unitigs: no read has {params.min_overlap} bases that {params.min_depth} overlaps cover; "
        f"try a smaller --min-overlap or {min_depth}"
    )
