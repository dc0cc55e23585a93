"""The whole program beside minimap2, from file to file, in alternating runs.

    python -m tests.benchmarks.overlap READS --preset clr --peer "-x ava-ont" --runs 3

minimap2 is looked for on the path. Run `overlapper overlap` on something small before, so that its kernels
are compiled.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time


def measure(command: list[str], output: str) -> tuple[float, float, float]:
    """Run a command with its standard output in a file; return wall seconds, CPU seconds and peak MB."""
    with open(output, "wb") as out, open(os.devnull, "wb") as nothing:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    if status:
        sys.exit(f"{shlex.join(command)} failed with status {status}")
    unit = 1 if sys.platform == "darwin" else 1024
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reads")
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--options", default="", help="further options of overlapper overlap")
    parser.add_argument("--peer", default="-x ava-ont", help="options of minimap2")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    threads = str(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "overlapper": [
                sys.executable, "-m", "overlapper", "overlap", arguments.reads, "-o", f"{folder}/ours.paf",
                "-q", "--preset", arguments.preset, "--threads", threads, *shlex.split(arguments.options),
            ],
            "minimap2": [
                "minimap2", "-t", threads, *shlex.split(arguments.peer), arguments.reads, arguments.reads,
            ],
        }  # fmt: skip
        rounds = []
        for number in range(arguments.runs):
            rounds.append([measure(command, f"{folder}/{name}.out") for name, command in commands.items()])
            show(f"round {number + 1}", *rounds[-1])
    show("least", *(tuple(map(min, zip(*taken, strict=True))) for taken in zip(*rounds, strict=True)))


def show(title: str, ours: tuple[float, ...], theirs: tuple[float, ...]) -> None:
    """Print what both programs took, and how many times as fast we are, and as large."""
    print(f"{title:12} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}")
    for name, (wall, cpu, memory) in (("overlapper", ours), ("minimap2", theirs)):
        print(f"{name:12} {wall:8.2f} {cpu:8.2f} {memory:8.0f}")
    ratios = theirs[0] / ours[0], theirs[1] / ours[1], ours[2] / theirs[2]
    print("{:12} {:8.2f} {:8.2f} {:8.2f}".format("ratio", *ratios), flush=True)


if __name__ == "__main__":
    main()
