"""Assemblies of deep sets: small circles, isolates with plasmids, two strains 9:1, linear molecules.

    python -m tests.benchmarks.deep_sets GENOMES [--only circles ...] [--depths 100 10000]

GENOMES is a folder with ``saureus_usa300.fasta.gz``, ``ecoli_k12_mg1655.fasta.gz`` and
``klebs_hs11286.fasta.gz``. All reads are simulated, by seed. A row a set: molecules that are one contig of
their shape and bases, differences of the others (least edit distance of a contig of that shape, a circle
turned as the molecule is), all contigs, CPU time per base, memory. Of linear molecules differences within,
and bases that lack or are too many at ends; of two strains the share of the 31-mers of the rare one alone
that contigs have.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import edlib
import pysam

from tests.benchmarks.harness import overlapper, parser_of
from tests.oracle.strands import reverse_complement

PRESETS = ("ont-r9", "ont-r10", "real-ont", "hifi")
PLASMIDS = {"p1": (1_200, 30), "p2": (2_500, 20), "p6": (6_000, 8), "p12": (12_000, 4), "p40": (40_000, 1)}
"""Of isolates: bases, and copies per chromosome."""
K = 31
ENDS = 100
"""Bases at ends of linear molecules that are judged apart."""


class Set(NamedTuple):
    """Reads that are simulated: its name, what `simulate` draws from, and how its contigs are judged.

    Attributes
    ----------
    sources : list of (name, sequence, circular or None, coverage)
        None: each read is a whole molecule.
    judge : callable
        ``judge(contigs)`` returns what the row says, with contigs as (sequence, circular).
    options : tuple of str
        Of `assemble`.
    """

    name: str
    preset: str
    sources: list[tuple[str, str, bool | None, float]]
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


def off_linear(contigs: list[tuple[str, bool]], molecule: str) -> tuple[int, int, int] | None:
    """Return differences within, and bases that a contig has more (or less) at each end of a molecule."""
    best = None
    first, last = molecule[ENDS : ENDS + 100], molecule[-ENDS - 100 : -ENDS]
    for contig, circular in contigs:
        for own in (contig, reverse_complement(contig)) if not circular else ():
            places = [edlib.align(part, own, mode="HW", task="locations", k=20) for part in (first, last)]
            if any(place["editDistance"] < 0 for place in places):
                continue
            start, end = places[0]["locations"][0][0], places[1]["locations"][-1][1] + 1
            inner = edlib.align(own[start:end], molecule[ENDS:-ENDS], task="distance")["editDistance"]
            found = inner, start - ENDS, len(own) - end - ENDS
            best = found if best is None or found < best else best
    return best


def judged_linear(molecules: dict[str, str]) -> Callable[[list[tuple[str, bool]]], str]:
    """Return a judge of contigs that should be these linear molecules."""

    def judge(contigs: list[tuple[str, bool]]) -> str:
        off = {name: off_linear(contigs, bases) for name, bases in molecules.items()}
        whole = sum(one is not None and one[0] == 0 and min(one[1:]) >= -25 for one in off.values())
        wrong = {name: one for name, one in off.items() if one != (0, 0, 0)}
        lengths = sorted((len(bases) for bases, _ in contigs), reverse=True)
        circles = sum(circular for _, circular in contigs)
        said = f"whole {whole}/{len(off)}\twrong {wrong or '-'}\tcontigs {len(contigs)} {lengths[:8]}"
        return f"{said} circles {circles}"

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


def isolates(genomes: Path, genome: str, chromosome: int) -> Iterator[Set]:
    """Yield sets of a chromosome with plasmids."""
    first = sequence_of(genomes / f"{genome}.fasta.gz", 0, 10**9)
    start = max(0, (len(first) - chromosome) // 2)
    replicons = {"chromosome": first[start : start + chromosome]}
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


def linear(genomes: Path) -> Iterator[Set]:
    """Yield sets of linear molecules: viruses with repeats at their ends, segments, tilings of amplicons."""

    def bases(start: int, size: int) -> str:
        return sequence_of(genomes / "klebs_hs11286.fasta.gz", start, size)

    viruses = []
    for size, repeat, depths in (
        (10_000, 300, (500, 5_000)),
        (40_000, 2_500, (500, 5_000)),
        (200_000, 9_000, (500, 1_000)),
    ):
        own, end = bases(2_000_000 + size, size - repeat), bases(4_000_000, repeat)
        viruses += [(size, "direct", end + own[repeat:] + end, depth) for depth in depths]
        viruses += [(size, "inverted", end + own[repeat:] + reverse_complement(end), depths[0])]
        viruses += [(size, "none", own, depths[0])]
    sizes = (890, 1_027, 1_413, 1_565, 1_778, 2_233, 2_300, 2_341)
    segments = {f"s{size}": bases(4_400_000 + 5_000 * place, size) for place, size in enumerate(sizes)}
    genome = bases(2_500_000, 29_900)
    for preset in PRESETS:
        for size, kind, molecule, depth in viruses:
            judge = judged_linear({"virus": molecule})
            yield Set(
                f"virus-{size}-{kind}-{depth}x-{preset}", preset, [("virus", molecule, False, depth)], judge
            )
        for depth in (500, 5_000):
            whole = [(name, one, None, depth) for name, one in segments.items()]
            yield Set(f"segments-{depth}x-{preset}", preset, whole, judged_linear(segments))
        for size, step in ((400, 300), (1_200, 1_100), (2_500, 1_800)):
            places = range(0, len(genome) - size + 1, step)
            draw = random.Random(size)
            tiles = [
                (
                    f"t{place}",
                    genome[place : place + size],
                    None,
                    round(10 ** draw.uniform(1, 3 if size > 400 else 2.5)),
                )
                for place in places
            ]
            apart = {name: tile for name, tile, *_ in tiles}  # which 100 common bases do not join
            judge = judged_linear(apart if step + 100 == size else {"genome": genome[: places[-1] + size]})
            yield Set(f"tiling-{size}-{preset}", preset, tiles, judge)


MOST_OF_PIECE = 50_000_000
"""Bases that are simulated at once, about."""
WHOLE_MOLECULES = {"ont-r9": 0.06, "ont-r10": 0.01, "real-ont": 0.05, "hifi": 0.002}
"""Error rates of reads of whole molecules."""


def write_reads(one: Set, folder: Path, threads: int) -> int:
    """Simulate the reads of a set, in pieces side by side; return their bases."""
    pieces = []
    for name, bases, circular, coverage in one.sources:
        (folder / f"{name}.fa").write_text(f">{name}\n{bases}\n")
        number = max(1, round(len(bases) * coverage / MOST_OF_PIECE))
        pieces += [(name, bases, circular, coverage / number)] * number

    def write(piece: int) -> Path:
        name, bases, circular, coverage = pieces[piece]
        path = folder / f"{piece}.fastq"
        if circular is None:
            draw, lines = random.Random(piece), []
            for copy in range(round(coverage)):
                made = mutated(bases, WHOLE_MOLECULES[one.preset], draw.getrandbits(32))
                made = reverse_complement(made) if draw.random() < 0.5 else made
                lines.append(f"@{copy}\n{made}\n+\n{'5' * len(made)}\n")
            path.write_text("".join(lines))
        else:
            words = ["--reference", folder / f"{name}.fa", "-p", one.preset, "-c", coverage, "-o", path, "-q"]
            overlapper("simulate", *words, "--seed", piece + 1, *(["--circular"] if circular else []))
        return path

    total = 0
    with open(folder / "reads.fastq", "wb") as reads, ThreadPoolExecutor(threads) as pool:
        for piece, path in enumerate(pool.map(write, range(len(pieces)))):
            with open(path, "rb") as part:
                for place, line in enumerate(part):
                    total += len(line) - 1 if place % 4 == 1 else 0
                    reads.write(b"@%d_" % piece + line[1:] if place % 4 == 0 else line)
            path.unlink()
    return total


def row(one: Set, threads: int) -> str:
    """Simulate, assemble and judge a set; return its row."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        total = write_reads(one, folder, threads)
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
        __doc__, "genomes", only=["circles", "isolates", "strains", "linear"], depths=[100, 10_000],
        jobs=1, threads=2, match="", genome="saureus_usa300", chromosome=1_000_000,
    )  # fmt: skip
    arguments = parser.parse_args()
    genomes = Path(arguments.genomes)
    makers = {
        "circles": lambda: circles(genomes, arguments.depths),
        "isolates": lambda: isolates(genomes, arguments.genome, arguments.chromosome),
        "strains": lambda: strains(genomes),
        "linear": lambda: linear(genomes),
    }
    sets = [
        one for kind in arguments.only for one in makers[kind]() if fnmatch(one.name, f"*{arguments.match}*")
    ]
    sets.sort(key=lambda one: -sum(len(bases) * coverage for _, bases, _, coverage in one.sources))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for line in pool.map(lambda one: row(one, arguments.threads), sets):
            print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
