"""What commands that compute begin and end with: numba and GPUs loaded, output files opened and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapper.io.outputs import OutputFile


def load_compute(device: str = "cpu") -> None:
    """Load numba and set up the memory allocator; the driver of GPUs starts meanwhile if one may be used."""
    from overlapper.runtime.compile.startup import load_numba, tune_malloc
    from overlapper.runtime.gpu.devices import start_driver

    start_driver(device)
    load_numba()
    tune_malloc()


class RunFiles(ExitStack):
    """The output files of a run: opened before it computes, complete once they are closed.

    Files that were not asked for are None: nothing is opened, made or written for them. It is an `ExitStack`,
    for what else has to be closed before the output is complete.
    """

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, OutputFile] = {}

    def open(self, *paths: str | None, threads: int = 1) -> None:
        """Open files, so that what cannot be written is told before anything is computed.

        Parameters
        ----------
        *paths : str or None
        threads : int
            For compression.
        """
        from overlapper.io.outputs import OutputFile

        for path in paths:
            if path is not None:
                self._files[path] = self.enter_context(OutputFile(path, threads=threads))

    def __getitem__(self, path: str) -> OutputFile:
        return self._files[path]

    def write(self, path: str | None, text: Callable[[], str]) -> None:
        """Write text, which is made only if the file was asked for."""
        if path is not None:
            self._files[path].write(text().encode())

    def write_lines(self, path: str | None, lines: Callable[[], Iterable[str]]) -> None:
        """Write lines, which are made only if the file was asked for."""
        if path is not None:
            self._files[path].write_lines(lines())
