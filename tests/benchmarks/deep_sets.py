"""Assemblies of deep sets: small circles at 100x and 10,000x, isolates with plasmids, two strains 9:1.

    python -m tests.benchmarks.deep_sets GENOMES [--only circles isolates strains] [--depths 100 10000]

GENOMES is a folder with ``ecoli_k12_mg1655.fasta.gz`` and ``klebs_hs11286.fasta.gz``. All reads are
simulated, by seed. A row a set: replicons that are one circle of the right bases, differences of the others
(least edit
distance of a circular contig to them, turned as the replicon is), contigs besides, CPU time per base, memory.
Of two strains: the share of the 31-mers of the rare one alone that contigs have.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import edlib
import pysam

from tests.benchmarks.harness import overlapper, parser_of
from tests.oracle.strands import reverse_complement

PRESETS = ("ont-r9", "ont-r10", "real-ont", "hifi")
PLASMIDS = {"p1": (1_200, 30), "p2": (2_500, 20), "p6": (6_000, 8), "p12": (12_000, 4), "p40": (40_000, 1)}
"""Of isolates: bases, and copies per chromosome."""
CHROMOSOME = 1_000_000
K = 31


class Set(NamedTuple):
    """Reads that are simulated: its name, what `simulate` draws from, and how its contigs are judged.

    Attributes
    ----------
    sources : list of (name, sequence, circular, coverage)
    judge : callable
        ``judge(contigs)`` returns what the row says, with contigs as (sequence, circular).
    options : tuple of str
        Of `assemble`.
    """

    name: str
    preset: str
    sources: list[tuple[str, str, bool, float]]
    judge: Callable[[list[tuple[str, bool]]], str]
    options: tuple[str, ...] = ()


def sequence_of(path: Path, start: int, length: int) -> str:
    """Return bases of the first sequence of a file."""
    with pysam.FastxFile(str(path)) as file:
        return next(iter(file)).sequence[start : start + length].upper()


def turned(contig: str, replicon: str) -> Iterator[str]:
    """Yield a circular contig, on either strand, begun where a replicon begins, if it can be."""
    round_ = replicon + replicon[: K - 1]
    for own in (contig, reverse_complement(contig)):  # words of an inverted repeat are on both
        twice = own + own[: K - 1]
        for place in range(0, len(replicon), 97):
            word = round_[place : place + K]
            if twice.count(word) == 1 == round_.count(word) and reverse_complement(word) not in round_:
                start = (twice.find(word) - place) % len(own)
                yield own[start:] + own[:start]
                break


def differences(contigs: list[tuple[str, bool]], replicon: str) -> int:
    """Return the least edit distance of a circular contig and a replicon; its length where there is none."""
    least = len(replicon)
    for contig, circular in contigs:
        if circular and len(contig) < 3 * len(replicon):
            for own in turned(contig, replicon):
                least = min(least, edlib.align(own, replicon, task="distance")["editDistance"])
    return least


def judged_circles(replicons: dict[str, str]) -> Callable[[list[tuple[str, bool]]], str]:
    """Return a judge of contigs that should be these replicons, each one circle."""

    def judge(contigs: list[tuple[str, bool]]) -> str:
        apart = {name: differences(contigs, bases) for name, bases in replicons.items()}
        exact = sum(not count for count in apart.values())
        others = {name: count for name, count in apart.items() if count}
        lengths = sorted((len(bases) for bases, _ in contigs), reverse=True)
        return f"exact {exact}/{len(replicons)}\twrong {others or '-'}\tcontigs {len(contigs)} {lengths[:8]}"

    return judge


def kmers_of(bases: str) -> set[str]:
    """Return the K-mers of a sequence, each of the strand that is first in the alphabet."""
    other = reverse_complement(bases)
    last = len(bases) - K
    return {min(bases[i : i + K], other[last - i : last - i + K]) for i in range(last + 1)}


def judged_strains(common: str, rare: str) -> Callable[[list[tuple[str, bool]]], str]:
    """Return a judge of contigs of two strains: the share of own K-mers of each that contigs have."""

    def judge(contigs: list[tuple[str, bool]]) -> str:
        there = set().union(*(kmers_of(bases) for bases, _ in contigs)) if contigs else set()
        of_common, of_rare = kmers_of(common), kmers_of(rare)
        kept = [len(own & there) / len(own) for own in (of_common - of_rare, of_rare - of_common)]
        return f"own 31-mers {kept[0]:.4f} {kept[1]:.4f}\t-\tcontigs {len(contigs)}"

    return judge


def mutated(bases: str, rate: float, seed: int) -> str:
    """Return a sequence with substitutions, and one indel of a base for each ten of them."""
    draw = random.Random(seed)
    made = []
    for base in bases:
        if draw.random() >= rate:
            made.append(base)
        elif draw.random() < 0.9:
            made.append(draw.choice([other for other in "ACGT" if other != base]))
        elif draw.random() < 0.5:
            made.append(base + draw.choice("ACGT"))
    return "".join(made)


def circles(genomes: Path, depths: list[int]) -> Iterator[Set]:
    """Yield sets of one small circle; a tenth of dimers, or reads of a host as a twentieth of all."""
    host = sequence_of(genomes / "ecoli_k12_mg1655.fasta.gz", 0, 4_600_000)
    for preset in PRESETS:
        for size in (3_500, 10_000, 30_000):
            bases = sequence_of(genomes / "klebs_hs11286.fasta.gz", 700_000 + size, size)
            for depth in depths:
                plain = ("circle", bases, True, depth)
                kinds = {"plain": [plain]}
                if size < 30_000:
                    dimers = ("dimer", 2 * bases, True, depth / 20)
                    kinds["dimers"] = [("circle", bases, True, 0.9 * depth), dimers]
                if size == 10_000:
                    kinds["host"] = [plain, ("host", host, True, 0.05 * depth * size / len(host))]
                for kind, sources in kinds.items():
                    name = f"circle-{size}-{depth}x-{kind}-{preset}"
                    yield Set(name, preset, sources, judged_circles({"circle": bases}))


def isolates(genomes: Path) -> Iterator[Set]:
    """Yield sets of a chromosome with plasmids."""
    replicons = {"chromosome": sequence_of(genomes / "ecoli_k12_mg1655.fasta.gz", 1_500_000, CHROMOSOME)}
    start = 3_000_000
    for name, (size, _) in PLASMIDS.items():
        replicons[name] = sequence_of(genomes / "klebs_hs11286.fasta.gz", start, size)
        start += 100_000
    for preset in PRESETS:
        for depth in (20, 50, 100, 400):
            copies = {name: number for name, (_, number) in PLASMIDS.items()}
            sources = [(name, bases, True, depth * copies.get(name, 1)) for name, bases in replicons.items()]
            yield Set(f"isolate-{depth}x-{preset}", preset, sources, judged_circles(replicons))


def strains(genomes: Path) -> Iterator[Set]:
    """Yield sets of two strains, 9:1 at 200x."""
    common = sequence_of(genomes / "klebs_hs11286.fasta.gz", 1_000_000, 300_000)
    for rate in (0.003, 0.01):
        rare = mutated(common, rate, 7)
        for preset in ("ont-r10", "hifi"):
            sources = [("common", common, True, 180), ("rare", rare, True, 20)]
            judge = judged_strains(common, rare)
            yield Set(f"strains-{rate}-{preset}", preset, sources, judge, ("--copies", "separate"))


def row(one: Set, threads: int) -> str:
    """Simulate, assemble and judge a set; return its row."""
    with tempfile.TemporaryDirectory() as work:
        folder, total = Path(work), 0
        with open(folder / "reads.fastq", "wb") as reads:
            for number, (name, bases, circular, coverage) in enumerate(one.sources):
                (folder / "source.fa").write_text(f">{name}\n{bases}\n")
                words = [
                    "-p",
                    one.preset,
                    "-c",
                    coverage,
                    "--seed",
                    number + 1,
                    "-o",
                    folder / "part.fastq",
                    "-q",
                ]
                closed = ["--circular"] if circular else []
                overlapper("simulate", "--reference", folder / "source.fa", *closed, *words)
                with open(folder / "part.fastq", "rb") as part:
                    for place, line in enumerate(part):
                        total += len(line) - 1 if place % 4 == 1 else 0
                        reads.write(b"@%d_" % number + line[1:] if place % 4 == 0 else line)
        try:
            spent = overlapper(
                "assemble", folder / "reads.fastq", "-o", folder / "out", "-t", threads, "-q", *one.options
            )
        except subprocess.CalledProcessError as error:
            return f"{one.name}\tfailed with {error.returncode}"
        table = [line.split("\t") for line in (folder / "out" / "contigs.tsv").read_text().splitlines()]
        circular_of = {columns[0]: columns[2] == "yes" for columns in table[1:]}
        with pysam.FastxFile(str(folder / "out" / "contigs.fasta")) as file:
            contigs = [(record.sequence, circular_of[record.name]) for record in file]
        per_base = spent.cpu / total * 1e9
        return (
            f"{one.name}\t{one.judge(contigs)}\t{total / 1e6:.0f} Mb\t{spent.wall:.1f} s\t"
            f"CPU {spent.cpu:.1f} s\t{per_base:.0f} ns a base\t{spent.megabytes:.0f} MB"
        )


def main() -> None:
    """Judge the sets that are asked for."""
    parser = parser_of(
        __doc__, "genomes", only=["circles", "isolates", "strains"], depths=[100, 10_000], jobs=1, threads=2,
        match="",
    )  # fmt: skip
    arguments = parser.parse_args()
    genomes = Path(arguments.genomes)
    makers = {
        "circles": lambda: circles(genomes, arguments.depths),
        "isolates": lambda: isolates(genomes),
        "strains": lambda: strains(genomes),
    }
    sets = [one for kind in arguments.only for one in makers[kind]() if arguments.match in one.name]
    sets.sort(key=lambda one: -sum(len(bases) * coverage for _, bases, _, coverage in one.sources))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for line in pool.map(lambda one: row(one, arguments.threads), sets):
            print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
