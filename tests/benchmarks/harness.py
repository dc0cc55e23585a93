"""What benchmarks have in common: options, programs that are run and measured, tasks that take turns."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

OVERLAPPER = (sys.executable, "-m", "overlapper")


class Spent(NamedTuple):
    """What a program took: seconds by the wall, seconds of processors, largest resident memory."""

    wall: float
    cpu: float
    megabytes: float


def parser_of(doc: str, *needed: str, **defaults: Any) -> argparse.ArgumentParser:
    """Return a parser of arguments that are needed, and of options by their defaults, of the same type."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in needed:
        parser.add_argument(name)
    for name, default in defaults.items():
        option = "--" + name.replace("_", "-")
        if default is False:
            parser.add_argument(option, action="store_true")
        elif isinstance(default, list):
            parser.add_argument(option, nargs="+", type=type(default[0]), default=default)
        else:
            parser.add_argument(option, type=type(default), default=default)
    return parser


def run(command: Sequence[object], output: object = os.devnull, **options: Any) -> tuple[Spent, int]:
    """Run a command with its standard output in a file; return what it took, and its exit code.

    Other options are those of `subprocess.Popen`.
    """
    words = [str(word) for word in command]
    with open(str(output), "wb") as out:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, **options)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    spent = Spent(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6)
    return spent, process.returncode


def measured(command: Sequence[object], output: object = os.devnull, **options: Any) -> Spent:
    """Run a command, as `run` does, that must end well; return what it took."""
    spent, code = run(command, output, **options)
    if code:
        raise subprocess.CalledProcessError(code, shlex.join(map(str, command)))
    return spent


def overlapper(*words: object, **options: Any) -> Spent:
    """Run a command of ours."""
    return measured([*OVERLAPPER, *words], **options)


def overlapped(reads: object, folder: Path, *options: object) -> tuple[float, dict[str, Any], str]:
    """Find overlaps from file to file; return seconds, what `--stats` tells, and a digest."""
    out, stats = folder / "out.paf", folder / "stats.json"
    out.unlink(missing_ok=True)  # taking the place of a file waits for the disk
    spent = overlapper("overlap", reads, "-o", out, "--stats", stats, "-q", *options)
    with open(out, "rb") as file:
        return spent.wall, json.loads(stats.read_text()), hashlib.file_digest(file, "sha256").hexdigest()


def beside_minimap2(ours: Sequence[object], theirs: Sequence[object], runs: int, folder: str) -> None:
    """Run a command of ours and one of minimap2 in turn; print what each round took, and the least of all."""
    commands = {"overlapper": [*OVERLAPPER, *ours], "minimap2": ["minimap2", *theirs]}
    least = [Spent(*[float("inf")] * 3)] * 2
    for number in range(1, runs + 1):
        taken = [measured(command, f"{folder}/{name}.out") for name, command in commands.items()]
        _show(f"round {number}", *taken)
        least = [Spent(*map(min, *pair)) for pair in zip(least, taken, strict=True)]
    _show("least", *least)


def _show(title: str, ours: Spent, theirs: Spent) -> None:
    """Print what both programs took, and how many times as fast we are, and as large."""
    print(f"{title:12} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}")
    for name, (wall, cpu, memory) in (("overlapper", ours), ("minimap2", theirs)):
        print(f"{name:12} {wall:8.2f} {cpu:8.2f} {memory:8.0f}")
    ratios = theirs.wall / ours.wall, theirs.cpu / ours.cpu, ours.megabytes / theirs.megabytes
    print("{:12} {:8.2f} {:8.2f} {:8.2f}".format("ratio", *ratios), flush=True)


def placed_by_minimap2(*words: object) -> Iterator[list[str]]:
    """Yield the columns of each line of PAF that minimap2 writes, without secondary alignments."""
    command = ["minimap2", *map(str, words[:-2]), "--secondary=no", *map(str, words[-2:])]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return (line.split("\t") for line in done.stdout.splitlines())


def timed(function: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[Any, float]:
    """Return what a function returns, and its seconds."""
    start = clock()
    result = function()
    return result, clock() - start


def told(what: str, function: Callable[[], Any]) -> tuple[Any, float]:
    """Do the same, and print the seconds."""
    result, seconds = timed(function)
    print(f"{what}: {seconds:.2f} s", flush=True)
    return result, seconds


def fastest(
    tasks: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the least seconds of each task, of some rounds in which they take turns."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            best[name] = min(best[name], timed(task, clock)[1])
    return best
