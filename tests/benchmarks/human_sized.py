"""A genome of human size and of human repeats, and HiFi reads of it.

Run ``python -m tests.benchmarks.human_sized OUT.fasta PIECES.fasta.gz [--chromosomes 24] [--length 125000000]
[--haplotypes 1] [--coverage 10] [--errors 0.002] [--processes 16]``. The pieces are real human sequence, some
megabases of it. Of the bases of a chromosome

- a half are stretches of the pieces in which a third of the bases are changed, so that each occurs once;
- .11 are copies of 24 young families of 300 bases (5 to 15 % changed), as Alu is, .17 of 40 families of up
  to 6 kb that lack a part of their start (2 to 20 %), as L1, .16 of 2,000 old families of 200 bases to 2 kb
  (15 to 30 %);
- .03 are arrays of a unit of twelve different monomers of 171 bases (1 to 3 % from unit to unit, other
  monomers on each chromosome), as alpha satellites;
- .04 are stretches of 10 to 100 kb of the chromosome itself (.1 to 10 %), as segmental duplications.

Units of families are stretches of the pieces. A second haplotype differs in .1 % of the bases, every tenth of
them lacking or doubled; coverage is that of one haplotype. Reads are of 15 kb on average; a third of their
errors is of each kind, evenly. Where they come from is written to ``OUT.fasta.tsv`` for ``overlapper
evaluate``, the haplotypes to ``OUT.fasta.haplotype1.fasta`` and so on. What runs take: ``overlapper overlap
OUT.fasta -o overlaps.paf.gz --memory 16G``, ``overlapper assemble OUT.fasta -o DIR``.
"""

import gzip
import shutil
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from tests.benchmarks.harness import parser_of

PARTS = 8  # of the reads of a haplotype of a chromosome, each written by one process
HETEROZYGOUS = 0.001
LETTERS = np.frombuffer(b"ACGT", np.uint8)
# Share of the bases; families; shortest and longest unit; least and most changed; whether starts are missing.
FAMILIES = (
    (0.11, 24, 300, 300, 0.05, 0.15, False),
    (0.17, 40, 4_000, 6_000, 0.02, 0.20, True),
    (0.16, 2_000, 200, 2_000, 0.15, 0.30, False),
)
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


