"""Runs of stages that can be killed and run again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overlapper.cli.progress import Progress
from overlapper.runtime import leaving

if TYPE_CHECKING:
    from overlapper.io.fastx import FastxParts
    from overlapper.io.identity import Input
    from overlapper.tables import Reads
    from overlapper.tiled.stages import Stages


@contextlib.contextmanager
def stages_in(
    folder: str | None,
    inputs: Callable[[], Sequence[Input]],
    params: Mapping[str, Any],
    progress: Progress,
    *,
    option: str = "--workdir",
) -> Iterator[Stages]:
    """Give stages that are kept in a folder, and say what differs from the last run there.

    Parameters
    ----------
    folder : str or None
        None keeps nothing.
    inputs : callable
        Gives what the run has read; not asked where nothing is kept.
    params : mapping
        All that the result depends on; JSON can hold it.
    progress : Progress
    option : str
        What the user names the folder with.
    """
    from overlapper.tiled.stages import Stages
    from overlapper.tiled.workdir import Workdir

    if folder is None:
        yield Stages()
        return
    with leaving.resumable(), Workdir(folder, option=option) as workdir:
        workdir.begin(inputs())
        for difference in workdir.changed(dict(params)):
            progress.note(difference)
        yield Stages(workdir, note=progress.note)


def inputs_of(reads: Reads, parts: FastxParts) -> list[Input]:
    """Return what reads, which came of these files, hold, with their qualities, for `stages_in`."""
    from overlapper.io.identity import digest_of_arrays, digest_of_reads

    qualities = digest_of_arrays(reads.qualities, reads.quality_offsets)
    return [parts.as_input("reads", digest_of_reads(reads)), parts.as_input("qualities", qualities)]
