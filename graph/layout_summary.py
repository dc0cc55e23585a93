"""The summary of a layout as JSON, and the reason for an empty one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from overlapper.graph import Assembly
from overlapper.graph.placement import contained_in_unitigs
from overlapper.graph.stats import length_figures
from overlapper.overlap.read_share import ReadShare
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
        "held": held_by(assembly, reads, overlaps).facts(),
        "unitigs": length_figures(assembly.layout.lengths, assembly.layout.circular),
        "seconds": assembly.seconds,
        "memory": assembly.memory,
        "params": {
            "graph": dataclasses.asdict(params),
            "clean": None if cleaning is None else dataclasses.asdict(cleaning),
        },
    }
    return json.dumps(parts | ({"run": dict(run)} if run else {}), indent=2) + "\n"


def held_by(assembly: Assembly, reads: Reads, overlaps: Overlaps) -> ReadShare:
    """Return what unitigs hold of the reads."""
    table, inner = assembly.graph.reads, assembly.graph.contained
    held = np.concatenate(
        [table.read[assembly.layout.path >> 1], inner.read[contained_in_unitigs(assembly.layout).row]]
    )
    return ReadShare.of("unitigs", held, reads.lengths, overlaps.mean_cover(reads.lengths))


def shortest(params: GraphParams) -> str:
    """Return text that says which overlaps are laid out."""
    return f"overlaps of {params.least_overlap:,} bases or more are laid out"


def no_unitigs(overlaps: int, params: GraphParams, min_depth: str = "--min-depth") -> str:
    """Return why an assembly has no unitigs, by its number of overlaps, and what to try.

    Only trimming can take every read: each later step leaves one. ``min_depth`` is how the command calls the
    parameter of that name.
    """
    if not overlaps:
        return "no unitigs: there are no overlaps"
    return (
        f"no unitigs: no read has {params.least_overlap} bases that {params.min_depth} overlaps cover; "
        f"try a smaller --min-overlap or {min_depth}"
    )
