"""Stages of a run, whose results are kept, so that a killed run goes on after the last finished one.

A stage depends on its own parameters, on all stages before it, on what the inputs hold, and on the program's
source. Its result goes to a folder of the run's `overlapper.tiled.workdir.Workdir`, named after what it
depends on, complete or not at all: the next run that asks for the same stage loads it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import overlapper
from overlapper.errors import ParameterError
from overlapper.io import folders
from overlapper.io.arrays import load_arrays, save_arrays
from overlapper.io.artifacts import Artifact, finished, finished_artifact, kept_or_made, writing
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.runtime.code_digest import digest_of_code
from overlapper.tiled.plan import Budget
from overlapper.tiled.workdir import Workdir

_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True)
class Stage:
    """The record of a stage: its name, facts and time."""

    name: str
    facts: dict[str, Any]
    """Counts and whatever else it found; JSON can hold them."""
    seconds: float
    """Wall-clock time that making it took, in whichever run that was."""
    kept: bool
    """Whether an earlier run made it."""
    folder: str
    """Name of the folder that holds the result, within that of the run; empty where none is kept."""


@functools.cache
def code_digest() -> str:
    """Return a digest of the program's source, which changes with every result that code can change."""
    package = Path(overlapper.__path__[0])
    return digest_of_code([package, package / "graph"])  # a link in the repository, which is not followed


class Stages:
    """The stages of one run, in order.

    Parameters
    ----------
    workdir : Workdir, optional
        Where results are kept, begun on the inputs of this run; without it they are not.
    budget : Budget, optional
        Memory to stay within: what `write` makes stays on disk then, in ``workdir``. By default it stays in
        memory, too, for the stages that follow.

    Attributes
    ----------
    done : list of Stage
    budget : Budget or None

    Raises
    ------
    ParameterError
        When the work was not begun.
    """

    def __init__(self, workdir: Workdir | None = None, budget: Budget | None = None) -> None:
        self.done: list[Stage] = []
        self.budget = budget
        self._workdir = workdir
        self._before = ""
        if budget and not workdir:
            raise ParameterError("stages in a memory budget need a folder to work in")
        if workdir:
            if workdir.digests is None:
                raise ParameterError("stages depend on inputs: tell them to Workdir.begin before")
            self._before = " ".join([code_digest(), *workdir.digests])

    def run(
        self, name: str, kind: type[_Made], params: Any, make: Callable[[], tuple[_Made, dict[str, Any]]]
    ) -> tuple[_Made, dict[str, Any]]:
        """Return a result that is a dataclass of arrays (`overlapper.io.arrays`) as `write` does.

        Parameters
        ----------
        name, params
            As `write` takes them.
        kind : type
            The dataclass.
        make : callable
            Gives the result, whose arrays stay as they are from then on, and its facts.
        """

        def write(artifact: Artifact, beside: Path) -> dict[str, Any]:
            made, facts = make()
            save_arrays(artifact, made)
            return facts

        artifact, facts = self.write(name, params, write)
        return load_arrays(artifact, kind), facts

    def write(
        self, name: str, params: Any, write: Callable[[Artifact, Path], dict[str, Any]]
    ) -> tuple[Artifact, dict[str, Any]]:
        """Return a result and its facts: kept ones if there are any, else written now.

        Parameters
        ----------
        name : str
            Also of its folder.
        params : object that JSON can hold
            What the stage depends on, besides the stages before it.
        write : callable
            ``write(artifact, beside)`` writes the result and gives its facts. In a memory budget, what it
            makes on the way may be in a folder ``beside``, which goes when the result is complete.
        """
        start, workdir, path, beside = time.perf_counter(), self._workdir, None, Path()
        if workdir:
            path = workdir.path(name, params, self._before)
            self._before, beside = path.name, path.with_name(f"for-{path.name}")
        made: Artifact
        if kept := path and finished(path, verify=True):
            made = kept
        else:
            in_memory = MemoryArtifact()
            with writing(path) if path and self.budget else contextlib.nullcontext(in_memory) as made:
                facts = write(made, beside)
                in_memory.complete()
                made.facts |= {"facts": facts, "seconds": round(time.perf_counter() - start, 4)}
            if path and self.budget:
                made = finished_artifact(path)
            elif path and workdir:
                # It is written while the next stage is made, which takes it from memory.
                workdir.finisher.call(partial(kept_or_made, path, in_memory.copy_to))
        folder = path.name if path else ""
        self.done.append(Stage(name, made.facts["facts"], made.facts["seconds"], bool(kept), folder))
        if kept and workdir:
            workdir.note(f"{name} is done already")
        if workdir and beside.is_dir():
            folders.remove(beside)
        return made, made.facts["facts"]

    def rename(self, names: Mapping[str, str]) -> None:
        """Call stages that are done otherwise, so that others can have their names; their folders stay."""
        self.done[:] = [
            dataclasses.replace(stage, name=names.get(stage.name, stage.name)) for stage in self.done
        ]
