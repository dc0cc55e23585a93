"""Runs of `correct`, `polish` and `assemble` in a memory budget: reads and stages are on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overlapper.cli.in_tiles import work_folder
from overlapper.cli.progress import Progress

if TYPE_CHECKING:
    from overlapper.io.fastx import FastxParts
    from overlapper.io.identity import Input
    from overlapper.io.read_store import ReadStore
    from overlapper.tiled.stages import Stages
    from overlapper.tiled.workdir import Workdir


@contextlib.contextmanager
def stored_run(
    workdir: str | None,
    output: str,
    parts: FastxParts,
    params: Mapping[str, Any],
    progress: Progress,
    others: Callable[[ReadStore], list[Input]] = lambda store: [],
    *,
    option: str = "--workdir",
) -> Iterator[tuple[ReadStore, Workdir, Stages]]:
    """Give the packed reads, with their qualities, the folder that they are in, and stages kept there.

    Parameters
    ----------
    workdir : str or None
        None works in a temporary folder beside the output.
    output : str
    parts : FastxParts
        The reads, with their qualities.
    params : mapping
        All that the result depends on; JSON can hold it.
    progress : Progress
    others : callable
        Gives the inputs besides reads, when these are there.
    option : str
        What the user names the folder with.
    """
    from overlapper.io.identity import digest_of_arrays, states_of
    from overlapper.tiled.stages import Stages
    from overlapper.tiled.tiles import store_reads
    from overlapper.tiled.workdir import Workdir

    with work_folder(workdir, output) as folder, Workdir(folder, option=option) as place:
        progress.report("reading")
        states = states_of(parts.sources)
        store = store_reads(place, parts)
        progress.left_out(parts.left_out)
        facts = store.artifact.facts
        reads = parts.as_input("reads", facts["content"], states)
        qualities = parts.as_input("qualities", facts.get("qualities", digest_of_arrays(None, None)), states)
        place.begin([reads, qualities, *others(store)])
        if workdir:
            for difference in place.changed(dict(params)):
                progress.note(difference)
        yield store, place, Stages(place, note=progress.note if workdir else lambda text: None)


def print_plan(
    store: ReadStore, memory: int, threads: int, preset: str, rounds: int, unitig_bases: int = 0
) -> None:
    """Print what a run would take; the arguments are those of `overlapper.assemble.plans.describe`."""
    from overlapper.assemble.plans import describe
    from overlapper.tiled.plan import Budget
    from overlapper.tiled.tiles import planned

    budget = Budget.of(memory, threads)
    params = planned(store, budget, preset, None)
    for line in describe(store, params, budget, rounds, unitig_bases):
        print(line)
