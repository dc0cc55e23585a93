"""Reads as callers may give them."""

import pytest

from overlapper import find_overlaps
from overlapper.errors import ParameterError
from overlapper.io.given import reads_given
from overlapper.simulate import random_genome

GENOME = random_genome(9_000, seed=2).sequence(0)


def test_a_list_of_sequences_is_reads(tmp_path):
    sequences = [GENOME[:5_000], GENOME[2_000:7_000].lower()]
    reads = reads_given(sequences)
    assert reads.names == ["1", "2"]
    assert [reads.sequence(0), reads.sequence(1)] == [s.upper() for s in sequences]
    (tmp_path / "reads.fa").write_text("".join(f">r{i}\n{s}\n" for i, s in enumerate(sequences)))
    for given in (sequences, str(tmp_path / "reads.fa"), [tmp_path / "reads.fa"]):
        assert len(find_overlaps(given)) == 1


@pytest.mark.parametrize("given", [GENOME, [GENOME, "reads.fa"]])
def test_a_sequence_that_stands_for_a_file_gets_a_short_error(given):
    with pytest.raises(ParameterError, match=r"^reads: the sequence .{20,60} is given, expected the path of"):
        reads_given(given)


def test_files_keep_their_qualities_if_asked_for(tmp_path):
    (tmp_path / "r.fq").write_text("@a\nACGT\n+\nIIII\n")
    assert reads_given(tmp_path / "r.fq").qualities is None
    assert reads_given(tmp_path / "r.fq", keep_qualities=True).qualities.tolist() == [40] * 4
