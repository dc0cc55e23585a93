"""What commands that compute have in common: loading numba and GPUs, progress, output files, work folders."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from overlapper.cli.progress import Progress, compile_notice
from overlapper.errors import OutputError
from overlapper.runtime import cleanup

if TYPE_CHECKING:
    from overlapper.io.outputs import OutputFile


def load_compute(device: str = "cpu", threads: int = 0) -> int:
    """Load numba and set up the memory allocator; the driver of GPUs starts meanwhile if one may be used.

    Returns
    -------
    int
        The threads to use: those that were asked for, all for 0.
    """
    from overlapper.runtime.compile.startup import load_numba, tune_malloc
    from overlapper.runtime.gpu.devices import start_driver

    start_driver(device)
    load_numba()
    tune_malloc()
    from overlapper.runtime.threads import available_threads  # and numpy, with numba above

    return threads or available_threads()


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
            self._files[path].write_text(text())

    def flush(self, path: str | None) -> None:
        """Hand what was written to the system, which may refuse it."""
        if path is not None:
            with self._files[path].complaints():
                self._files[path].file.flush()

    def write_lines(self, path: str | None, lines: Callable[[], Iterable[str]]) -> None:
        """Write lines, which are made only if the file was asked for."""
        if path is not None:
            self._files[path].write_lines(lines())

    def write_together(self, contents: Mapping[str, Iterable[str]], threads: int) -> None:
        """Write lines to several files at a time.

        Parameters
        ----------
        contents : mapping of str to iterable of str
            The lines of each file.
        threads : int
            Files at a time; a file that is being written has its longest line in memory, three times.
        """
        from overlapper.runtime.threads import for_each

        for_each(lambda path: self._files[path].write_lines(contents[path]), contents, threads)


@contextlib.contextmanager
def begun(
    *,
    phases: Sequence[str] = (),
    quiet: bool = False,
    verbose: bool = False,
    log: str | None = None,
) -> Iterator[tuple[Progress, RunFiles]]:
    """Open the output files of a run; yield its progress and these files.

    Parameters
    ----------
    phases : sequence of str
        What the steps of the run belong to (`Progress`).
    """
    with (
        Progress(quiet, phases=phases, verbose=verbose, log=log) as progress,
        compile_notice(progress),
        RunFiles() as files,
    ):
        yield progress, files


@contextlib.contextmanager
def work_folder(workdir: str | None, output: str) -> Iterator[str]:
    """Yield the folder to work in: a temporary one beside the output if none is given."""
    if workdir is not None:
        with cleanup.resumable():
            yield workdir
        return
    from overlapper.io.folders import temporary_folder
    from overlapper.runtime.streams import is_stream

    beside = tempfile.gettempdir() if is_stream(output) else os.path.dirname(os.path.realpath(output))
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(beside, "work/lock"))
        except OSError as error:
            raise OutputError(
                f"no folder to work in can be made in {beside}: {error.strerror}. Name one with --workdir"
            ) from None
        yield str(folder / "work")
