"""The work folder of a run that can be killed and run again: its inputs, and its finished stages.

``run`` says which version began and on what input; ``reads``, ``seeds-KEY`` and ``overlaps-KEY`` hold what
the stages made. A key is a digest of the parameters that a stage and those before it depend on: other
parameters of a later stage find the earlier ones done.

A work folder is one that overlapper made, or that was empty, and bears its mark (`overlapper.io.folders`);
any other is left alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from overlapper.errors import InputError, OutputError, ParameterError
from overlapper.io import folders
from overlapper.io.artifacts import Artifact, Finisher, check_no_link, finished, writing
from overlapper.io.identity import Input
from overlapper.version import __version__

_LOCK, _RUN, _PARAMS = "lock", "run", "params"
_OF_STRIPS = re.compile("overlaps-[0-9a-f]{12}")
"""Of a folder that holds artifacts, the strips of tiles."""
_ADDED = (
    "All reads together decide what seeds, what is a repeat and how many errors there are, so "
    "their overlaps are found anew"
)
_BEGINNINGS = (_LOCK, folders.MARK, f"{_RUN}.part")
"""What a run that was killed at once leaves, all of it empty."""


def check_workdir(folder: str | os.PathLike[str], option: str = "--workdir") -> None:
    """Refuse a folder that holds something and that overlapper did not make; nothing is written.

    Parameters
    ----------
    option : str
        What the user names it with.

    Raises
    ------
    OutputError
        When the folder is somebody else's, or cannot be read.
    """
    path = Path(folder)
    try:
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unusable(path, error, option) from None
    if folders.kind_of(path.resolve()) == folders.WORK:
        return
    for name in names:
        if name not in _BEGINNINGS or not _is_empty(path / name):
            raise OutputError(
                f"folder {folder} holds {name} and is not one that overlapper works in: it stays as it is. "
                f"Name a new or an empty folder with {option}"
            )


class Workdir:
    """A folder that one process at a time works in, used as a context manager.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    option : str
        What the user names the folder with.
    note : callable
        Told what the user should know of what is kept.

    Attributes
    ----------
    folder : Path
    note : callable
    digests : tuple of str, optional
        Of the inputs that `begin` was told; None before.
    finisher : Finisher
        For results that are finished while work goes on; all are there when the folder is closed.

    Raises
    ------
    InputError
        When the record of the work is damaged.
    OutputError
        When the folder is somebody else's or cannot be written, or another process works in it.
    ParameterError
        When another version began the work.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        option: str = "--workdir",
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.folder, self.note = Path(folder), note
        self.digests: tuple[str, ...] | None = None
        self.finisher = Finisher()
        self._other = f"or name another {option}"
        check_workdir(folder, option)
        self._run: Artifact | None = None
        self._made = [path for path in (self.folder, *self.folder.parents) if not path.exists()]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folders.kind_of(self.folder.resolve()) is None:
                folders.mark(self.folder, folders.WORK, _LOCK)
        except BlockingIOError:
            os.close(self._lock)
            raise OutputError(
                f"folder {folder} is in use by another run. Wait for it, {self._other}"
            ) from None
        except OSError as error:
            raise _unusable(self.folder, error, option) from None
        try:
            self._tidy()
            self._run = self._finished(_RUN)
            self._check_run()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlock the folder; remove it, and folders made for it, if nothing was kept in it."""
        try:
            self.finisher.wait()
            if self._made and {*os.listdir(self.folder)} == {_LOCK, folders.MARK}:
                with contextlib.suppress(OSError):
                    folders.remove(self.folder)
                    for path in self._made[1:]:
                        path.rmdir()
        finally:
            os.close(self._lock)

    def _tidy(self) -> None:
        """Remove what a killed run left unfinished, here and in the folders of stages that have several."""
        for folder in (self.folder, *self._of_strips()):
            folders.remove_parts(folder)

    def _of_strips(self) -> list[Path]:
        """Return the folders of stages that have several artifacts."""
        named = (path for path in self.folder.iterdir() if _OF_STRIPS.fullmatch(path.name))
        return [path for path in named if path.is_dir() and not path.is_symlink()]

    def _finished(self, name: str) -> Artifact | None:
        return finished(self.folder / name, verify=True)

    def _check_run(self) -> None:
        """Check that the record of the work is one, and of this version."""
        if self._run is None:
            return
        if not _is_run(self._run.facts):
            raise InputError(
                "is not what was written there", file=str(self._run.folder),
                remedy=f"Remove the folder {self.folder}.",
            )  # fmt: skip
        version = self._run.facts["version"]
        if version != __version__:
            raise ParameterError(
                f"the work in {self.folder} was begun by version {version}, this is {__version__}. "
                f"Finish it with that version, {self._other}."
            )

    def begin(self, inputs: Sequence[Input]) -> None:
        """Note on what the work is done, or check that it is the same.

        Parameters
        ----------
        inputs : sequence of Input
            What the work depends on, besides parameters and what it was begun on already.

        Raises
        ------
        InputError
            When it was begun on other inputs, to which nothing was added.
        """
        known = self._known()
        others = [i for i in inputs if known.get(i.what, {}).get("digest", i.digest) != i.digest]
        for given in others:
            if not self.added(given):
                raise self.other_input(given)
        if others:
            added = {file: None for given in others for file in self.added(given)}
            self.note(f"reads were added: {', '.join(added)}. {_ADDED}")
            self._remove_results()
            known = {}
        self.digests = (*(self.digests or ()), *(given.digest for given in inputs))
        now = known | {given.what: dataclasses.asdict(given) for given in inputs}
        if self._run is None or now != known:
            with writing(self.folder / _RUN) as record:
                record.facts |= {"version": __version__, "inputs": now}
            self._run = record

    def untouched(self, given: Input) -> Input | None:
        """Return an input with the digest noted for its files; None if they changed since the work was begun.

        Parameters
        ----------
        given : Input
            Its own digest, and what is left out, is not looked at.
        """
        noted = self._noted(given)
        if not noted or None in given.states or given.states != noted.get("states"):
            return None
        return dataclasses.replace(given, digest=noted["digest"], left_out=noted.get("left_out", {}))

    def added(self, given: Input) -> list[str]:
        """Return the files added to those of before, which nobody touched; none if it is another input.

        Parameters
        ----------
        given : Input
            Its digest is not looked at.
        """
        noted, now = self._noted(given), dict(zip(given.files, given.states, strict=False))
        before = dict(zip(noted.get("files", []), noted.get("states", []), strict=False))
        if not before or any(state is None or state != now.get(file) for file, state in before.items()):
            return []
        return [file for file in given.files if file not in before]

    def _noted(self, given: Input) -> dict[str, Any]:
        """Return what is noted of an input, if the same of its files counted as now."""
        noted: dict[str, Any] = self._known().get(given.what, {})
        return noted if noted.get("read_filter") == given.read_filter else {}

    def _remove_results(self) -> None:
        """Remove what was made of the reads of before, but not what is being written now."""
        strips = self._of_strips()
        for path in (*(path for folder in strips for path in folder.iterdir()), *self.folder.iterdir()):
            made = folders.kind_of(path) in (folders.ARTIFACT, folders.WORK) and not folders.is_part(path)
            if made and path.name not in (_RUN, _PARAMS):
                folders.remove(path)
        for folder in strips:
            with contextlib.suppress(OSError):  # somebody's files are in it
                folder.rmdir()

    def other_input(self, given: Input) -> InputError:
        """Return the error that an input is another one than that which the work was begun on."""
        noted = self._known().get(given.what, {})
        before = noted.get("files", given.files)
        passed = noted.get("read_filter", {})
        alike = f" with {_as_options(passed)}" if passed != given.read_filter else ""
        return InputError(
            f"is not what the work in {self.folder} was begun on"
            + (f", {', '.join(before)}" if before != given.files else ""),
            file=", ".join(given.files),
            remedy=f"Give the same {given.what}{alike}, {self._other}.",
        )

    def _known(self) -> dict[str, Any]:
        """Return the inputs that the work was begun on, by what they are."""
        return self._run.facts["inputs"] if self._run else {}

    def path(self, stage: str, *depends_on: Any) -> Path:
        """Return the folder of a stage, named after what it depends on."""
        text = json.dumps(depends_on, sort_keys=True)
        path = self.folder / f"{stage}-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"
        check_no_link(path)
        return path

    def note_changes(self, params: dict[str, Any]) -> None:
        """Say which parameters differ from those of the last run here, and remember these."""
        params = json.loads(json.dumps(params))
        last = self._finished(_PARAMS)
        if last and last.facts == params:
            return
        with writing(self.folder / _PARAMS) as record:
            record.facts |= params
        for one in _differences(last.facts, params, "") if last else []:
            self.note(f"parameters differ from the last run in {self.folder}: {one}")


def _as_options(read_filter: dict[str, float]) -> str:
    """Return the options that give a filter."""
    options = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {value:g}")
        for name, value in read_filter.items()
    ]
    return " and ".join(options) or "no reads left out"


def _is_run(facts: dict[str, Any]) -> bool:
    """Tell whether facts are those of ``run``."""
    inputs = facts.get("inputs")
    return (
        isinstance(facts.get("version"), str)
        and isinstance(inputs, dict)
        and all(isinstance(i, dict) and isinstance(i.get("digest"), str) for i in inputs.values())
    )


def _is_empty(path: Path) -> bool:
    about = path.lstat() if os.path.lexists(path) else None
    if about and stat.S_ISDIR(about.st_mode):
        return not any(path.iterdir())
    return about is not None and stat.S_ISREG(about.st_mode) and not about.st_size


def _unusable(folder: Path, error: OSError, option: str) -> OutputError:
    return OutputError(f"folder {folder} cannot be written: {error.strerror}. Check the path of {option}")


def _differences(before: dict[str, Any], now: dict[str, Any], where: str) -> list[str]:
    said = []
    for name, new in now.items():
        old = before.get(name, new)
        if isinstance(new, dict) and isinstance(old, dict):
            said += _differences(old, new, f"{where}{name}.")
        elif old != new:
            said.append(f"{where}{name} was {old}, now {new}")
    return said
