import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assemble.haplotypes import phase
from overlapper.assemble.pieces import BIN, K, carried_runs, shared_stretches
from overlapper.correct.own_reads import OwnReads
from tests.oracle import haplotypes as oracle
from tests.read_sets import reads_of


def arrays(intervals):
    return np.array(sorted(intervals), np.int64).reshape(-1, 2).T


intervals = st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 6_000)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 10_000), intervals, st.sampled_from([0.25, 1.0, 3.0]))
def test_shared_stretches_score_as_much_as_any_states(length, reads, depth):
    reads = [(start, min(start + bases, length)) for start, bases in reads if start < length]
    stretches = shared_stretches(length, *arrays(reads), depth).tolist()
    depths = oracle.depths_of_bins(length, reads)
    states = [any(low <= i * BIN < high for low, high in stretches) for i in range(len(depths))]
    assert oracle.score_of_states(states, depths, depth) == pytest.approx(oracle.best_score(depths, depth))
    assert all(low % BIN == 0 and (high % BIN == 0 or high == length) for low, high in stretches)


@settings(max_examples=300, deadline=None)
@given(st.sets(st.integers(0, 12_000), min_size=1), intervals)
def test_runs_are_those_of_sites_that_reads_join(sites, reads):
    reads = [(start, start + bases) for start, bases in reads]
    sites = sorted(sites)
    found = carried_runs(np.array(sites), *arrays(reads)).tolist()
    assert [sites[first:last] for first, last in found] == oracle.runs(sites, reads)


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
        [one[:62_000], other],
    ][seed % 5]
    contigs = [
        bases if random_.random() < 0.5 else bases[::-1].translate(oracle.COMPLEMENT) for bases in contigs
    ]
    reads = []
    for contig, bases in enumerate(contigs):
        deep = 2 if len(bases) in (18_000, 62_000) else 1
        for start in range(0, len(bases), 1_000 // deep):
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
        sites = sorted(
            places[0][1] for places in where.values() if len(places) == 1 and places[0][0] == contig
        )
        shared = shared_stretches(len(bases), *arrays(on), depth).tolist()
        expected += oracle.pieces(contig, len(bases), sites, on, shared)
    p = found.pieces
    assert [list(row) for row in zip(p.contig, p.start, p.end, p.sites, strict=True)] == [
        [contig, start, end, len(sites)] for contig, start, end, sites in expected
    ]
    spans = [(sites[0], sites[-1] + K) if sites else (start, start) for _, start, _, sites in expected]
    assert list(zip(p.first_site.tolist(), p.behind_sites.tolist(), strict=True)) == spans
    pairs = oracle.opposite(expected, where)
    beside = oracle.beside_shared(expected, where)
    assert found.beside_shared == [(shared, piece, same * BIN) for shared, piece, same in beside]
    assert found.opposite == [(one, other, same * BIN) for one, other, same in pairs]
    assert list(zip(found.block.tolist(), found.haplotype.tolist(), strict=True)) == oracle.blocks(
        expected, pairs
    )
    assert (found.block > 0).any()
    assert beside or seed % 5 != 4


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
