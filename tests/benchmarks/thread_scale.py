"""The whole program on more and more threads, file to file.

Run ``python -m tests.benchmarks.thread_scale READS [--threads 4 16 32 64] [--rounds 2] --preset clr``: what
it does not know goes to ``overlapper overlap``. After a run that compiles, each number of threads takes its
turn; times by stage are printed, with seconds of processors and memory, and the files must be equal.
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
        _, told, digest = overlapped(arguments.reads, folder, "-t", arguments.threads[-1], *options)
        print(told["chosen"], told["funnel"], flush=True)
        written = {digest}
        for _ in range(arguments.rounds):
            for threads in arguments.threads:
                seconds, told, digest = overlapped(arguments.reads, folder, "-t", threads, *options)
                run, stages = told["run"], told["seconds"]
                around = {"read and write": round(seconds - sum(stages.values()), 2)}
                each = run["memory"] / told["funnel"]["bases"]
                print(
                    f"{threads} threads: {seconds:.2f} s, {run['cpu_seconds']:.1f} of processors, "
                    f"{run['memory'] / 1e6:.0f} MB ({each:.2f} bytes a base), {stages | around}",
                    flush=True,
                )
                written.add(digest)
    assert len(written) == 1, "the bytes differ"


if __name__ == "__main__":
    main()
