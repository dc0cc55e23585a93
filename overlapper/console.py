"""The console script, ``overlapper``, from its first line to its last.

This module imports only what takes hardly any time: before its handlers are there, Python answers signals.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys

from overlapper.runtime import cleanup
from overlapper.runtime.signals import end_on_signals

_code = 1


def main() -> None:
    """Run the command line."""
    global _code
    _open_standard_streams()
    end_on_signals()
    # Matrices are small here: threads of numpy for linear algebra would only wait, busily at first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    atexit.register(_exit)  # the first to register is the last to be called
    from overlapper.cli import main as run

    try:
        run()
        _code = 0
    except SystemExit as stop:
        _code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        raise


def _exit() -> None:
    """End the process, unless a signal is about to."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    cleanup.hold()
    os._exit(_code)


def _open_standard_streams() -> None:
    """Open those that the caller closed, or the first files of a run would take their place.

    Standard output takes nothing then: what should be written to it is an error, not lost in silence. Nor is
    what a full disk does not take: told not to buffer (PYTHONUNBUFFERED), Python would not notice.
    """
    for number, name, mode, flags in (
        (0, "stdin", "r", os.O_RDONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            os.open(os.devnull, flags)  # takes the lowest number that is free: this one
            setattr(sys, name, os.fdopen(number, mode))
    if isinstance(sys.stdout.buffer, io.RawIOBase):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = os.fdopen(1, "w", encoding=encoding, errors=errors, closefd=False)
