"""The whole program beside minimap2, from file to file, in alternating runs.

    python -m tests.benchmarks.overlap READS --preset clr --peer "-x ava-ont" --runs 3

minimap2 is looked for on the path. Run `overlapper overlap` on something small before, so that its kernels
are compiled.
"""

from __future__ import annotations

import shlex
import tempfile

from tests.benchmarks.harness import OVERLAPPER, measured, parser_of


def main() -> None:
    parser = parser_of(__doc__, "reads", preset="auto", threads=2, runs=3)
    parser.add_argument("--options", default="", help="further options of overlapper overlap")
    parser.add_argument("--peer", default="-x ava-ont", help="options of minimap2")
    arguments = parser.parse_args()
    threads = str(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "overlapper": [
                *OVERLAPPER, "overlap", arguments.reads, "-o", f"{folder}/ours.paf",
                "-q", "--preset", arguments.preset, "--threads", threads, *shlex.split(arguments.options),
            ],
            "minimap2": [
                "minimap2", "-t", threads, *shlex.split(arguments.peer), arguments.reads, arguments.reads,
            ],
        }  # fmt: skip
        rounds = []
        for number in range(arguments.runs):
            rounds.append([measured(command, f"{folder}/{name}.out") for name, command in commands.items()])
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
