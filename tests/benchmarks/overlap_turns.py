"""The whole program, file to file, with one option varied: threads, or devices.

    python -m tests.benchmarks.overlap_turns READS --vary threads 4 16 32 64 --preset clr
    python -m tests.benchmarks.overlap_turns READS --vary device cpu cuda:0 --preset clr --extender xdrop

What it does not know goes to ``overlapper overlap``. The values take turns; the first round compiles and does
not count. Printed are the wall-clock seconds of each stage, those of starting, reading and writing as what
the stages leave over, seconds of processors and memory; the files are compared. Use an uncompressed FASTA
file.
"""

import os
import tempfile
from pathlib import Path

from tests.benchmarks.harness import overlapped, parser_of


def run_program(reads, folder, options):
    """Return seconds by stage, what else is told of the run, and the digest of the file."""
    wall, told, digest = overlapped(reads, folder, *options)
    run, seconds = told["run"], told["seconds"]
    seconds["start, read, write"] = wall - sum(seconds.values())
    each = run["memory"] / told["funnel"]["bases"]
    rest = f"{run['cpu_seconds']:.1f} s of processors, {run['memory'] / 1e6:.0f} MB ({each:.2f} bytes a base)"
    return {**seconds, "wall": wall}, f"{rest}; {told['chosen']}; {told['funnel']}", digest


def main():
    parser = parser_of(__doc__, "reads", rounds=2)
    parser.add_argument("--vary", nargs="+", required=True, help="an option of overlap, and its values")
    arguments, options = parser.parse_known_args()
    option, *values = arguments.vary
    print(f"{os.path.getsize(arguments.reads) / 1e6:.0f} MB, {' '.join(options)}")
    best, rest, digests = {}, {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds + 1):
            for value in values:
                seconds, rest[value], digest = run_program(
                    arguments.reads, Path(folder), [f"--{option}", value, *options]
                )
                digests.add(digest)
                show(f"round {number}", value, seconds)
                if number and (value not in best or seconds["wall"] < best[value]["wall"]):
                    best[value] = seconds
    for value, seconds in best.items():
        show("best", value, seconds)
        print(rest[value])
    print("the same bytes" if len(digests) == 1 else f"DIFFERENT BYTES: {digests}")


def show(title, value, seconds):
    print(f"{title:8} {value:8}", "  ".join(f"{name} {s:.2f}" for name, s in seconds.items()), flush=True)


if __name__ == "__main__":
    main()
