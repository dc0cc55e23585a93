"""Run a command of overlapper in a process of its own, and measure it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from overlapper.compare.comparison import Costs
from overlapper.errors import ParameterError

WARM_UP_BASES = 200_000
"""Bases of the reads that a method is run on before it is timed."""


def run_measured(words: list[str], stats: Path) -> Costs:
    """Run a command that writes its times by stage to a file.

    Parameters
    ----------
    words : list of str
        Without the name of the program and ``--stats``.
    stats : path
        Where the command shall write its counts and times.

    Raises
    ------
    ParameterError
        When the command fails, with what it said.
    """
    command = [sys.executable, "-m", "overlapper", *words, "--stats", str(stats), "-q"]
    start = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=_environment()) as process:
        complaint = process.stderr.read().decode() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        message = complaint.strip().rpartition("\n")[2].removeprefix("overlapper: error: ")
        raise ParameterError(f"overlapper {' '.join(words)} failed: {message}")
    document = json.loads(stats.read_text())
    unit = 1 if sys.platform == "darwin" else 1024
    stages = document.get("thread_seconds", {}) | document["seconds"]
    return Costs(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6, stages)


def _environment() -> dict[str, str]:
    """Return an environment in which the process finds this copy of the package."""
    here = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}
