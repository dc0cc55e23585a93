"""The files that the pages of the documentation speak of, small."""

import gzip
import shutil

import pysam

from tests.cli.runner import overlapper

COMMANDS = """
simulate --genome-size 30k --coverage 12 -o reads.fq --truth truth.tsv --reference-out reference.fasta
overlap reads.fq -o overlaps.paf --stats run.json
layout reads.fq overlaps.paf -o layout.gfa --min-overlap 500 --stats layout.json --fasta unitigs.fasta
index reference.fasta -o reference.index
"""
PACKED = (
    "reads.fastq",
    "run1.fq",
    "run2.fq",
    "reference.fasta",
    "overlaps.paf",
    "layout.gfa",
    "truth.tsv",
    "short.fastq",
)
SAME = {
    "reads.fq": ["reads.fastq"],
    "reference.fasta": ["text.fasta", "reference.fa", "ref.fasta", "genome.fasta", "haplotype1.fasta"],
    "kmers.fasta": ["primers.fa"],
    "overlaps.paf": ["minimap2.paf"],
    "layout.gfa": ["unitigs.gfa", "assembly.gfa"],
    "reads.fa": ["amplicons.fa"],
    "unitigs.fasta": ["contigs.fasta", "haplotype2.fasta"],
}
SAME_PACKED = {
    "reference.fasta.gz": ["ecoli.fasta.gz"],
    "overlaps.paf.gz": ["minimap2.paf.gz"],
    "layout.gfa.gz": ["other_assembler.gfa.gz"],
}
"""Other names of a file."""


def write_given(folder):
    """Write them: a genome, reads of it in several formats, what comes of these, and reads of a diploid."""
    for words in COMMANDS.strip().splitlines():
        overlapper(*words.split(), cwd=folder, check=True)
    reads = list(pysam.FastxFile(str(folder / "reads.fq")))
    genome = next(pysam.FastxFile(str(folder / "reference.fasta")))
    write_text(folder / "reads.fa", (f">{read.name}\n{read.sequence}\n" for read in reads))
    for part, of_part in {"run1": reads[::2], "run2": reads[1::2], "reads": reads}.items():
        write_bam(folder / f"{part}.bam", of_part)
        write_text(folder / f"{part}.fq", (f"{read}\n" for read in of_part))
    pieces = {i: genome.sequence[i : i + 30] for i in range(0, 3_000, 100)}
    write_text(folder / "kmers.fasta", (f">kmer{i}\n{piece}\n" for i, piece in pieces.items()))
    short = {i: genome.sequence[i : i + 150] for i in range(0, 20_000, 400)}
    write_text(folder / "short.fastq", (f"@s{i}\n{bases}\n+\n{'I' * 150}\n" for i, bases in short.items()))
    for name, length in (("queries", 300), ("targets", 400)):
        pairs = {i: genome.sequence[i : i + length] for i in (0, 900, 5_000)}
        write_text(folder / f"{name}.fa", (f">{name}{i}\n{piece}\n" for i, piece in pairs.items()))
    write_text(folder / "pairs.tsv", (f"{read.name}\t{genome.name}\n" for read in reads[:3]))
    other = "".join(
        "ACGT"["TACG".index(base)] if not i % 200 else base for i, base in enumerate(genome.sequence)
    )
    write_text(folder / "diploid.fasta", (f">one\n{genome.sequence}\n", f">other\n{other}\n"))
    simulated = "simulate --reference diploid.fasta --preset hifi --coverage 20 -o diploid.fastq.gz"
    overlapper(*simulated.split(), cwd=folder, check=True)
    copy_all(folder, SAME)
    for name in PACKED:
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes(), 1))
    copy_all(folder, SAME_PACKED)


def copy_all(folder, names):
    """Copy files to their other names."""
    for name, others in names.items():
        for other in others:
            shutil.copy(folder / name, folder / other)


def write_text(path, parts):
    """Write text."""
    path.write_text("".join(parts))


def write_bam(path, reads):
    """Write BAM, unaligned."""
    with pysam.AlignmentFile(str(path), "wb", header={"HD": {"VN": "1.6", "SO": "unsorted"}}) as file:
        for read in reads:
            record = pysam.AlignedSegment()
            record.query_name, record.flag = read.name, 4
            record.query_sequence = read.sequence
            record.query_qualities = pysam.qualitystring_to_array(read.quality)
            file.write(record)
