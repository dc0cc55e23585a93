"""The consensus of reads on GPUs beside the CPU of the same machine: wall-clock time, and digests.

    python -m tests.benchmarks.correct_gpu reads.fasta --devices cpu cuda:0 cuda

Overlaps are found once, on the CPU, and given to each run of one round; a second run of each device tells
what is left when kernels are compiled and loaded.
"""

from __future__ import annotations

import hashlib

from overlapper import find_overlaps, read_fastx
from overlapper.correct.reads import correct
from overlapper.params.correction import CorrectParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.threads import available_threads
from tests.benchmarks.harness import parser_of, timed


def main() -> None:
    """Run every device in turn and print a table."""
    options = parser_of(__doc__, "reads", devices=["cpu", "cuda"], rounds=2).parse_args()
    reads = read_fastx(options.reads, keep_qualities=True)
    threads = available_threads()
    overlaps, seconds = timed(lambda: find_overlaps(reads, threads=threads, device="cpu"))
    print(f"{reads.total_bases:,} bases, {len(overlaps):,} overlaps in {seconds:.2f} s")
    params = CorrectParams(rounds=1)
    print(f"{'device':10}{'consensus s':>12}{'whole s':>10}  digest")
    for _ in range(options.rounds):
        for device in options.devices:
            made, seconds = timed(
                lambda device=device: correct(reads, overlaps, params, threads=threads, device=device)
            )
            digest = hashlib.sha256(made.reads.words.tobytes() + made.reads.qualities.tobytes()).hexdigest()
            names = ", ".join(d.name for d in select_devices(device))
            print(f"{names:10}{made.seconds['correct-1']:12.2f}{seconds:10.2f}  {digest[:16]}", flush=True)


if __name__ == "__main__":
    main()
