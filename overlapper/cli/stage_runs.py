"""Runs of `correct`, `polish` and `assemble`: reads and stages in memory, or on disk in a memory budget."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overlapper.cli.in_tiles import work_folder
from overlapper.cli.progress import Progress
from overlapper.runtime import cleanup

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from overlapper.io.fastx import FastxParts
    from overlapper.io.identity import Input
    from overlapper.io.read_store import ReadStore
    from overlapper.tables import Reads
    from overlapper.tiled.stages import Stages
    from overlapper.tiled.workdir import Workdir


def parts_with_qualities(
    paths: Sequence[str], min_length: int, min_quality: float, reference: str | None, threads: int
) -> FastxParts:
    """Return the reads of files with their qualities, but for those that are too short or of low quality."""
    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter

    read_filter = ReadFilter(min_length, min_quality)
    return FastxParts(
        *paths, keep_qualities=True, read_filter=read_filter, reference=reference, threads=threads
    )


@contextlib.contextmanager
def held_run(
    workdir: str | None,
    parts: FastxParts,
    params: Mapping[str, Any],
    progress: Progress,
    others: Callable[[Reads], list[Input]] = lambda heads: [],
    *,
    option: str = "--workdir",
) -> Iterator[tuple[Reads, np.ndarray, Stages]]:
    """Give the reads in canonical order, that order, and stages; the arguments are those of `stored_run`.

    A run that is killed goes on where its stages are kept, which is nowhere without ``workdir``.
    """
    from overlapper.io.identity import digest_of_arrays, digest_of_reads
    from overlapper.sketch.canonical import canonical_order, in_order
    from overlapper.tiled.stages import Stages
    from overlapper.tiled.workdir import Workdir

    progress.report("reading")
    given = parts.together()
    progress.left_out(parts.left_out)
    beside, stages = others(given), Stages()
    with contextlib.ExitStack() as kept:
        if workdir is not None:
            kept.enter_context(cleanup.resumable())
            place = kept.enter_context(Workdir(workdir, option=option))
            reads = parts.as_input("reads", digest_of_reads(given))
            qualities = digest_of_arrays(given.qualities, given.quality_offsets)
            place.begin([reads, parts.as_input("qualities", qualities), *beside])
            for difference in place.changed(dict(params)):
                progress.note(difference)
            stages = Stages(place, note=progress.note)
        progress.report("sorting reads")
        order = canonical_order(given, parts.threads)
        given = in_order(given, order, parts.threads)
        yield given, order, stages


@contextlib.contextmanager
def stored_run(
    workdir: str | None,
    output: str,
    parts: FastxParts,
    params: Mapping[str, Any],
    progress: Progress,
    others: Callable[[Reads], list[Input]] = lambda heads: [],
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
        Gives the inputs besides reads, when the names and lengths of these are there.
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
        place.begin([reads, qualities, *others(store.names())])
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
