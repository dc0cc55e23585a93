"""Time and memory of a command on reads of any complexity, beside reads of a random genome.

    python -m tests.benchmarks.complexity [--megabases 1] [--length 10000] [--errors 0 0.05]
        [--kinds A ...] [--limit 120] [--command overlap --extender xdrop ...]

A set is reads of one endless repeat, cut anywhere, on both strands; *random* is reads of a genome at a
coverage of ten. Prints one row a set: seconds of the processor and megabytes, with overlaps found.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.read_sets import mutated, random_text, reverse_complement

RNG = np.random.default_rng(7)
MONOMER = random_text(RNG, 171)
UNITS = {
    "A": "A",
    "AC": "AC",
    "AT": "AT",
    "CAG": "CAG",
    "GGAAT": "GGAAT",
    "unit of 31": random_text(RNG, 31),
    "unit of 171": MONOMER,
    "array of 12 units of 171": "".join(mutated(RNG, MONOMER, 0.25) for _ in range(12)),
}


def texts_of(kind: str, bases: int, length: int, errors: float) -> list[str]:
    """Return the reads of a set."""
    rng = np.random.default_rng(1)
    source = random_text(rng, max(length, bases // 10))
    if kind != "random":
        source = UNITS[kind] * (2 * length // len(UNITS[kind]) + 2)
    texts = []
    for _ in range(bases // length):
        start = int(rng.integers(0, len(source) - length + 1))
        text = mutated(rng, source[start : start + length], errors)
        texts.append(reverse_complement(text) if rng.random() < 0.5 else text)
    return texts


def measured(command: list[str], file: Path, limit: int) -> tuple[float, float, int]:
    """Return seconds of the processor, megabytes and lines written; seconds are NaN past the limit."""
    out = file.with_suffix(".out")

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    with out.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "overlapper", *command, str(file)],
            stdout=sink, stderr=subprocess.DEVNULL, preexec_fn=bounded,
        )  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime if status == 0 else float("nan")
    return seconds, usage.ru_maxrss / 1000, out.read_bytes().count(b"\n")


def main() -> None:
    """Run the command on all sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabases", type=float, default=1)
    parser.add_argument("--length", type=int, default=10_000)
    parser.add_argument("--errors", type=float, nargs="+", default=[0, 0.05])
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor that a run may take")
    parser.add_argument("--command", nargs=argparse.REMAINDER, default=["overlap"])
    parser.add_argument("--kinds", nargs="+", default=["random", *UNITS], help="sets, by what repeats")
    args = parser.parse_args()
    print("| reads | errors | s | MB | lines |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reads.fa"
        for kind in args.kinds:
            for errors in args.errors:
                texts = texts_of(kind, round(args.megabases * 1e6), args.length, errors)
                file.write_text("".join(f">{i}\n{text}\n" for i, text in enumerate(texts)))
                seconds, megabytes, lines = measured(args.command, file, args.limit)
                print(f"| {kind} | {errors} | {seconds:.1f} | {megabytes:.0f} | {lines:,} |", flush=True)


if __name__ == "__main__":
    main()
