"""What is fuzzed: a valid file, how it is damaged, and the commands that read it."""

import dataclasses
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pysam

from tests.fuzz.mutations import mutated, mutated_json

GENOME_BASES, READ_BASES, STEP = 2400, 800, 200


@dataclasses.dataclass(frozen=True)
class Target:
    """One kind of file, or of folder.

    Attributes
    ----------
    name : str
    file : str
        The valid file, which is damaged; of a folder, a copy is.
    commands : sequence of str
        Take turns; what they write is called out, whatever its ending. In place of ``{}`` the file stands, in
        place of ``{n}`` a number, or what is none.
    mutate : callable
        Of bytes and a random generator.
    expected : dict of str to str
        Of a folder in which results are kept: what commands write, and the valid files that are the same if
        they succeed.
    """

    name: str
    file: str
    commands: tuple[str, ...]
    mutate: Callable[[bytes, random.Random], bytes] = mutated
    expected: dict[str, str] = dataclasses.field(default_factory=dict)


def _unpacked(unpack, pack):
    """Return a way to damage what is packed: half of the time as it is, half of the time what is within."""

    def mutate(data, rng):
        return mutated(data, rng) if rng.random() < 0.4 else pack(mutated(unpack(data), rng))

    return mutate


def _gzipped(data):
    return gzip.compress(data, 1, mtime=0)


def _bgzipped(data):
    """Return BGZF: blocks of gzip with their sizes, and an empty one at the end."""
    path = Path("packed.tmp")
    with pysam.BGZFile(str(path), "wb") as file:
        file.write(data)
    packed = path.read_bytes()
    path.unlink()
    return packed


_READERS = (
    "overlap {} -o out.paf",
    "align {} t.fa --pairing all-to-all -o out.paf",
    "map t.fa {} -o out.bam --sort",
    "overlap {} t2.fa -o out.parquet",
    "report {} -o out.html",
    "seeds t.fa {} -o out.tsv",
    "map t.fa {} -o out.sam",
    "correct {} -o out.fq",
    "assemble {} -o out",
    "evaluate {} --reference t.fa",
)
_PAF = (
    "convert {} out.parquet",
    "report {} -o out.html",
    "layout r.fq {} -o out.gfa --min-overlap 50 --min-depth 1",
    "evaluate truth.tsv {} --min-overlap 100",
    "plot pile {} r1 -o out.svg",
)
_ALIGNMENTS = (
    "align {} t.fa --pairing all-to-all -o out.paf",
    "map t.fa {} -o out.bam",
    "overlap {} -o out.paf",
    "report {} -o out.html",
)
_GFA = (
    "graph stats {}",
    "report {} -o out.html",
    "polish {} r.fq -o out.fa",
    "graph plot {} -o out.svg",
    "evaluate {} --reference ref.fa",
)
_JSON = ("report {} -o out.html", "report {} r.fq o.paf -o out.html")

_NUMBERS = tuple(
    f"{command} {option} {{n}}"
    for command, options in {
        "overlap {} -o out.paf": "--min-overlap --best --best-of-pair -k -w --memory --gpu-memory",
        "overlap {} -o out.paf --finder spgemm": "-k -w --min-overlap",
        "layout {} o.paf -o out.gfa --min-overlap 50 --min-depth 1": "--min-overlap --min-depth --max-hang",
        "map t.fa {} -o out.sam": "-k -w --secondary --seed-length",
        "map t.fa {} -o out.paf --seeder smem": "--seed-length",
        "seeds t.fa {} -o out.tsv": "-l",
        "align {} t.fa --pairing all-to-all -o out.paf": "--match --mismatch --unknown --gap-open "
        "--gap-extend --band",
        "simulate --reference t.fa -o out.fq -c 1": "--seed --mean-length --length-sd --min-length "
        "--identity --identity-sd --chimeras --junk --adapters",
        "evaluate truth.tsv o.paf": "--min-overlap --circular",
        "evaluate t.fa --reference ref.fa": "--circular --memory",
        "graph plot l.gfa -o out.svg": "--width",
        "plot pair {} r0 r1 -o out.svg": "--min-seed",
        "correct {} -o out.fq": "--max-depth",
        "polish t.fa {} -o out.fa": "--max-depth",
        "assemble {} -o out": "--min-overlap",
    }.items()
    for option in options.split()
)

