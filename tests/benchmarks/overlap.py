"""The whole program beside minimap2, from file to file, in alternating runs.

    python -m tests.benchmarks.overlap READS --preset clr --peer "-x ava-ont" --runs 3

minimap2 is looked for on the path. Run `overlapper overlap` on something small before, so that its kernels
are compiled.
"""

from __future__ import annotations

import shlex
import tempfile

from tests.benchmarks.harness import beside_minimap2, parser_of


def main() -> None:
    parser = parser_of(__doc__, "reads", preset="auto", threads=2, runs=3)
    parser.add_argument("--options", default="", help="further options of overlapper overlap")
    parser.add_argument("--peer", default="-x ava-ont", help="options of minimap2")
    arguments = parser.parse_args()
    reads, threads = arguments.reads, str(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        ours = ["overlap", reads, "-o", f"{folder}/ours.paf", "-q", "--preset", arguments.preset]
        ours += ["--threads", threads, *shlex.split(arguments.options)]
        theirs = ["-t", threads, *shlex.split(arguments.peer), reads, reads]
        beside_minimap2(ours, theirs, arguments.runs, folder)


if __name__ == "__main__":
    main()
