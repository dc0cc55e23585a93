"""Reads of a genome as rich in repeats as a worm's, simulated by many processes.

Run ``python -m tests.benchmarks.repeat_rich OUT.fasta [--megabases 100] [--coverage 20] [--processes 16]
[--preset ont-r9]``. The genome, written beside the reads as ``OUT.fasta.genome``, is random, 65 % A and T; a
fifth of it are copies of families of repeats, from many short and diverged ones (2,000 of 150 bases, 15 %) to
few long and young ones (3 of 8 kb, .3 %), on both strands, and tandem arrays. `overlap_turns` measures on it.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tests.benchmarks.harness import overlapper, parser_of

REPEATED = 0.2
LETTERS = np.frombuffer(b"ACGT", np.uint8)
RNG = np.random.default_rng(25)


def genome_of(bases):
    """Return the codes of a genome."""
    genome = random_bases(bases)
    left = int(bases * REPEATED)
    while left > 0:
        size = RNG.random()  # of the copies: 0 is short, many and old, 1 is long, few and young
        unit = random_bases(int(150 * 53**size))
        if RNG.random() < 0.1:
            unit = np.tile(unit[: 5 + int(95 * size)], 60)
        for _ in range(3 + int(2000 * 0.002**size * RNG.random())):
            copy = unit.copy()
            hit = np.flatnonzero(RNG.random(len(copy)) < 0.15 * 0.02**size)
            copy[hit] = (copy[hit] + RNG.integers(1, 4, len(hit))) & 3
            start = RNG.integers(0, bases - len(copy))
            genome[start : start + len(copy)] = copy if RNG.random() < 0.5 else 3 - copy[::-1]
            left -= len(copy)
    return genome


def random_bases(n):
    return RNG.choice(4, n, p=[0.325, 0.175, 0.175, 0.325]).astype(np.uint8)


def main():
    parser = parser_of(__doc__, "out", megabases=100.0, coverage=20.0, processes=16, preset="ont-r9")
    arguments = parser.parse_args()
    out, source = Path(arguments.out), Path(arguments.out + ".genome")
    source.write_bytes(b">genome\n" + LETTERS[genome_of(int(1e6 * arguments.megabases))].tobytes() + b"\n")

    def simulate(number):
        part = Path(f"{out}.{number}")
        share = arguments.coverage / arguments.processes
        words = "-p", arguments.preset, "-c", share, "--seed", number
        overlapper("simulate", "-q", "--reference", source, *words, "-o", part)
        text = part.read_bytes().replace(b">", b">%d." % number)
        part.unlink()
        return text

    with open(out, "wb") as file, ThreadPoolExecutor(arguments.processes) as pool:
        for text in pool.map(simulate, range(1, arguments.processes + 1)):
            file.write(text)
    print(f"{out}: {os.path.getsize(out) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
