"""Which bases of contigs are in doubt, and where contigs are deeper than elsewhere."""

import dataclasses

import numpy as np
import pytest

from overlapper.assembly.deep import best_stretches, deep_stretches
from overlapper.assembly.laid_out import Contigs
from overlapper.correction.doubt import LOW_QUALITY, Doubt, Reason, bed, of_qualities
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads


def with_qualities(*qualities):
    reads = Reads.from_sequences([f"c{n}" for n in range(len(qualities))], ["A" * len(q) for q in qualities])
    ends = np.cumsum([0, *map(len, qualities)])
    return dataclasses.replace(
        reads, qualities=np.concatenate(qualities).astype(np.uint8), quality_offsets=ends
    )


def test_bases_of_low_quality_are_listed():
    quality = np.full(400, 50)
    quality[:150] = 0
    quality[200:202] = 10, 20
    quality[300] = LOW_QUALITY
    quality[399] = 0
    contigs = with_qualities(quality, np.full(100, 40))
    assert list(bed(of_qualities(contigs, 0.02), contigs)) == [
        "c0\t0\t150\tunconfirmed\t17.0",
        "c0\t200\t202\tlow_quality\t12.6",
        "c0\t399\t400\tunconfirmed\t17.0",
    ]


def test_what_lies_across_the_end_of_a_circle_is_of_two_lines():
    contigs = with_qualities(np.full(100, 50))
    doubt = Doubt(*(np.array([value]) for value in (0, 10, 30, Reason.MENDED, 3)))
    turned = doubt.turned(np.array([20]), np.array([False]), contigs.lengths)
    assert list(bed(turned, contigs)) == ["c0\t0\t10\tmended\t3.0", "c0\t90\t100\tmended\t3.0"]
    back = doubt.turned(np.array([20]), np.array([True]), contigs.lengths)
    assert list(bed(back, contigs)) == ["c0\t0\t11\tmended\t3.0", "c0\t91\t100\tmended\t3.0"]


def test_the_best_stretches_are_found():
    gain = np.array([-1, 2, 3, -1, 2, -9, 1, 1, -3, 6, -1.0])
    assert best_stretches(gain, 5) == [(1, 5), (9, 10)]
    assert best_stretches(gain, 6.5) == []
    assert best_stretches(gain, 2) == [(1, 5), (6, 8), (9, 10)]


@pytest.mark.parametrize(("copies", "times"), [(40, 0), (20, 2.0), (4, 10.0)])
def test_arrays_with_more_copies_than_the_contig_are_deep(copies, times):
    """A genome has 40 copies of 700 bases between 30,000 others."""
    flank, unit = (random_genome(length, seed=length).sequence(0) for length in (60_000, 700))
    genome, contig = (flank[:30_000] + n * unit + flank[30_000:] for n in (40, copies))
    reads, _ = simulate_reads(Reads.from_sequences(["g"], [genome]), "ont-r9", coverage=25, seed=1)
    none = np.zeros(0, np.int64)
    one = Reads.from_sequences(["c"], [contig])
    contigs = Contigs(one, np.array([False]), np.array([25.0]), np.array([len(reads)]), none, none, none)
    found = deep_stretches(contigs, reads, 1)
    assert len(found) == (times > 0)
    for row in found:
        assert abs(row.start - 30_000) < 200 and abs(row.end - 30_000 - 700 * copies) < 200
        assert row.figure == pytest.approx(times, rel=0.15)
