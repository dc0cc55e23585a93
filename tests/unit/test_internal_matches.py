"""Internal matches of whole runs: repeats' are left out, those of reads with bad parts are not."""

import numpy as np
import pytest

from overlapper import find_overlaps, random_genome
from overlapper.simulate import adapted_model, simulate_reads
from overlapper.tables import OverlapClass, Reads
from tests.read_sets import mutated

LENGTH, COVERAGE = 8000, 14


def reads_of(genome, seed, *, spoil=None):
    """Return error-free reads, and where each starts; ``spoil(read, letters, rng)`` may change them."""
    rng = np.random.default_rng(seed)
    letters = np.array(list(genome))
    starts = rng.integers(0, len(genome) - LENGTH, COVERAGE * len(genome) // LENGTH)
    sequences = []
    for read, start in enumerate(starts):
        taken = letters[start : start + LENGTH].copy()
        if spoil:
            spoil(read, taken, rng)
        sequences.append("".join(taken))
    return Reads.from_sequences([str(read) for read in range(len(starts))], sequences), starts


def share_found(overlaps, starts, least):
    """Return the share of the pairs that share so many bases of the genome which are reported."""
    query, target = np.triu_indices(len(starts), 1)
    true = LENGTH - np.abs(starts[query] - starts[target]) >= least
    found = set(zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True))
    return np.mean([pair in found for pair in zip(query[true].tolist(), target[true].tolist(), strict=True)])


@pytest.fixture(scope="module")
def genome():
    return random_genome(120_000, seed=3).sequence(0)


@pytest.mark.parametrize(("seed", "start", "end", "least"), [(1, 5500, 8000, 4500), (2, 3000, 5000, 6000)])
def test_reads_with_a_bad_end_or_stretch_keep_their_overlaps(genome, seed, start, end, least):
    def spoil(read, letters, rng):
        if read % 4 == 0:
            letters[start:end] = rng.choice(list("ACGT"), end - start)

    reads, starts = reads_of(genome, seed, spoil=spoil)
    overlaps = find_overlaps(reads, preset="ont")
    assert share_found(overlaps, starts, least) > 0.99
    assert not (overlaps.kind == OverlapClass.INTERNAL).any()


def test_matches_within_a_repeat_are_internal(genome):
    repeat = genome[10_000:12_000]
    copies = genome[:60_000] + repeat + genome[60_000:]
    reads, starts = reads_of(copies, 4)
    inside = [r for r, s in enumerate(starts) if 1000 < 10_000 - s < LENGTH - 3000]
    others = [r for r, s in enumerate(starts) if 1000 < 60_000 - s < LENGTH - 3000]
    assert len(inside) > 3 and len(others) > 3
    false = {tuple(sorted(pair)) for pair in ((a, b) for a in inside for b in others)}
    for keep in (False, True):
        overlaps = find_overlaps(reads, preset="ont", changes={"classes": {"keep_internal": keep}})
        pairs = list(zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True))
        reported = [kind for pair, kind in zip(pairs, overlaps.kind.tolist(), strict=True) if pair in false]
        assert len(reported) == (len(false) if keep else 0)
        assert all(kind == OverlapClass.INTERNAL for kind in reported)
    assert share_found(find_overlaps(reads, preset="ont"), starts, 2500) > 0.99


def test_transcripts_that_share_exons_keep_their_overlaps():
    exons = [random_genome(600, seed=seed).sequence(0) for seed in range(10, 16)]
    isoforms = [(0, 1, 2), (3, 1, 4), (0, 1, 5)]
    reads = Reads.from_sequences(
        [f"{isoform}.{copy}" for isoform in range(3) for copy in range(8)],
        ["".join(exons[exon] for exon in isoforms[isoform]) for isoform in range(3) for _ in range(8)],
    )
    overlaps = find_overlaps(reads, preset="ont")
    assert len(overlaps) == 24 * 23 // 2


@pytest.mark.parametrize(("depth", "errors"), [(0, 0), (1, 0.05)])
def test_barcodes_make_no_overlaps(genome, depth, errors):
    barcodes = [random_genome(130, seed=seed).sequence(0) for seed in range(20, 23)]
    reads, starts = reads_of(genome, 7)
    some = np.arange(len(starts))[:: COVERAGE // depth] if depth else np.array([], int)
    far = [random_genome(3000, seed=seed).sequence(0) for seed in range(30, 60)]
    inserts = far + [reads.sequence(read) for read in some]
    rng = np.random.default_rng(8)
    barcoded = [mutated(rng, barcodes[i % 3] + insert, errors) for i, insert in enumerate(inserts)]
    overlaps = find_overlaps(Reads.from_sequences([str(i) for i in range(len(barcoded))], barcoded), "ont")
    shared = LENGTH - np.abs(starts[some][:, None] - starts[some])
    assert len(overlaps) == np.count_nonzero(np.triu(shared >= 200, 1))


def test_reads_that_are_said_to_be_contained_match_over_all_of_them():
    model = adapted_model("real-ont", mean_length=3000, identity=0.93, adapters=0.0)
    reads, _ = simulate_reads(random_genome(20_000, seed=8), model, coverage=15, seed=8)
    found = find_overlaps(reads, threads=1)
    for kind, read, start, end in (
        (OverlapClass.QUERY_CONTAINED, found.query, found.q_start, found.q_end),
        (OverlapClass.TARGET_CONTAINED, found.target, found.t_start, found.t_end),
    ):
        rows = found.kind == kind
        length = reads.lengths[read[rows]]
        assert rows.sum() > 50
        assert (end[rows] - start[rows] >= 0.8 * length).all()
        assert np.maximum(start[rows], length - end[rows]).max() <= 1000
