"""The consensus of reads on GPUs beside the CPU of the same machine: wall-clock time, and digests.

    python -m tests.benchmarks.correct_gpu reads.fasta --devices cpu cuda:0 cuda

Overlaps are found once, on the CPU, and given to each run of one round; a second run of each device tells
what is left when kernels are compiled and loaded.
"""

from __future__ import annotations

import hashlib
import time

from overlapper import find_overlaps, read_fastx
from overlapper.correct.reads import correct
from overlapper.params.correction import CorrectParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.threads import available_threads
from tests.benchmarks.harness import parser_of


def main() -> None:
    """Run every device in turn and print a table."""
    parser = parser_of(__doc__, "reads", devices=["cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=2, help="Repetitions of each.")
    options = parser.parse_args()
    reads = read_fastx(options.reads, keep_qualities=True)
    threads = available_threads()
    start = time.perf_counter()
    overlaps = find_overlaps(reads, threads=threads, device="cpu")
    print(f"{reads.total_bases:,} bases, {len(overlaps):,} overlaps in {time.perf_counter() - start:.2f} s")
    print(f"{'device':10}{'consensus s':>12}{'whole s':>10}  digest")
    for _ in range(options.rounds):
        for device in options.devices:
            start = time.perf_counter()
            made = correct(reads, overlaps, CorrectParams(rounds=1), threads=threads, device=device)
            seconds = time.perf_counter() - start
            digest = hashlib.sha256(made.reads.words.tobytes() + made.reads.qualities.tobytes()).hexdigest()
            names = ", ".join(d.name for d in select_devices(device))
            print(f"{names:10}{made.seconds['correct-1']:12.2f}{seconds:10.2f}  {digest[:16]}", flush=True)


if __name__ == "__main__":
    main()
