"""Contigs and reads are scored alike in any number of slices, in any order; memory and circles."""

import dataclasses

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.evaluation import slices
from overlapper.evaluation.contig_scores import quality
from overlapper.evaluation.contigs import evaluate_contigs
from overlapper.evaluation.reads import evaluate_reads
from overlapper.io.truth import Truth, TruthRow
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from tests.oracle.strands import reverse_complement as turned

GENOME = random_genome(30_000, seed=1).sequence(0)
OTHER = "".join("CGTA"["ACGT".index(b)] if i % 400 == 200 else b for i, b in enumerate(GENOME))


def reads_of(**sequences):
    return Reads.from_sequences(sequences.keys(), sequences.values())


CONTIGS = reads_of(
    a=GENOME[:9000] + turned(OTHER[21_000:]), b=OTHER[4000:16_000] + "N" * 9 + GENOME[16_000:20_000], c="ACG",
    d=GENOME[25_000:] + GENOME[:3000],
)  # fmt: skip
HAPLOTYPES = [reads_of(one=GENOME), reads_of(two=OTHER)]


def counted(scores):
    """Return scores as plain values, contigs by their names."""
    return dataclasses.replace(scores, contigs=tuple(sorted(scores.contigs, key=lambda c: c.name)))


@pytest.mark.parametrize("haplotypes", [1, 2])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("per_kmer", [24, 30_000, 200_000])
def test_neither_slices_nor_threads_nor_order_change_scores(monkeypatch, haplotypes, threads, per_kmer):
    expected = evaluate_contigs(CONTIGS, HAPLOTYPES[:haplotypes], circular=True)
    made = []
    monkeypatch.setattr(slices, "A_KMER", per_kmer)
    real = slices.plan_slices
    monkeypatch.setattr(
        "overlapper.evaluation.contigs.plan_slices", lambda *given: made.append(real(*given)) or made[-1]
    )
    shuffled = CONTIGS.take(np.array([2, 0, 3, 1]))
    memory = slices.PROGRAM + (80 << 20)
    scores = evaluate_contigs(
        shuffled,
        HAPLOTYPES[:haplotypes],
        circular=["one", "two"][:haplotypes],
        memory=memory,
        threads=threads,
    )
    assert counted(scores) == counted(expected)
    assert len(made[0]) >= (threads if per_kmer == 24 else 8)
    assert all(0 < a < b for a, b in zip(made[0].bounds[1:], made[0].bounds[2:], strict=False))


def test_sites_of_any_slices_are_the_same(monkeypatch):
    corrected, truth = simulate_reads(reads_of(one=GENOME, two=OTHER), "hifi", coverage=2, seed=3)
    expected = evaluate_reads(corrected, truth, HAPLOTYPES, raw=corrected)
    monkeypatch.setattr(slices, "A_KMER", 30_000)
    order = np.random.default_rng(1).permutation(len(corrected))
    scores = evaluate_reads(
        corrected.take(order),
        truth,
        HAPLOTYPES,
        raw=corrected,
        memory=slices.PROGRAM + (300 << 20),
        threads=3,
    )
    assert scores.sites == expected.sites == 150
    by_name = {read.name: read for read in expected.reads}
    assert [by_name[read.name] for read in scores.reads] == list(scores.reads)
    assert scores.corrected == expected.corrected
    assert scores.changes.mended == scores.changes.introduced == 0


def test_a_circle_is_closed_where_its_ends_meet():
    circle = reads_of(right=GENOME[20_000:] + GENOME[:20_000], wrong=GENOME[:12_000])
    both = np.array([True, True])
    on_circle = evaluate_contigs(circle, HAPLOTYPES[:1], circles=both, circular=True)
    assert [c.closed for c in on_circle.contigs] == [True, False]
    assert (on_circle.circles, on_circle.closed, on_circle.breaks, on_circle.missing) == (2, 1, 0, 0)
    on_line = evaluate_contigs(circle, HAPLOTYPES[:1], circles=both)
    assert (on_line.breaks, on_line.missing) == (1, 30)
    assert [(p.start, p.end, p.first, p.last) for p in on_line.contigs[0].stretches] == [
        (0, 10_000, "one:20000+", "one:29969+"), (10_000, 30_000, "one:0+", "one:19969+"),
    ]  # fmt: skip


def test_reads_through_the_origin_of_a_circle():
    read = GENOME[29_000:] + GENOME[:1200]
    truth = Truth.from_rows([TruthRow("r", "one", 29_000, 31_200, "-", 0, 2200, 2200, "normal", 1.0)])
    scores = evaluate_reads(reads_of(r=turned(read)), truth, HAPLOTYPES)
    assert scores.corrected[:5] == (2200, 2200, 0, 0, 0)
    assert scores.corrected[5:] == (6, 0, 0)  # three before the origin, three behind it
    assert scores.raw is None and scores.changes is None


def test_a_read_that_is_elsewhere_is_not_judged():
    place = TruthRow("r", "one", 1000, 3000, "+", 0, 2000, 2000, "normal", 1.0)
    rows = [
        place,
        place._replace(read="s"),
        place._replace(read="t", kind="chimera"),
        place._replace(read="u"),
    ]
    corrected = reads_of(r=GENOME[10_000:12_000], s=GENOME[1000:3000], t=GENOME[1000:3000])
    scores = evaluate_reads(corrected, Truth.from_rows(rows), HAPLOTYPES[:1])
    assert (len(scores.reads), scores.judged, scores.elsewhere) == (2, 1, 1)
    assert (scores.missing, scores.unplaced, scores.bases) == (1, 1, 2000)


@pytest.mark.parametrize(
    ("unit", "copies", "rate"), [(7, 40, 0.03), (15, 100, 0.01), (15, 60, 0), (4000, 4, 0)]
)
def test_reads_are_aligned_through_tandem_repeats(unit, copies, rate):
    """Chains of any exact matches go astray among copies, of 7 bases or 4,000."""
    random = np.random.default_rng(0)
    repeat = GENOME[20_000 : 20_000 + unit] * copies
    repeat = "".join("ACGT"[random.integers(4)] if random.random() < rate else base for base in repeat)
    place = GENOME[:1000] + repeat + GENOME[1000:2000]
    faulty = "".join("CGTA"["ACGT".index(b)] if i % 100 == 50 else b for i, b in enumerate(place))
    truth = Truth.from_rows([TruthRow("r", "g", 0, len(place), "+", 0, 1, 1, "normal", 1.0)])
    columns = evaluate_reads(reads_of(r=faulty), truth, [reads_of(g=place)]).corrected
    faults = len(range(50, len(place), 100))
    assert columns[:5] == (len(place), len(place) - faults, faults, 0, 0)


@pytest.mark.parametrize(
    ("missing", "kmers", "expected"),
    [(0, 100, 90.0), (100, 100, 0.0), (31, 10_000, 39.99), (0, 0, None)],
)
def test_quality_is_merqurys(missing, kmers, expected):
    assert quality(missing, kmers) == (expected if expected is None else pytest.approx(expected, abs=0.01))


def test_too_little_memory_is_told():
    with pytest.raises(ParameterError, match=r"memory is 1,000 bytes, expected 32\d,\d{3},\d{3} or more"):
        evaluate_contigs(CONTIGS, HAPLOTYPES, memory=1000)
    with pytest.raises(ParameterError, match="haplotypes is 17, expected 1 to 16"):
        evaluate_contigs(CONTIGS, [HAPLOTYPES[0]] * 17)
