"""Progress of a run on stderr: a bar on a terminal, log lines elsewhere, a footer in both."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any, Self, TextIO

import typer

from overlapper.cli.footer import footer
from overlapper.errors import OutputError
from overlapper.runtime.messages import counted

LOG_SECONDS = 60.0
"""How often a long step says in a log how far it is."""


class Progress:
    """Report the steps of a run.

    On a terminal the current step has a bar, its share done and the time that is left, wiped at the end.
    Elsewhere every step is one time-stamped line, written when it starts, and one a minute while its share
    done is known. A run that comes to its end says what it took. Use it as a context manager.

    Parameters
    ----------
    quiet : bool
        Say nothing; a person at a terminal still sees that kernels are compiled.
    stream : text file, optional
        Where to write; stderr by default.
    phases : sequence of str
        What the steps belong to, in order, each of which is called as its phase or "phase, and more": its
        number is told, too.
    verbose : bool
        Show counts of 0, too.
    log : str, optional
        File that gets the lines of the log as well, whatever the terminal shows.

    Examples
    --------
    >>> with Progress(stream=sys.stdout) as progress:  # doctest: +SKIP
    ...     for block in range(3):
    ...         progress.report("finding candidates", block, 3)
    2026-01-31 12:00:00 finding candidates
    """

    def __init__(
        self,
        quiet: bool = False,
        stream: TextIO | None = None,
        *,
        phases: Sequence[str] = (),
        verbose: bool = False,
        log: str | None = None,
    ) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._phases = phases
        self._verbose = verbose
        self._log: IO[str] | None = None
        if log == "-":
            raise typer.BadParameter("--log names a file: the terminal shows the log anyway")
        if log:
            self.log_into(log)
        self._bar: Any = None
        self._number = 0
        self._step = ""
        self._said_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._bar:
            self._bar.stop()
        if error is None:
            self.note(*footer())
        if error is not None and not isinstance(error, SystemExit):
            self._logged(f"error: {error}")
        if self._log:
            with self._log_complaints(self._log.name):
                self._log.close()

    def log_into(self, path: str) -> None:
        """Write the lines of the log to a file, too, from now on."""
        with self._log_complaints(path):
            self._log = open(path, "w", buffering=1)  # noqa: SIM115 # until the end

    def report(self, step: str, done: int = 0, total: int = 0) -> None:
        """Show which share of a step is done.

        Parameters
        ----------
        step : str
            Name of the step; a new name starts a new step. A step of no phase belongs to the last one.
        done, total : int
            Units of work; a total of 0 stands for unknown.
        """
        started, self._step = step != self._step, step
        now = time.monotonic()
        line = title = self._numbered(step)
        if total and not started:
            line = f"{title} {100 * done // total} %"
        if started or (total and now - self._said_at >= LOG_SECONDS):
            self._said_at = now
            self._logged(line)
            if not self._quiet and not self._stream.isatty():
                self._stamped(line)
        if self._stream.isatty() and not self._quiet:
            bar = self._opened()
            if started:
                bar.reset(0, total=total or None, description=title)
            bar.update(0, completed=done, total=total or None)

    def note(self, *lines: str) -> None:
        """Write lines that stay."""
        for text in lines:
            self._logged(text)
            if self._quiet:
                continue
            if self._bar:
                self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
            elif self._stream.isatty():
                self._stream.write(f"{text}\n")
            else:
                self._stamped(text)

    def counts(self, counts: dict[str, int], heading: str = "") -> None:
        """Write counts, one a line; counts of 0 only with ``--verbose``, and no heading of none."""
        shown = {name: count for name, count in counts.items() if count or self._verbose}
        if shown and heading:
            self.note(heading)
        for name, count in shown.items():
            self.note(f"{count:>15,} {name}")

    def left_out(self, counts: dict[str, int]) -> None:
        """Log how many reads each filter left out."""
        for name, count in counts.items():
            self.note(f"{counted(count, 'read')} {name}")

    def compiling(self, kernel: str) -> None:
        """Show on a terminal which kernel is being compiled; none when it is done."""
        if self._stream.isatty():
            self._opened().update(0, compiling=f"compiling {kernel}" if kernel else "")

    def _numbered(self, step: str) -> str:
        if not self._phases:
            return step
        if (phase := step.partition(",")[0]) in self._phases:
            self._number = self._phases.index(phase) + 1
        return f"{self._number}/{len(self._phases)} {step}"

    def _opened(self) -> Any:
        """Return the bar, with one task."""
        if not self._bar:
            from overlapper.cli.bar import open_bar

            self._bar = open_bar(self._stream, self._step)
        return self._bar

    def _stamped(self, text: str) -> None:
        self._stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
        self._stream.flush()

    def _logged(self, text: str) -> None:
        if self._log:
            with self._log_complaints(self._log.name):
                self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    @contextlib.contextmanager
    def _log_complaints(self, name: str) -> Iterator[None]:
        """Turn what the system complains of into an `OutputError`; nothing more is logged then."""
        try:
            yield
        except OSError as error:
            if self._log:
                with contextlib.suppress(OSError):
                    self._log.close()
                self._log = None
            raise OutputError(
                f"log {name} cannot be written: {error.strerror}. Check the path, its rights and the free "
                "space"
            ) from None


@contextlib.contextmanager
def compile_notice(progress: Progress) -> Iterator[None]:
    """Tell the user when kernels are compiled within this context.

    numba fires its compile event only when no kernel for this machine is kept, so most runs say nothing.

    Parameters
    ----------
    progress : Progress
        Where to say it: once in a line, and kernel by kernel on a terminal.
    """
    from overlapper.runtime.compile.notice import COMPILING

    notes = iter(["compiling kernels for this machine, once"])

    def tell(kernel: str) -> None:
        for note in notes:
            progress.note(note)
        progress.compiling(kernel)

    with COMPILING.told_to(tell):
        yield
