"""Runs of stages that can be killed and run again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overlapper import leaving
from overlapper.cli.progress import Progress

if TYPE_CHECKING:
    from graph.stages import Stages


@contextlib.contextmanager
def stages_in(
    folder: str | None,
    inputs: list[str],
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
    inputs : list of str
        Files that the run reads.
    params : mapping
        All that the result depends on; JSON can hold it.
    progress : Progress
    option : str
        What the user names the folder with.
    """
    from graph.stages import Stages
    from overlapper.workdir import Workdir

    if folder is None:
        yield Stages()
        return
    with leaving.resumable(), contextlib.closing(Workdir(folder, inputs, option=option)) as workdir:
        for difference in workdir.changed(json.loads(json.dumps(params))):
            progress.note(f"parameters differ from the last run in {folder}: {difference}")
        yield Stages(workdir, note=progress.note)
