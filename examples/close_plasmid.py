"""From FASTQ to one circle: a plasmid of which some molecules are dimers, begun at a gene, and its map.

python examples/close_plasmid.py
"""

import subprocess
import sys
from pathlib import Path

import overlapper


def run(*words):
    """Run a command, as in a shell: overlapper assemble reads.fastq -o plasmid."""
    subprocess.run([sys.executable, "-m", "overlapper", *words, "-q"], check=True)


def simulate(name, sequence, coverage):
    """Return reads of a circular molecule as FASTQ, with names of their own."""
    Path("molecule.fasta").write_text(f">{name}\n{sequence}\n")
    run(
        "simulate",
        "--reference",
        "molecule.fasta",
        "--circular",
        "-p",
        "ont-r10",
        "-c",
        coverage,
        "-o",
        "some.fastq",
    )
    return Path("some.fastq").read_text().replace("@read", f"@{name}")


def main():
    sequence = overlapper.random_genome(6_000, seed=5).sequence(0)
    monomers = simulate("monomer", sequence, "120")
    dimers = simulate("dimer", 2 * sequence, "6")  # one molecule in twenty
    Path("reads.fastq").write_text(monomers + dimers)
    Path("gene.fasta").write_text(f">gene\n{sequence[2_000:3_000]}\n")

    run("assemble", "reads.fastq", "--rotate-to", "gene.fasta", "-o", "plasmid")
    run("report", "plasmid", "-o", "plasmid.html")  # draws the circle

    print(Path("plasmid/contigs.tsv").read_text(), end="")
    contig = overlapper.read_fastx("plasmid/contigs.fasta").sequence(0)
    exact = contig == sequence[2_000:] + sequence[:2_000]
    print("the contig is", "the plasmid, begun at the gene" if exact else "not the plasmid")


if __name__ == "__main__":
    main()
