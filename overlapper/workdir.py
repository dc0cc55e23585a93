"""The folder of a run that can be killed and run again: whose work it is, and what is finished.

``run`` says which version began and on what input; ``reads``, ``seeds-KEY`` and ``overlaps-KEY`` hold what
the stages made. A key is a digest of the parameters that a stage and those before it depend on: other
parameters of a later stage find the earlier ones done.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from overlapper.errors import InputError, OutputError, ParameterError
from overlapper.io.artifacts import digest_of, finished, writing
from overlapper.version import __version__


class Workdir:
    """A folder that one process at a time works in.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    inputs : list of str
        Files of reads, in order, and what they are read with.
    option : str
        What the user names the folder with.

    Raises
    ------
    InputError
        When an input cannot be read, or is not what it was when the work was begun.
    OutputError
        When the folder cannot be written, or another process works in it.
    ParameterError
        When another version began the work, or an input is standard input.
    """

    def __init__(
        self, folder: str | os.PathLike[str], inputs: list[str], *, option: str = "--workdir"
    ) -> None:
        self.folder = Path(folder)
        self._other = f"or name another {option}"
        if "-" in inputs:
            raise ParameterError(
                "a run that is to be resumed cannot read standard input; name files of reads"
            )
        for path in inputs:
            _state(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"folder {folder} is in use by another run. Wait for it, {self._other}"
            ) from None
        except OSError as error:
            raise OutputError(
                f"folder {folder} cannot be written: {error.strerror}. Check the path of {option}"
            ) from None
        try:
            self._begin(inputs)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others work in the folder."""
        os.close(self._lock)

    def _begin(self, inputs: list[str]) -> None:
        """Note whose work this is, or check that it is the same."""
        begun = finished(self.folder / "run")
        if begun:
            self._check(begun.facts, inputs)
            return
        with writing(self.folder / "run") as record:
            record.facts |= {"version": __version__, "inputs": [_identity(path) for path in inputs]}

    def _check(self, begun: dict[str, Any], inputs: list[str]) -> None:
        if begun["version"] != __version__:
            raise ParameterError(
                f"the work in {self.folder} was begun by version {begun['version']}, this is {__version__}. "
                f"Finish it with that version, {self._other}."
            )
        before = begun["inputs"]
        if len(before) != len(inputs):
            names = ", ".join(entry["file"] for entry in before)
            raise ParameterError(
                f"the work in {self.folder} was begun on {names}, not on {', '.join(inputs)}. "
                f"Give the same files, {self._other}."
            )
        for entry, path in zip(before, inputs, strict=True):
            now = _state(path)
            if (now.st_size, now.st_mtime_ns) == (entry["bytes"], entry["modified"]):
                continue
            if digest_of(path) != entry["digest"]:
                raise InputError(
                    f"is not what the work in {self.folder} was begun on"
                    + (f", {entry['file']}" if entry["file"] != path else ""),
                    file=path,
                    remedy=f"Give the same reads, {self._other}.",
                )

    def path(self, stage: str, *depends_on: Any) -> Path:
        """Return the folder of a stage, named after what it depends on."""
        text = json.dumps(depends_on, sort_keys=True)
        return self.folder / f"{stage}-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"

    def changed(self, params: dict[str, Any]) -> list[str]:
        """Say which parameters differ from those of the last run here, and remember these."""
        path = self.folder / "params.json"
        before = json.loads(path.read_text()) if path.exists() else params
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(params))
        os.replace(temporary, path)
        return _differences(before, params, "")


def _identity(path: str) -> dict[str, Any]:
    state = _state(path)
    return {
        "file": path, "bytes": state.st_size, "modified": state.st_mtime_ns, "digest": digest_of(path),
    }  # fmt: skip


def _state(path: str) -> os.stat_result:
    """Return what the system says about an input; raise an `InputError` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.fstat(file.fileno())
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", file=path, remedy="Check the path and its rights."
        ) from None


def _differences(before: dict[str, Any], now: dict[str, Any], where: str) -> list[str]:
    said = []
    for name, new in now.items():
        old = before.get(name, new)
        if isinstance(new, dict) and isinstance(old, dict):
            said += _differences(old, new, f"{where}{name}.")
        elif old != new:
            said.append(f"{where}{name} was {old}, now {new}")
    return said
