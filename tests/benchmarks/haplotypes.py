"""How many haplotype-specific bases corrected reads keep.

    python -m tests.benchmarks.haplotypes haplotypes.fasta NAME OTHER --technology hifi [--coverage 20]
    python -m tests.benchmarks.haplotypes random 200k 0.005 --technology clr

Reads of two haplotypes are simulated, each at the coverage given, and corrected together. A base is specific
to a haplotype where minimap2's alignment of the two has a substitution. In every corrected read, aligned to
the interval of its own haplotype that it came from (edlib), each is its own, the other's, or neither.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import edlib
import numpy as np

from graph.correct import correct
from graph.params import CorrectParams
from overlapper import read_fastx
from overlapper.cli.sizes import parse_size
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads

MARGIN = 300
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def diploid(size, rate):
    """Return a random sequence and a copy in which that share of bases differs."""
    genome = random_genome(size, seed=3)
    rng = np.random.default_rng(5)
    codes = genome.codes(0).copy()
    changed = rng.random(size) < rate
    codes[changed] = (codes[changed] + rng.integers(1, 4, changed.sum())) % 4
    other = "".join(np.array(list("ACGT"))[codes])
    return Reads.from_sequences(["one", "two"], [genome.sequence(0), other])


def specific_bases(haplotypes, folder):
    """Return, for each of two haplotypes, base of the other one by position."""
    for i in (0, 1):
        (folder / f"{i}.fa").write_text(f">{i}\n{haplotypes.sequence(i)}\n")
    command = ["minimap2", "-cx", "asm20", "--cs", "--secondary=no", folder / "0.fa", folder / "1.fa"]
    paf = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    ).stdout
    sites = ({}, {})
    for line in paf.splitlines():
        f = line.split("\t")
        if f[4] != "+":
            continue
        one, two = int(f[7]), int(f[2])
        cs = next(tag for tag in f if tag.startswith("cs:Z:"))
        for sign, what in re.findall(r"([:*+-])([0-9a-z]+)", cs[5:]):
            if sign == ":":
                one, two = one + int(what), two + int(what)
            elif sign == "*":
                sites[0][one], sites[1][two] = what[1].upper(), what[0].upper()
                one, two = one + 1, two + 1
            elif sign == "+":
                two += len(what)
            else:
                one += len(what)
    return sites


def count(reads, truth, haplotypes, sites):
    """Return how often a base at a site is its own, the other's, or neither."""
    found = Counter()
    by_name = {name: i for i, name in enumerate(reads.names)}
    for row in truth.rows():
        if row.read not in by_name or row.kind != "normal":
            continue
        haplotype = haplotypes.names.index(row.ref)
        genome = haplotypes.sequence(haplotype)
        low, high = max(0, row.start - MARGIN), min(len(genome), row.end + MARGIN)
        read = reads.sequence(by_name[row.read])
        if row.strand == "-":
            read = read.translate(COMPLEMENT)[::-1]
        inside = [p for p in range(row.start + MARGIN, row.end - MARGIN) if p in sites[haplotype]]
        if not inside:
            continue
        path = edlib.align(read, genome[low:high], mode="HW", task="path")
        place, at = low + path["locations"][0][0], 0
        wanted = iter(inside)
        position = next(wanted)
        for length, sign in re.findall(r"(\d+)([=XID])", path["cigar"]):
            length = int(length)
            ahead = length if sign != "I" else 0
            while position is not None and position < place + ahead:
                if position >= place:
                    base = "-" if sign == "D" else read[at + position - place]
                    own, other = genome[position], sites[haplotype][position]
                    found["own" if base == own else "other" if base == other else "neither"] += 1
                position = next(wanted, None)
            place += ahead
            at += length if sign != "D" else 0
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("haplotypes", help="FASTA file, or random")
    parser.add_argument("names", nargs=2, help="two sequences of the file; for random, size and divergence")
    parser.add_argument("--technology", default="hifi")
    parser.add_argument("--coverage", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.haplotypes == "random":
        haplotypes = diploid(parse_size(options.names[0]), float(options.names[1]))
    else:
        given = read_fastx(options.haplotypes)
        haplotypes = given.take(np.array([given.names.index(name) for name in options.names]))
    reads, truth = simulate_reads(
        haplotypes, options.technology, coverage=options.coverage, seed=options.seed
    )
    with tempfile.TemporaryDirectory() as folder:
        sites = specific_bases(haplotypes, Path(folder))
    print(f"{len(reads)} reads, {reads.total_bases:,} bases, {len(sites[0])} sites")
    for label, made in (
        ("raw", reads),
        (
            "corrected",
            correct(reads, params=CorrectParams(rounds=options.rounds), threads=options.threads).reads,
        ),
    ):
        found = count(made, truth, haplotypes, sites)
        total = max(1, sum(found.values()))
        shares = ", ".join(f"{kind} {found[kind] / total:.4f}" for kind in ("own", "other", "neither"))
        print(f"{label:10} {total:,} bases: {shares}", flush=True)


if __name__ == "__main__":
    main()
