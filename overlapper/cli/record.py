"""The record of a run in ``--stats``: command, version, inputs, threads and date."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from overlapper.cli.footer import command_line, resources_used
from overlapper.cli.progress import Progress
from overlapper.errors import OutputError
from overlapper.io.outputs import write_text
from overlapper.io.read_filter import ALL, ReadFilter
from overlapper.runtime.output_stats import size_of
from overlapper.runtime.streams import is_stream
from overlapper.runtime.threads import start
from overlapper.version import __version__


class Record:
    """The start of a run, and the digests of its inputs, which a thread reads during the run.

    Parameters
    ----------
    inputs : sequence of str
        Files; streams and folders have no digest.
    threads : int
    read_filter : ReadFilter
        Which reads of them count.
    digests : bool
        Whether to read inputs for their digests: of large ones that takes seconds, for which one has to ask.
    """

    def __init__(
        self, inputs: Sequence[str], threads: int, read_filter: ReadFilter = ALL, *, digests: bool = True
    ) -> None:
        self._date = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self._inputs = start(lambda: [_described(path, digests) for path in inputs])
        self._threads = threads
        self._read_filter = read_filter

    def to_json(self, facts: Mapping[str, Any]) -> str:
        """Return what a file of ``--stats`` holds: the version, facts of the command, and the run."""
        document = {"version": __version__, **facts, "run": self.document()}
        return f"{json.dumps(document, indent=2)}\n"

    def document(self, output: str | None = None) -> dict[str, Any]:
        """Return what to write under ``run``.

        Parameters
        ----------
        output : str, optional
            The finished file or folder beside which this is kept; its size tells later whether it still is
            the one that the run wrote.
        """
        seconds, cpu_seconds, memory = resources_used()
        written = {"output": {"file": output, "bytes": size_of(output)}} if output else {}
        return written | {
            "command": command_line(),
            "date": self._date,
            "threads": self._threads,
            "read_filter": self._read_filter.given,
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu_seconds, 2),
            "memory": memory,
            "inputs": self._inputs.result(),
        }


def keep_stats(path: str, document: str, progress: Progress) -> None:
    """Write statistics beside the output; where that fails, the run says so and still succeeds."""
    try:
        write_text(path, document)
    except OutputError as error:
        progress.note(f"the counts are not kept: {error}")
    else:
        progress.note(f"the counts are in {path}, which overlapper report shows")


def _described(path: str, digest_it: bool) -> dict[str, Any]:
    if is_stream(path):
        return {"file": path, "bytes": None, "sha256": None}
    if not digest_it:
        return {"file": path, "bytes": size_of(path), "sha256": None}
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"file": path, "bytes": file.tell(), "sha256": digest}
