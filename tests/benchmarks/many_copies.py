"""Sets of three to eight haplotypes or paralogues, simulated: are they kept in correction, and laid out pure?

    python -m tests.benchmarks.many_copies GENOME.fasta.gz --copies 3 4 --identity 0.998 --depth 10 \
        --reads hifi ont --out FILE [--programs ours hifiasm] [--ratio 3] [--beside] [--one-strand]

A set has copies of a stretch of the genome. In each copy bases differ from those of the stretch, so that two
copies have the identity given: two thirds of the differences are other bases, a third are bases more or less;
two stretches of 60 to 800 bases are deleted, two inserted. Every second copy is ``ratio`` times as deep as
others. With ``--beside``, reads of a stretch of the same size elsewhere, as deep as copies are on the mean,
are among them, without labels. Sets are judged as real ones are (`tests.benchmarks.real_sets`); besides, of
the contigs:

held
    Of the 31-mers that a copy alone has, the share that is in them: the least of all copies.
times
    Their bases, over those of all copies (and the stretch beside them).
"""

from __future__ import annotations

import csv
import gzip
import itertools
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from overlapper.io.fastx import read_fastx
from overlapper.simulate import adapted_model, simulate_reads
from overlapper.tables import Reads
from tests.benchmarks.harness import parser_of
from tests.benchmarks.real_sets import COMPLEMENT, judged, kmers, records

BASES = "ACGT"
MODELS = {
    "hifi": adapted_model("hifi"),
    "ont": adapted_model("real-ont", identity=0.985, mean_length=20_000),
}
COLUMNS = ["set", "program", "contigs", "longest", "times", "held", "pure", "own", "reads_identity"]
COLUMNS += ["hap_bases", "hap_pure", "kept", "cpu_s"]


def copy_of(stretch: str, identity: float, rng: np.random.Generator) -> str:
    """Return a copy of a stretch that is as far from it as half of two copies are from each other."""
    bases = list(stretch)
    for place in np.flatnonzero(rng.random(len(bases)) < (1 - identity) / 2).tolist():
        other = BASES[(BASES.index(bases[place]) + int(rng.integers(1, 4))) % 4]
        bases[place] = [other, other, other, other, "", bases[place] + other][rng.integers(6)]
    for _ in range(2):
        start, size = rng.integers(len(bases) // 10, 9 * len(bases) // 10), rng.integers(60, 800)
        del bases[start : start + size]
        start, size = rng.integers(len(bases) // 10, 9 * len(bases) // 10), rng.integers(60, 800)
        bases[start:start] = [BASES[i] for i in rng.integers(0, 4, size)]
    return "".join(bases)


class SimulatedSet:
    """A set of copies, written as a real one is."""

    def __init__(self, genome: str, options, technology, copies, identity, depth):
        self.name = f"{technology}_{copies}x{identity:g}_{depth:g}"
        rng = np.random.default_rng([options.seed, copies, round(1e5 * identity)])
        start, elsewhere = rng.integers(0, len(genome) - options.bases, 2)
        stretch = genome[start : start + options.bases]
        self.copies = [copy_of(stretch, identity, rng) for _ in range(copies)]
        deep = [depth * (options.ratio if number % 2 else 1) for number in range(copies)]
        self.sources = list(self.copies)
        if options.beside:
            self.sources.append(genome[elsewhere : elsewhere + options.bases])
            deep.append(sum(deep) / len(deep))
        self.reads = []
        for number, (source, coverage) in enumerate(zip(self.sources, deep, strict=True)):
            reference = Reads.from_sequences([f"{number}"], [source])
            reads, truth = simulate_reads(
                reference, MODELS[technology], coverage=coverage, seed=1000 * options.seed + number
            )
            for i in range(len(reads)):
                bases, quality = reads.sequence(i), (reads.qualities_of(i) + 33).tobytes().decode()
                if options.one_strand and truth.strand[i] == "-":
                    bases, quality = bases.translate(COMPLEMENT)[::-1], quality[::-1]
                self.reads.append((f"{number}.{i}", bases, quality))

    def write(self, folder: Path) -> None:
        """Write reads, labels and haplotypes."""
        folder.mkdir(parents=True)
        labelled = {str(number) for number in range(len(self.copies))}
        lines = {
            "reads.fastq.gz": (f"@{name}\n{bases}\n+\n{quality}\n" for name, bases, quality in self.reads),
            "haplotypes.fasta.gz": (f">c{number}\n{copy}\n" for number, copy in enumerate(self.copies)),
            "haplotags.tsv.gz": itertools.chain(
                ["read\thaplotype\n"],
                (
                    f"{name}\tc{name.split('.')[0]}\n"
                    for name, *_ in self.reads
                    if name.split(".")[0] in labelled
                ),
            ),
        }
        for name, text in lines.items():
            with gzip.open(folder / name, "wt", compresslevel=1) as file:
                file.writelines(text)

    def judged(self, contigs: Path) -> dict[str, object]:
        """Judge contigs by the 31-mers of copies."""
        found = set().union(*(kmers(bases) for _, bases in records(contigs)))
        count, sizes = Counter(k for copy in self.sources for k in kmers(copy)), []
        for copy in self.copies:
            own = {k for k in kmers(copy) if count[k] == 1}
            sizes.append(len(own & found) / max(len(own), 1))
        total = sum(len(bases) for _, bases in records(contigs))
        return {"held": f"{min(sizes):.4f}", "times": f"{total / sum(map(len, self.sources)):.3f}"}


def main():
    parser = parser_of(
        __doc__, "genome", copies=[3], identity=[0.998], depth=[15.0], reads=["hifi"], programs=["ours"],
        bases=80_000, ratio=1.0, seed=1, beside=False, one_strand=False, out="many-copies.tsv",
    )  # fmt: skip
    options = parser.parse_args()
    genome = read_fastx(options.genome).sequence(0)
    cells = itertools.product(options.reads, options.copies, options.identity, options.depth)
    with open(options.out, "w") as file:
        rows = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n", extrasaction="ignore")
        rows.writeheader()
        print("\t".join(COLUMNS))
        for cell in cells:
            made = SimulatedSet(genome, options, *cell)
            with tempfile.TemporaryDirectory() as name:
                made.write(Path(name) / made.name)
                for program in options.programs:
                    row = judged(program, Path(name), made.name, made.judged)
                    rows.writerow(row)
                    file.flush()
                    print("\t".join(str(row.get(column, "")) for column in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