TARGETS = [
    Target("FASTA", "t.fa", (*_READERS, "map {} r.fq -o out.bam", "index {} -o out.index",
                             "simulate --reference {} -o out.fq --coverage 1", "polish {} r.fq -o out.fa",
                             "plot pair {} t0 t1 -o out.svg", "evaluate t.fa --reference {}")),
    Target("FASTQ", "r.fq", (*_READERS, "evaluate {} --placements truth.tsv --reference ref.fa --reads {}")),
    Target("FASTQ, gzip", "r.fq.gz", _READERS[:4], _unpacked(gzip.decompress, _gzipped)),
    Target("FASTQ, bgzip", "r.fq.bgz", _READERS[:2], _unpacked(gzip.decompress, _bgzipped)),
    Target("SAM", "r.sam", _ALIGNMENTS),
    Target("BAM", "r.bam", _ALIGNMENTS, _unpacked(gzip.decompress, _bgzipped)),
    Target("CRAM", "r.cram", ("overlap {} -o out.paf --cram-reference ref.fa",
           "map t.fa {} -o out.sam --cram-reference ref.fa")),
    Target("reference of CRAM", "ref.fa", ("overlap r.cram -o out.paf --cram-reference {}",)),
    Target("PAF", "o.paf", _PAF),
    Target("PAF with CIGARs, gzip", "g.paf.gz", _PAF, _unpacked(gzip.decompress, _gzipped)),
    Target("Parquet", "o.parquet", ("convert {} out.paf", "report {} -o out.html",
           "layout r.fq {} -o out.gfa --min-overlap 50 --min-depth 1")),
    Target("names of Parquet", "o.reads.parquet", ("convert o.parquet out.paf",)),
    Target("GFA", "l.gfa", _GFA),
    Target("configuration", "c.toml", ("overlap r.fq -o out.paf --config {}",)),
    Target("counts of overlap", "o.json", _JSON, mutated_json),
    Target("counts of layout", "l.json", _JSON, mutated_json),
    Target("counts of an assembly", "a/stats.json", ("report a -o out.html", "report a r.fq -o out.html"),
           mutated_json),
    Target("contigs of an assembly", "a/contigs.tsv", ("report a -o out.html",)),
    Target("reads on contigs", "a/contigs.noseq.gfa", ("report a -o out.html",)),
    Target("doubt of an assembly", "a/contigs.doubt.bed", ("report a -o out.html",)),
    Target("table of corrected reads", "c.tsv", ("report {} -o out.html",)),
    Target("truth table", "truth.tsv", ("evaluate {} o.paf --min-overlap 100",
           "evaluate r.fq --placements {} --reference ref.fa")),
    Target("pairs", "pairs.tsv", ("align r.fq t.fa --pairs {} -o out.paf",)),
    Target("index", "t.index", ("seeds {} r.fq -o out.tsv",)),
]  # fmt: skip
TARGETS += [
    Target("work folder of overlap", "w", ("overlap r.fq -o out.paf --workdir {}",
           "overlap r.fq -o out.paf --workdir {} --memory 4G"), expected={"out.paf": "o.paf"}),
    Target("work folder of correct", "v", ("correct r.fq -o out.fq --workdir {}",),
           expected={"out.fq": "c.fq"}),
    Target("folder of an assembly", "a", ("assemble r.fq -o {} --min-overlap 50",),
           expected={"out.copy/contigs.fasta": "a/contigs.fasta"}),
]  # fmt: skip
TARGETS.append(Target("numbers of options", "r.fq", _NUMBERS, lambda data, rng: data))
BY_NAME = {target.name: target for target in TARGETS}

_MAKE = """
overlap r.fq -o o.paf --stats o.json --write-config c.toml
overlap r.fq -o g.paf.gz --extender gact
convert o.paf o.parquet
layout r.fq o.paf -o l.gfa --min-overlap 50 --min-depth 1 --stats l.json
map ref.fa r.fq -o r.bam
map ref.fa r.fq -o r.sam
index t.fa -o t.index
correct r.fq -o c.fq --table c.tsv
overlap r.fq -o out.paf --workdir w
correct r.fq -o out.fq --workdir v
assemble r.fq -o a --min-overlap 50
"""


def write_valid(run):
    """Write the valid files to the working directory; `run` runs a command."""
    rng = random.Random(1)
    genome = "".join(rng.choice("ACGT") for _ in range(GENOME_BASES))
    starts = range(0, GENOME_BASES - READ_BASES + 1, STEP)
    reads = {f"r{i}": genome[start : start + READ_BASES] for i, start in enumerate(starts)}
    targets = {f"t{i}": genome[start : start + 500] for i, start in enumerate((0, 700, 1600))}
    others = {f"o{i}": genome[start : start + 400] for i, start in enumerate((100, 900))}
    for path, records in (("t.fa", targets), ("t2.fa", others), ("ref.fa", {"genome": genome})):
        Path(path).write_text("".join(f">{name} x\n{bases}\n" for name, bases in records.items()))
    fastq = "".join(f"@{name} y\n{bases}\n+\n{'5I' * (len(bases) // 2)}\n" for name, bases in reads.items())
    Path("r.fq").write_text(fastq)
    Path("r.fq.gz").write_bytes(_gzipped(fastq.encode()))
    Path("r.fq.bgz").write_bytes(_bgzipped(fastq.encode()))
    placed = [f"r{i}\tgenome\t{s}\t{s + READ_BASES}\t+\t0\t{READ_BASES}\t{READ_BASES}\tnormal\t1.0\n"
              for i, s in enumerate(starts)]  # fmt: skip
    columns = ["read", "ref", "start", "end", "strand", "qstart", "qend", "read_len", "kind", "identity"]
    Path("truth.tsv").write_text("\t".join(columns) + "\n" + "".join(placed))
    Path("pairs.tsv").write_text("r0\tt0\nr1\tt1\t+\nr2\tt2\t-\n")
    for words in _MAKE.strip().splitlines():
        code, said = run(words.split())
        if code:
            raise AssertionError(f"{words}: {said}")
    with (
        pysam.AlignmentFile("r.bam") as bam,
        pysam.AlignmentFile("r.cram", "wc", template=bam, reference_filename="ref.fa") as cram,
    ):
        for record in bam:
            cram.write(record)
    for path in ("out.paf", "out.fq"):
        Path(path).unlink()
