"""Run methods, each in a process of its own, and measure them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from overlapper.compare.comparison import Costs
from overlapper.errors import ParameterError
from overlapper.io.folders import temporary_folder
from overlapper.io.outputs import write_lines
from overlapper.io.reported import ReportedOverlaps, read_reported
from overlapper.runtime import cleanup
from overlapper.runtime.messages import Report
from overlapper.tables import Reads

WARM_UP_BASES = 200_000
"""Bases of the reads that a method is run on before it is timed."""


def run_methods(
    reads: Reads,
    files: Sequence[str],
    methods: Sequence[tuple[str, str]],
    options: Sequence[str],
    report: Report,
) -> tuple[list[Costs], list[ReportedOverlaps]]:
    """Find overlaps by every method, first on a few reads so that its kernels are compiled.

    Parameters
    ----------
    reads : Reads
        What the files hold.
    files : list of str
    methods : list of tuple of str
        Finder and extender.
    options : list of str
        Further ones, of all methods.
    report : callable
        ``report(step, done, total)`` is told how far it is.

    Returns
    -------
    costs : list of Costs
    found : list of ReportedOverlaps

    Raises
    ------
    ParameterError
        When a method fails.
    """
    costs: list[Costs] = []
    found: list[ReportedOverlaps] = []
    with temporary_folder(tempfile.gettempdir(), "few.fasta", "out.paf", "stats.json") as folder:
        count = max(2, int(np.searchsorted(np.cumsum(reads.lengths), WARM_UP_BASES)))
        first_reads = (f">{reads.name(i)}\n{reads.sequence(i)}\n" for i in range(min(count, len(reads))))
        few = str(folder / "few.fasta")
        write_lines(few, first_reads)
        out, stats = str(folder / "out.paf"), folder / "stats.json"
        for number, (finder, extender) in enumerate(methods):
            report(f"overlaps: {finder} + {extender}", number, len(methods))
            words = ["-o", out, "--finder", finder, "--extender", extender, *options]
            run_measured(["overlap", few, *words], stats)
            costs.append(run_measured(["overlap", *files, *words], stats))
            found.append(read_reported(out))
    return costs, found


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
    with ExitStack() as started:
        with cleanup.undisturbed():
            process = started.enter_context(
                subprocess.Popen(command, stderr=subprocess.PIPE, env=_environment())
            )
            started.enter_context(cleanup.child(process))
        complaint = process.stderr.read().decode() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        message = complaint.strip().rpartition("\n")[2].removeprefix("overlapper: error: ")
        raise ParameterError(f"overlapper {' '.join(words)} failed: {message}")
    document = json.loads(stats.read_text())
    unit = 1 if sys.platform == "darwin" else 1024
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6
    return Costs(wall, cpu, peak, document["seconds"])


def _environment() -> dict[str, str]:
    """Return an environment in which the process finds this copy of the package."""
    here = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))}
