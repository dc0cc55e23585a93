"""What a run says about itself on stderr: a live line on a terminal, a log elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Self, TextIO

REDRAW_SECONDS = 0.1
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """Report the steps of a run.

    On a terminal the current step is one line that is redrawn, with its share done, and wiped at the end.
    Elsewhere every step is one time-stamped line, written when it starts. Use it as a context manager.

    Parameters
    ----------
    quiet : bool
        Say nothing.
    stream : text file, optional
        Where to write; stderr by default.

    Examples
    --------
    >>> with Progress(stream=sys.stdout) as progress:  # doctest: +SKIP
    ...     for block in range(3):
    ...         progress.report("finding candidates", block, 3)
    2026-01-31 12:00:00 finding candidates
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._live = self._stream.isatty()
        self._start = time.monotonic()
        self._step = ""
        self._drawn_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live and not self._quiet:
            self._write(CLEAR_LINE)

    def report(self, step: str, done: int = 0, total: int = 0) -> None:
        """Say how far a step is.

        Parameters
        ----------
        step : str
            Name of the step; a new name starts a new step.
        done, total : int
            Units of work; a total of 0 stands for unknown.
        """
        started, self._step = step != self._step, step
        if self._quiet:
            return
        if not self._live:
            if started:
                self.note(step)
            return
        now = time.monotonic()
        if started or now - self._drawn_at >= REDRAW_SECONDS:
            self._drawn_at = now
            share = f" {100 * done // total} %" if total else ""
            self._write(f"{CLEAR_LINE}[{now - self._start:.0f} s] {step}{share}")

    def note(self, text: str) -> None:
        """Write one line that stays."""
        if not self._quiet:
            head = CLEAR_LINE if self._live else time.strftime("%Y-%m-%d %H:%M:%S ")
            self._write(f"{head}{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@contextlib.contextmanager
def compile_notice(progress: Progress, seconds: int, command: str = "", threads: int = 1) -> Iterator[None]:
    """Tell the user, once, when numba compiles kernels within this context, and have others help.

    numba fires its compile event only when the cache on disk had no kernel for this machine, so a warm run
    says nothing.

    Parameters
    ----------
    progress : Progress
        Where to say it.
    seconds : int
        About how long compiling everything takes.
    command : str
        Whose kernels others compile meanwhile (`overlapper.cli.first_kernels`).
    threads : int
        How many processes may compile, this one among them.
    """
    from numba.core import event

    class FirstCompile(event.Listener):
        said = False

        def on_start(self, _: event.Event) -> None:
            if not self.said:
                self.said = True
                progress.note(f"compiling kernels for this machine, once, about {seconds} s")
                from overlapper.cli.first_kernels import helpers

                helping.enter_context(helpers(command, threads - 1))

        def on_end(self, _: event.Event) -> None:
            pass

    with contextlib.ExitStack() as helping, event.install_listener("numba:compile", FirstCompile()):
        yield