def chromosome_of(pieces, length, rng):
    """Return the codes of a chromosome."""
    shared = np.random.default_rng(SEED)  # families are those of all chromosomes
    parts = [changed(stretch(pieces, 1_000_000, rng), 1 / 3, rng) for _ in range(length // 1_000_000)]
    chromosome = np.concatenate(parts)
    for share, number, shortest, longest, least, most, truncated in FAMILIES:
        units = [stretch(pieces, shared.integers(shortest, longest + 1), shared) for _ in range(number)]
        left = int(share * length)
        while left > 0:
            unit = units[int(number * rng.random() ** 2)]  # some families have far more copies than others
            kept = int(0.98 * len(unit) * rng.random() ** 2) + 50 if truncated else len(unit)
            put(chromosome, changed(unit[-kept:], rng.uniform(least, most), rng), rng)
            left -= kept
    for _ in range(int(0.04 * length / 55_000)):
        copy = stretch(chromosome, rng.integers(10_000, 100_000), rng)
        put(chromosome, changed(copy, 0.001 * 100 ** rng.random(), rng), rng)
    unit = np.concatenate([changed(pieces[:171], 0.25, rng) for _ in range(12)])
    units = int(0.03 * length / len(unit))
    array = np.concatenate([changed(unit, rng.uniform(0.01, 0.03), rng) for _ in range(units)])
    chromosome[length // 2 :][: len(array)] = array
    return chromosome


def read_of(codes, errors, rng):
    """Return a read of codes, with errors."""
    codes = changed(codes, errors / 3, rng)
    times = np.ones(len(codes), np.uint8)
    times[rng.integers(0, len(codes), rng.poisson(errors / 3 * len(codes)))] = 0
    times[rng.integers(0, len(codes), rng.poisson(errors / 3 * len(codes)))] = 2
    return np.repeat(codes, times)


def haplotype_of(chromosome, share, rng):
    """Return a haplotype: nine tenths of a share of the bases are changed, the others left out or doubled."""
    codes = changed(chromosome, 0.9 * share, rng)
    times = np.ones(len(codes), np.uint8)
    for kept in 0, 2:
        times[rng.integers(0, len(codes), int(share * len(codes) / 20))] = kept
    return np.repeat(codes, times)


def simulate_haplotypes(number, pieces, length, haplotypes, out):
    """Write the haplotypes of one chromosome to files beside the one of all reads, as codes and as FASTA."""
    rng = np.random.default_rng([SEED, number])
    chromosome = chromosome_of(pieces, length, rng)
    for haplotype in range(haplotypes):
        codes = haplotype_of(chromosome, HETEROZYGOUS, rng) if haplotype else chromosome
        np.save(f"{out}.{number}.{haplotype}.npy", codes)
        Path(f"{out}.{number}.{haplotype}.fasta").write_bytes(
            b">chr%d\n%s\n" % (number, LETTERS[codes].tobytes())
        )


def simulate(task, coverage, errors, out):
    """Write a part of the reads of one haplotype, and where they come from, to files."""
    number, haplotype, part = task
    rng = np.random.default_rng([SEED, *task])
    chromosome = np.load(f"{out}.{number}.{haplotype}.npy", mmap_mode="r")
    rows, reads, bases, part_out = [], [], 0, part_of(out, task)
    with open(part_out, "wb") as file:
        while bases < coverage * len(chromosome) / PARTS:
            length = int(rng.gamma(SHAPE, SCALE)) + 500
            start = int(rng.integers(0, len(chromosome) - length))
            forward = rng.random() < 0.5
            codes = chromosome[start : start + length]
            read = read_of(codes if forward else 3 - codes[::-1], errors, rng)
            name, n, strand = f"{number}.{haplotype}.{part}.{len(rows)}", len(read), "+" if forward else "-"
            row = (name, f"chr{number}", start, start + length, strand, 0, n, n, "normal", 1 - errors)
            rows.append("\t".join(map(str, row)) + "\n")
            reads += [b">%s\n" % name.encode(), LETTERS[read].tobytes(), b"\n"]
            bases += length
            if len(reads) > 3_000:
                file.write(b"".join(reads))
                reads = []
        file.write(b"".join(reads))
    Path(f"{part_out}.tsv").write_text("".join(rows))


def part_of(out, task):
    """Return the file of a part of the reads."""
    return f"{out}.{'.'.join(map(str, task))}.part"


def joined(parts, out, header=b""):
    """Write files one after the other into one, and remove them."""
    with open(out, "wb") as whole:
        whole.write(header)
        for part in parts:
            with open(part, "rb") as file:
                shutil.copyfileobj(file, whole, 1 << 24)
            Path(part).unlink()


def main():
    arguments = parser_of(
        __doc__,
        "out",
        "pieces",
        chromosomes=24,
        length=125_000_000,
        haplotypes=1,
        coverage=10.0,
        errors=0.002,
        processes=16,
    ).parse_args()
    opener = gzip.open if arguments.pieces.endswith(".gz") else open
    with opener(arguments.pieces, "rb") as file:
        lines = file.read().upper().split(b"\n")
    text = b"".join(line for line in lines if not line.startswith(b">"))
    codes = np.full(256, 4, np.uint8)
    codes[LETTERS] = np.arange(4)
    pieces = codes[np.frombuffer(text, np.uint8)]
    pieces = pieces[pieces < 4]
    numbers, haplotypes, out = range(arguments.chromosomes), range(arguments.haplotypes), arguments.out
    tasks = list(product(numbers, haplotypes, range(PARTS)))
    with ProcessPoolExecutor(arguments.processes) as pool:
        made = partial(
            simulate_haplotypes, pieces=pieces, length=arguments.length, haplotypes=len(haplotypes), out=out
        )
        list(pool.map(made, numbers))
        list(
            pool.map(partial(simulate, coverage=arguments.coverage, errors=arguments.errors, out=out), tasks)
        )
    joined([part_of(out, task) for task in tasks], out)
    header = b"read\tref\tstart\tend\tstrand\tqstart\tqend\tread_len\tkind\tidentity\n"
    joined([part_of(out, task) + ".tsv" for task in tasks], out + ".tsv", header)
    for haplotype in haplotypes:
        joined(
            [f"{out}.{number}.{haplotype}.fasta" for number in numbers],
            f"{out}.haplotype{haplotype + 1}.fasta",
        )
        for number in numbers:
            Path(f"{out}.{number}.{haplotype}.npy").unlink()


if __name__ == "__main__":
    main()
