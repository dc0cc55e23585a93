"""The last lines of a run: which program, called how, and what it took."""

from __future__ import annotations

import os
import shlex
import sys
import time
from typing import NamedTuple

from overlapper.runtime.memory import peak_of_largest_process
from overlapper.version import __version__

STARTED = time.time() - time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID)
"""About when the process began: what came before this line was spent loading."""


class Usage(NamedTuple):
    """Time, CPU time and memory of a run so far, with its helper and worker processes."""

    seconds: float
    cpu_seconds: float
    memory: int
    """Largest resident memory of one of these processes, in bytes."""


def resources_used() -> Usage:
    """Return time, CPU time and memory of the run so far."""
    return Usage(time.time() - STARTED, sum(os.times()[:4]), peak_of_largest_process())


def command_line() -> str:
    """Return the command as it was called."""
    return shlex.join(["overlapper", *sys.argv[1:]])


def words_called() -> str:
    """Return the words of the command with blanks between, as ``CL`` of SAM headers has them."""
    return " ".join(["overlapper", *sys.argv[1:]])


def footer() -> list[str]:
    """Return version and command line; then time, CPU time and peak memory."""
    seconds, cpu_seconds, memory = resources_used()
    return [
        f"overlapper {__version__}: {command_line()}",
        f"{seconds:.1f} s, {cpu_seconds:.1f} s of CPU time, {memory / 1e9:.2f} GB of memory at most",
    ]
