import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.haplotigs import of_haplotype
from overlapper.assembly.haplotypes import phase
from overlapper.assembly.pieces import BIN, SHARED_RUN, K, carried_runs, depth_of_bins, shared_bins
from overlapper.correction.own_reads import OwnReads
from tests.oracle import haplotypes as oracle
from tests.read_sets import reads_of


def arrays(intervals):
    return np.array(sorted(intervals), np.int64).reshape(-1, 2).T


intervals = st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 6_000)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=10), st.sampled_from([0.25, 1.0]))
def test_shared_bins_score_as_much_as_any_states(above, depth):
    states = shared_bins(np.array(above), depth).tolist()
    assert oracle.score_of_states(states, above, depth) == pytest.approx(oracle.best_score(above, depth))


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 10_000), intervals)
def test_depths_of_bins(length, reads):
    reads = [(start, min(start + bases, length)) for start, bases in reads if start < length]
    assert depth_of_bins(length, *arrays(reads)).tolist() == oracle.depths_of_bins(length, reads)


@settings(max_examples=300, deadline=None)
@given(st.sets(st.integers(0, 12_000)), intervals)
def test_runs_are_those_of_sites_that_reads_join(sites, reads):
    reads = [(start, start + bases) for start, bases in reads]
    sites = sorted(sites)
    found = carried_runs(np.array(sites), *arrays(reads)).tolist()
    assert [sites[first:last] for first, last in found] == (oracle.runs(sites, reads) if sites else [[]])


def mutated(random_, bases, rate, low, high):
    """Return bases with substitutions outside of ``[low, high)``."""
    return "".join(
        random_.choice("ACGT".replace(base, "")) if random_.random() < rate and not low <= i < high else base
        for i, base in enumerate(bases)
    )


def own_reads(contigs, reads):
    """Return reads, (contig, start, end), as the layout has them."""
    contig, start, end = np.array(reads, np.int64).T
    return OwnReads(
        contig.astype(np.int32), np.arange(len(reads), dtype=np.int32), start, np.zeros(len(reads), bool),
        np.zeros(len(reads), np.int32), (end - start).astype(np.int32),
        np.array([len(bases) for bases in contigs])[contig], end - start,
    )  # fmt: skip


def linear(contigs):
    return np.zeros(len(contigs), np.bool_)


