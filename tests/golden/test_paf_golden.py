"""PAF files checked by hand."""

from pathlib import Path

import numpy as np
import pytest

from overlapper.io import write_overlaps
from overlapper.tables import OverlapClass, Overlaps, Reads

HERE = Path(__file__).parent


def chains():
    reads = Reads.from_sequences(["read/1", "read/2", "red"], ["A" * 9000, "C" * 7000, "G" * 70_000])
    return reads, Overlaps(
        query=[0, 0, 1],
        target=[1, 2, 2],
        reverse=[False, True, True],
        q_start=[1000, 0, 300],
        q_end=[9000, 9000, 1300],
        t_start=[0, 5, 69_000],
        t_end=[6900, 9100, 70_000],
        matches=[812, 2500, 15],
        block_length=[8000, 9095, 1000],
        score=[812, 2490, -3],
        seeds=[60, 170, 1],
        divergence=[0.12, np.nan, 0.99997],
        kind=[OverlapClass.DOVETAIL, OverlapClass.QUERY_CONTAINED, OverlapClass.INTERNAL],
    )


def alignments():
    """The reverse complement of a, GATATGC, on b; the file has it along b, the table along a.

    ::

        b  GAC-TGATC
           || | ||  |   2=1X1I2=2D1=
        a  GATATG--C
    """
    reads = Reads.from_sequences(["a", "b", "c"], ["GCATATCA", "TGACTGATC", "GCATATCA"])
    cigar = [(1, "="), (2, "D"), (2, "="), (1, "I"), (1, "X"), (2, "="), (8, "=")]
    return reads, Overlaps(
        query=[0, 0],
        target=[1, 2],
        reverse=[True, False],
        q_start=[0, 0],
        q_end=[7, 8],
        t_start=[1, 0],
        t_end=[9, 8],
        matches=[5, 8],
        block_length=[9, 8],
        score=[1, 8],
        seeds=[2, 1],
        divergence=[0.375, 0],
        kind=[OverlapClass.DOVETAIL, OverlapClass.TARGET_CONTAINED],
        edits=[4, 0],
        cigar=[length << 4 | "MIDNSHP=X".index(operation) for length, operation in cigar],
        cigar_offsets=[0, 6, 7],
    )


@pytest.mark.parametrize("made", [chains, alignments])
def test_files_are_as_checked(made, tmp_path):
    reads, overlaps = made()
    write_overlaps(overlaps, reads, tmp_path / "out.paf")
    assert (tmp_path / "out.paf").read_text() == (HERE / f"{made.__name__}.paf").read_text()
