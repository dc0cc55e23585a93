"""The whole program on more and more threads, file to file.

Run ``python -m tests.benchmarks.thread_scale READS [--threads 4 16 32 64] [--rounds 2] --preset clr``: what
it does not know goes to ``overlapper overlap``. After a run that compiles, each number of threads takes its
turn; times by stage are printed, and the files must be equal.
"""

import tempfile
from pathlib import Path

from tests.benchmarks.harness import overlapped, parser_of


def main():
    parser = parser_of(__doc__, threads=[4, 16, 32, 64], rounds=2)
    parser.add_argument("reads", type=Path)
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = {overlapped(arguments.reads, folder, "-t", arguments.threads[-1], *options)[2]}
        for _ in range(arguments.rounds):
            for threads in arguments.threads:
                seconds, told, digest = overlapped(arguments.reads, folder, "-t", threads, *options)
                print(f"{threads} threads: {seconds:.2f} s, {told['seconds']}", flush=True)
                written.add(digest)
    assert len(written) == 1, "the bytes differ"


if __name__ == "__main__":
    main()
