"""A genome of human size and of human repeats, and HiFi reads of it.

Run ``python -m tests.benchmarks.human_sized OUT.fasta.zst PIECES.fasta [--chromosomes 24] [--coverage 10]
[--processes 16]``. The pieces are real human sequence, some megabases of it. Of the 125 Mb of a chromosome

- a half are stretches of the pieces in which a third of the bases are changed, so that each occurs once;
- .11 are copies of 24 young families of 300 bases (5 to 15 % changed), as Alu is, .17 of 40 families of up
  to 6 kb that lack a part of their start (2 to 20 %), as L1, .16 of 2,000 old families of 200 bases to 2 kb
  (15 to 30 %);
- .03 are arrays of a unit of twelve different monomers of 171 bases (1 to 3 % from unit to unit, other
  monomers on each chromosome), as alpha satellites;
- .04 are stretches of 10 to 100 kb of the chromosome itself (1 to 10 %), as segmental duplications.

Units of families are stretches of the pieces. Reads are of 15 kb on average and have .2 % errors, a third of
each kind, evenly; where they come from is written to ``OUT.fasta.zst.tsv`` for ``overlapper evaluate``. What
an overlap run takes: ``overlapper overlap OUT.fasta.zst -o overlaps.paf.gz --memory 16G``.
"""

import shutil
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np
from backports import zstd

from tests.benchmarks.harness import parser_of

CHROMOSOME = 125_000_000
LETTERS = np.frombuffer(b"ACGT", np.uint8)
# Share of the bases; families; shortest and longest unit; least and most changed; whether starts are missing.
FAMILIES = (
    (0.11, 24, 300, 300, 0.05, 0.15, False),
    (0.17, 40, 4_000, 6_000, 0.02, 0.20, True),
    (0.16, 2_000, 200, 2_000, 0.15, 0.30, False),
)
ERRORS = 0.002
SHAPE, SCALE = 14.0, 15_000 / 14  # of the lengths of reads, gamma distributed
SEED = 3


def changed(codes, share, rng):
    """Return codes of which a share is replaced by others."""
    codes = codes.copy()
    hit = rng.integers(0, len(codes), rng.poisson(-len(codes) * np.log1p(-share)))
    codes[hit] = (codes[hit] + rng.integers(1, 4, len(hit), np.uint8)) & 3
    return codes


def stretch(codes, length, rng):
    """Return a random stretch of codes."""
    start = rng.integers(0, len(codes) - length)
    return codes[start : start + length]


def put(chromosome, copy, rng):
    """Write a copy over a random place, on a random strand."""
    start = rng.integers(0, len(chromosome) - len(copy))
    chromosome[start : start + len(copy)] = copy if rng.random() < 0.5 else 3 - copy[::-1]


def chromosome_of(pieces, rng):
    """Return the codes of a chromosome."""
    shared = np.random.default_rng(SEED)  # families are those of all chromosomes
    parts = [changed(stretch(pieces, 1_000_000, rng), 1 / 3, rng) for _ in range(CHROMOSOME // 1_000_000)]
    chromosome = np.concatenate(parts)
    for share, number, shortest, longest, least, most, truncated in FAMILIES:
        units = [stretch(pieces, shared.integers(shortest, longest + 1), shared) for _ in range(number)]
        left = int(share * CHROMOSOME)
        while left > 0:
            unit = units[int(number * rng.random() ** 2)]  # some families have far more copies than others
            kept = int(0.98 * len(unit) * rng.random() ** 2) + 50 if truncated else len(unit)
            put(chromosome, changed(unit[-kept:], rng.uniform(least, most), rng), rng)
            left -= kept
    for _ in range(int(0.04 * CHROMOSOME / 55_000)):
        copy = stretch(chromosome, rng.integers(10_000, 100_000), rng)
        put(chromosome, changed(copy, rng.uniform(0.01, 0.1), rng), rng)
    unit = np.concatenate([changed(pieces[:171], 0.25, rng) for _ in range(12)])
    units = int(0.03 * CHROMOSOME / len(unit))
    array = np.concatenate([changed(unit, rng.uniform(0.01, 0.03), rng) for _ in range(units)])
    chromosome[CHROMOSOME // 2 :][: len(array)] = array
    return chromosome


def read_of(codes, rng):
    """Return a read of codes, with errors."""
    codes = changed(codes, ERRORS / 3, rng)
    times = np.ones(len(codes), np.uint8)
    times[rng.integers(0, len(codes), rng.poisson(ERRORS / 3 * len(codes)))] = 0
    times[rng.integers(0, len(codes), rng.poisson(ERRORS / 3 * len(codes)))] = 2
    return np.repeat(codes, times)


def simulate(number, pieces, coverage, out):
    """Write the reads of one chromosome, and where they come from, to files beside the one of all."""
    rng = np.random.default_rng([SEED, number])
    chromosome = chromosome_of(pieces, rng)
    rows, reads, bases = [], [], 0
    with zstd.open(f"{out}.{number}", "wb", level=1) as file:
        while bases < coverage * CHROMOSOME:
            length = int(rng.gamma(SHAPE, SCALE)) + 500
            start = int(rng.integers(0, CHROMOSOME - length))
            forward = rng.random() < 0.5
            codes = chromosome[start : start + length]
            read = read_of(codes if forward else 3 - codes[::-1], rng)
            name, n, strand = f"{number}.{len(rows)}", len(read), "+" if forward else "-"
            row = (name, f"chr{number}", start, start + length, strand, 0, n, n, "normal", 1 - ERRORS)
            rows.append("\t".join(map(str, row)) + "\n")
            reads += [b">%s\n" % name.encode(), LETTERS[read].tobytes(), b"\n"]
            bases += length
            if len(reads) > 3_000:
                file.write(b"".join(reads))
                reads = []
        file.write(b"".join(reads))
    Path(f"{out}.{number}.tsv").write_text("".join(rows))


def main():
    arguments = parser_of(__doc__, "out", "pieces", chromosomes=24, coverage=10.0, processes=16).parse_args()
    lines = Path(arguments.pieces).read_bytes().upper().split(b"\n")
    text = b"".join(line for line in lines if not line.startswith(b">"))
    codes = np.full(256, 4, np.uint8)
    codes[LETTERS] = np.arange(4)
    pieces = codes[np.frombuffer(text, np.uint8)]
    pieces = pieces[pieces < 4]
    numbers, out = range(arguments.chromosomes), arguments.out
    with ProcessPoolExecutor(arguments.processes) as pool:
        list(pool.map(simulate, numbers, repeat(pieces), repeat(arguments.coverage), repeat(out)))
    with open(out, "wb") as reads, open(out + ".tsv", "wb") as truth:
        truth.write(b"read\tref\tstart\tend\tstrand\tqstart\tqend\tread_len\tkind\tidentity\n")
        for number in numbers:
            for part, whole in (f"{out}.{number}", reads), (f"{out}.{number}.tsv", truth):
                with open(part, "rb") as file:
                    shutil.copyfileobj(file, whole, 1 << 24)
                Path(part).unlink()


if __name__ == "__main__":
    main()