def diploid(seed):
    """Return contigs of two haplotypes, the same in the middle, or of two strains, and reads on them."""
    random_ = random.Random(seed)
    one = "".join(random_.choices("ACGT", k=75_000))
    other = mutated(random_, one, 0.004, 30_000, 48_000)
    contigs = [
        [one, other],
        [one[:45_000], one[33_000:], other],
        [one[:32_000], other[:32_000], one[30_000:48_000], one[46_000:], other[46_000:]],
        [one[:40_000] + other[40_000:], other[:40_000] + one[40_000:], one[50_000:62_000]],
        [one, other[:30_000], other[48_000:]],
    ][seed % 5]
    contigs = [
        bases if random_.random() < 0.5 else bases[::-1].translate(oracle.COMPLEMENT) for bases in contigs
    ]
    reads = []
    for contig, bases in enumerate(contigs):
        deep = 2 if len(bases) == 18_000 else 1
        starts = list(range(0, len(bases), 1_000 // deep))
        if seed % 5 == 4 and contig == 0:  # reads of the other haplotype, of what both have
            starts += range(28_500, 46_500, 1_000)
        for start in starts:
            reads.append((contig, start, min(len(bases), start + random_.randint(4_000, 12_000))))
    return contigs, reads


@pytest.mark.parametrize("seed", range(10))
def test_haplotypes_equal_the_oracle(seed):
    contigs, reads = diploid(seed)
    depth = 8.0
    found = phase(reads_of(contigs), linear(contigs), own_reads(contigs, reads), depth)
    where = oracle.kmers(contigs)
    expected = []
    for contig, bases in enumerate(contigs):
        on = sorted((start, end) for of, start, end in reads if of == contig)
        sites = sorted(oracle.sites_of(contig, where))
        having = oracle.contigs_of_bins(contig, len(bases), where)
        above = oracle.scores_of_bins(having, len(bases), on, depth)
        states = shared_bins(np.array(above), depth).tolist()
        expected += oracle.pieces(contig, len(bases), sites, having, on, states, depth)
    p = found.pieces
    assert [list(row) for row in zip(p.contig, p.start, p.end, p.run, p.sites, strict=True)] == [
        [contig, start, end, SHARED_RUN if run is None else run, len(sites)]
        for contig, start, end, run, sites in expected
    ]
    spans = [(sites[0], sites[-1] + K) if sites else (start, start) for _, start, _, _, sites in expected]
    assert list(zip(p.first_site.tolist(), p.behind_sites.tolist(), strict=True)) == spans
    pairs = oracle.opposite(expected, where)
    assert found.opposite == [(one[0], other[0], same * BIN) for one, other, same in pairs]
    assert list(zip(found.block.tolist(), found.haplotype.tolist(), strict=True)) == oracle.blocks(
        expected, pairs
    )
    assert (found.block > 0).any()
    assert seed % 5 != 4 or (found.block == 0).any()


def spread(contig, length, step, bases=12_000):
    """Return reads of a contig, one from each ``step`` bases on."""
    return [(contig, start, min(start + bases, length)) for start in range(0, length, step)]


def rows(found):
    p = found.pieces
    columns = (p.contig, p.start, p.end, found.block, found.haplotype)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_what_two_contigs_have_is_shared_at_no_depth():
    """Depth is uneven: three times as high in the middle of either contig."""
    random_ = random.Random(5)
    one = "".join(random_.choices("ACGT", k=75_000))
    contigs = [one, mutated(random_, one, 0.001, 0, 0)]
    reads = [read for contig in (0, 1) for read in spread(contig, 75_000, 1_000)]
    reads += [(contig, start, start + 12_000) for contig in (0, 1) for start in range(25_000, 45_000, 500)]
    found = phase(reads_of(contigs), linear(contigs), own_reads(contigs, reads), 10.0)
    assert rows(found) == [(0, 0, 75_000, 1, 2), (1, 0, 75_000, 1, 1)]


@pytest.mark.parametrize("bases", [12_000, 30_000])
def test_reads_carry_the_phase_across_what_is_shared(bases):
    """A contig goes on through 20 kb that both haplotypes have; the other one is in two contigs beside it."""
    random_ = random.Random(6)
    one = "".join(random_.choices("ACGT", k=90_000))
    other = mutated(random_, one, 0.004, 35_000, 55_000)
    contigs = [one, other[:35_000], other[55_000:]]
    reads = [
        read for contig, whole in enumerate(contigs) for read in spread(contig, len(whole), 1_000, bases)
    ]
    reads += [
        (0, max(start, 35_000), min(start + bases, 55_000)) for start in range(35_000 - bases, 55_000, 1_000)
    ]
    found = phase(reads_of(contigs), linear(contigs), own_reads(contigs, reads), bases / 1_000)
    pieces = [row[:3] for row in rows(found)[:3]]
    assert pieces == [(0, 0, 35_000), (0, 35_000, 55_000), (0, 55_000, 90_000)]
    expected = [1, 0, 2, 1, 2] if bases < 20_000 else [1, 0, 1, 1, 1]
    assert found.block.tolist() == expected
    contigs_of = [[one.parts[0][:3] for one in of_haplotype(found, linear(contigs), h)] for h in (1, 2)]
    if bases > 20_000:
        assert sorted(contigs_of) == [[(0, 0, 90_000)], [(1, 0, 35_000), (2, 0, 35_000), (0, 35_000, 55_000)]]


def test_contigs_that_are_the_same_are_of_a_haplotype_each():
    bases = "".join(random.Random(7).choices("ACGT", k=30_000))
    reads = spread(0, 30_000, 1_000) + spread(1, 30_000, 1_000)
    found = phase(reads_of([bases, bases]), linear([0, 1]), own_reads([bases, bases], reads), 6.0)
    assert rows(found) == [(0, 0, 30_000, 1, 2), (1, 0, 30_000, 1, 1)]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads):
    contigs, reads = diploid(2)
    table = reads_of(contigs)
    laid_out = table, linear(contigs), own_reads(contigs, reads), 8.0
    found = phase(*laid_out, threads=threads)
    assert found.block.tolist() == phase(*laid_out).block.tolist()
    assert 0 in found.block  # the shared contig


@pytest.mark.parametrize("turn", [0, 7_000, -7_000, 40_000])
@pytest.mark.parametrize("bases", [9_000, 65_000])
def test_reads_count_on_both_sides_of_the_origin_of_a_circle(turn, bases):
    """Reads cover it evenly, twice as deep as a haplotype: all of it is shared."""
    contigs = ["".join(random.Random(1).choices("ACGT", k=30_000))]
    reads = [(0, start + turn, start + turn + bases) for start in range(0, 30_000, bases // 20)]
    found = phase(reads_of(contigs), np.ones(1, np.bool_), own_reads(contigs, reads), 10.0)
    assert [found.pieces.start.tolist(), found.pieces.end.tolist()] == [[0], [30_000]]
    assert found.block.tolist() == [0]
