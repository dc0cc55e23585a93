"""The overlaps of a round of correction, as rows by target."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overlapper.correction.pileup_source import write_rows
from overlapper.correction.resources import ChangedParams, Facts, Search
from overlapper.correction.rounds import Round
from overlapper.io.artifacts import Artifact
from overlapper.io.read_columns import PART_BASES, ReadColumns
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps


def summed(facts: Sequence[Facts]) -> Facts:
    """Return the facts of overlaps of several groups of reads: counts summed, the first one's words."""
    return {
        name: value if isinstance(value, str) else sum(of_group[name] for of_group in facts)
        for name, value in facts[0].items()
    }


def find_rows(
    round_: Round,
    reads: ReadColumns,
    store: ReadStore | None,
    groups: list[np.ndarray],
    given: Overlaps | None,
    preset: str | ErrorRate,
    changes: ChangedParams,
) -> Artifact:
    """Find the overlaps of the reads of a round, as a stage; return their rows by target.

    Parameters
    ----------
    round_ : Round
    reads : ReadColumns
    store : ReadStore or None
        The same reads, where they are in canonical order.
    groups : list of ndarray of int64
        Reads among which overlaps are found (`overlapper.correction.chosen_reads.groups_of`).
    given : Overlaps or None
        Overlaps to take instead.
    preset, changes
        For finding overlaps.
    """

    def write(artifact: Artifact, beside: Path) -> Facts:
        expected = None
        if given is not None:
            write_rows(artifact, [given], reads.lengths, expected, round_.threads)
            return {}
        with contextlib.ExitStack() as searches:
            in_order = store if len(groups) == 1 else None
            found = []
            for number, members in enumerate(groups):
                folder = beside if len(groups) == 1 else beside / str(number)
                search = searches.enter_context(round_.resources.search(folder))
                found.append(_overlaps_of(search, round_, reads, members, in_order, preset, changes))
            counts, overlaps = zip(*found, strict=True)
            facts = summed(counts)
            if round_.stages.budget:
                expected = facts["overlaps"]
            del found
            write_rows(artifact, itertools.chain(*overlaps), reads.lengths, expected, round_.threads)
        return facts

    depends_on = [preset, changes, given is not None, len(groups)]
    return round_.stages.write(f"correct-{round_.number}-overlaps", depends_on, write)[0]


def _overlaps_of(
    search: Search,
    round_: Round,
    reads: ReadColumns,
    members: np.ndarray,
    store: ReadStore | None,
    preset: str | ErrorRate,
    changes: ChangedParams,
) -> tuple[Facts, Iterator[Overlaps]]:
    """Find overlaps of a group; return counts, and them in the numbers of the reads."""
    if store is not None:
        return search.run_by_place(store, preset, changes, round_.report)
    parts = even_ranges(reads.lengths[members], PART_BASES)
    store = search.in_order(reads.take(members[start:stop]).bases_alone() for start, stop in parts)
    counts, overlaps = search.run(store, preset, changes, round_.report)
    if len(members) == len(reads):
        return counts, overlaps
    return counts, (part.renumber(members) for part in overlaps)
