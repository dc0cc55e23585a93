"""Time and memory of commands on reads of any complexity, beside reads of a random genome.

    python -m tests.benchmarks.complexity [--megabases 1] [--length 10000] [--errors 0 0.1]
        [--kinds random A ...] [--commands overlap map ...] [--beside 0.9] [--limit 120]

A set is reads of one endless repeat, cut anywhere, on both strands; *random* is reads of a genome at a
coverage of ten. A reference has as many bases as the reads, contigs a tenth of that; they are the same
repeat, or the random genome, with as many errors as reads. With ``--beside`` that share of the reads, and of
the references, is of a random genome. Prints one row a set and command: seconds of the processor, how many
times those of the first kind that is, megabytes, and lines written.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.harness import OVERLAPPER, parser_of, run
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
COMMANDS = {
    "overlap": "overlap reads.fa -o out.paf",
    "overlap spgemm": "overlap reads.fa -o out.paf --finder spgemm",
    "overlap xdrop": "overlap reads.fa -o out.paf --extender xdrop",
    "overlap gact": "overlap reads.fa -o out.paf --extender gact",
    "overlap two files": "overlap reads.fa reference.fa -o out.paf",
    "layout": "layout reads.fa overlaps.paf -o out.gfa",
    "correct": "correct reads.fa -o out.fa",
    "polish": "polish contigs.fa reads.fa -o out.fa",
    "assemble": "assemble reads.fa -o out",
    "map": "map reference.fa reads.fa -o out.paf",
    "map smem": "map reference.fa reads.fa -o out.paf --seeder smem",
    "map fixed": "map reference.fa reads.fa -o out.paf --seeder fixed",
    "seeds": "seeds reference.fa reads.fa -o out.tsv",
    "seeds mem": "seeds reference.fa reads.fa -o out.tsv --kind mem",
    "index": "index reference.fa -o out.index",
    "report": "report reads.fa -o out.html",
}


def source_of(kind: str, bases: int) -> str:
    """Return bases of a genome, or of an endless repeat."""
    if kind == "random":
        return random_text(np.random.default_rng(1), bases)
    return UNITS[kind] * (bases // len(UNITS[kind]) + 1)


def reads_of(kind: str, bases: int, length: int, errors: float) -> list[str]:
    """Return the reads of a set."""
    rng = np.random.default_rng(1)
    source = source_of(kind, max(2 * length, bases // 10))
    texts = []
    for _ in range(bases // length):
        start = int(rng.integers(0, len(source) - length + 1))
        text = mutated(rng, source[start : start + length], errors)
        texts.append(reverse_complement(text) if rng.random() < 0.5 else text)
    return texts


def write_set(folder: Path, kind: str, errors: float, args: argparse.Namespace) -> None:
    """Write reads, a reference, contigs."""
    rng = np.random.default_rng(2)
    bases = round(args.megabases * 1e6)
    ordinary = round(bases * args.beside)
    reads = reads_of(kind, bases - ordinary, args.length, errors)
    reads += reads_of("random", ordinary, args.length, errors)
    texts = {"reads.fa": reads}
    for name, share in (("reference.fa", 1), ("contigs.fa", 10)):
        sizes = (kind, (bases - ordinary) // share), ("random", ordinary // share)
        texts[name] = [mutated(rng, source_of(of, n), errors) for of, n in sizes if n]
    for name, records in texts.items():
        (folder / name).write_text("".join(f">{name[:3]}{i}\n{text}\n" for i, text in enumerate(records)))


def bounded_run(command: str, folder: Path, limit: int) -> tuple[float, float, str]:
    """Return seconds of the processor, megabytes, and lines written or how the command failed."""

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    spent, code = run([*OVERLAPPER, *command.split()], cwd=folder, env=environment, preexec_fn=bounded)
    written = f"{lines_of(folder):,}" if code == 0 else f"ended with {code}"
    return spent.cpu, spent.megabytes, written


def lines_of(folder: Path) -> int:
    """Return the lines of what was written, and remove it."""
    lines = 0
    for path in folder.glob("out*"):
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
        lines += sum(file.read_bytes().count(b"\n") for file in files)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return lines


def main() -> None:
    """Run the commands on all sets."""
    parser = parser_of(__doc__, megabases=1.0, length=10_000, errors=[0.0, 0.1])
    parser.add_argument("--beside", type=float, default=0, help="share of reads that are of a random genome")
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor that a run may take")
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--kinds", nargs="+", default=["random", *UNITS], help="sets, by what repeats")
    args = parser.parse_args()
    print(
        "| command | reads | errors | s | times | MB | lines |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    first: dict[tuple[str, float], float] = {}
    for errors in args.errors:
        for kind in args.kinds:
            with tempfile.TemporaryDirectory() as name:
                write_set(Path(name), kind, errors, args)
                bounded_run("overlap reads.fa -o overlaps.paf", Path(name), args.limit)
                for command in args.commands:
                    seconds, megabytes, written = bounded_run(COMMANDS[command], Path(name), args.limit)
                    times = seconds / first.setdefault((command, errors), seconds)
                    figures = f"{seconds:.1f} | {times:.1f} | {megabytes:.0f} | {written}"
                    print(f"| {command} | {kind} | {errors} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
