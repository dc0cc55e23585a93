"""``overlapper polish`` as a user runs it."""

import numpy as np
import pysam
import pytest

from tests.cli.runner import overlapper


@pytest.mark.parametrize("suffix", ["fasta", "gfa"])
def test_polished_unitig_is_closer_to_the_genome(suffix, tmp_path):
    import edlib

    overlapper(
        "simulate", "--genome-size", "12k", "--mean-length", "4000", "-p", "ont-r10", "-c", "15",
        "-o", "reads.fasta", "--truth", "truth.tsv", "--reference-out", "genome.fasta", cwd=tmp_path,
        check=True,
    )  # fmt: skip
    genome = next(iter(pysam.FastxFile(str(tmp_path / "genome.fasta")))).sequence
    rng = np.random.default_rng(1)
    draft = "".join(base if rng.random() > 0.05 else "ACGT"[rng.integers(4)] for base in genome[500:-500])
    text = {"fasta": f">utg1l\n{draft}\n", "gfa": f"H\tVN:Z:1.0\nS\tutg1l\t{draft}\n"}[suffix]
    (tmp_path / f"draft.{suffix}").write_text(text)
    overlapper("polish", f"draft.{suffix}", "reads.fasta", "-o", "out.fasta", cwd=tmp_path, check=True)
    polished = next(iter(pysam.FastxFile(str(tmp_path / "out.fasta"))))
    assert polished.name == "utg1l"

    def distance(sequence):
        return edlib.align(sequence, genome, mode="HW")["editDistance"]

    assert distance(polished.sequence) * 10 < distance(draft)


def test_segments_without_sequence_are_told(tmp_path):
    (tmp_path / "draft.gfa").write_text("S\tutg1l\t*\tLN:i:5000\n")
    (tmp_path / "reads.fasta").write_text(">a\nACGT\n")
    done = overlapper("polish", "draft.gfa", "reads.fasta", "-o", "out.fasta", cwd=tmp_path)
    assert done.returncode == 1
    assert b"utg1l" in done.stderr
    assert not (tmp_path / "out.fasta").exists()
