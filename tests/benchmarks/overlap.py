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
        best = dict.fromkeys(commands, (float("inf"),) * 3)
        for _ in range(arguments.runs):
            for name, command in commands.items():
                taken = measure(command, f"{folder}/{name}.out")
                best[name] = tuple(map(min, best[name], taken))
    print(f"{'':12} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}")
    for name, (wall, cpu, memory) in best.items():
        print(f"{name:12} {wall:8.2f} {cpu:8.2f} {memory:8.0f}")
    ours, theirs = best["overlapper"], best["minimap2"]
    print(f"{'ratio':12} {theirs[0] / ours[0]:8.2f} {theirs[1] / ours[1]:8.2f} {ours[2] / theirs[2]:8.2f}")


if __name__ == "__main__":
    main()
