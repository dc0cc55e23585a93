"""GACT on the GPU equals the CPU kernel: interval, score, counts and CIGAR."""

import numpy as np
import pytest

from overlapper.kernels.gact import gact as cpu
from overlapper.params.stages import GactParams
from overlapper.runtime.threads import available_threads, map_in_order
from tests.gpu.test_xdrop import mixed_pairs

pytestmark = pytest.mark.gpu

LINEAR = {"match": 1, "mismatch": -1, "gap_open": 0, "gap_extend": -1}
AFFINE = {"match": 2, "mismatch": -4, "gap_open": -4, "gap_extend": -2}


def scheme_of(**changes):
    from overlapper.kernels.gact.cuda.gact import Scheme

    return Scheme(**vars(GactParams(**changes)))


def anchors_of(reads, seeds):
    """Return where alignments start on the target, counted on the query's strand."""
    end = seeds.target_pos.astype(np.int64) + seeds.length
    return np.where(seeds.reverse, reads.lengths[seeds.target] - end, seeds.target_pos)


def on_cpu(reads, seeds, scheme):
    """Return rows, CIGARs and their offsets."""
    anchors = anchors_of(reads, seeds)
    blocks = np.array_split(np.arange(len(anchors)), 64)

    def work(block):
        return cpu.extend_candidates(
            reads, seeds.query[block], seeds.target[block], seeds.reverse[block],
            seeds.query_pos[block].astype(np.int64), anchors[block], *scheme,
        )  # fmt: skip

    parts = list(map_in_order(work, [block for block in blocks if len(block)], available_threads()))
    rows, cigars, offsets = zip(*parts, strict=True)
    runs = np.concatenate([np.diff(part) for part in offsets])
    return np.concatenate(rows), np.concatenate(cigars), np.concatenate([[0], runs]).cumsum()


def on_the_gpu(reads, seeds, scheme, arena_bytes=1 << 32):
    from overlapper.kernels.common.cuda.walks import upload_reads
    from overlapper.kernels.gact.cuda.gact import extend_seeds
    from overlapper.runtime.gpu.memory import Arena

    return extend_seeds(upload_reads(reads, Arena(1 << 28)), seeds, scheme, Arena(arena_bytes))


def assert_equal(reads, seeds, scheme, arena_bytes=1 << 32):
    found = on_the_gpu(reads, seeds, scheme, arena_bytes)
    rows, cigar, offsets = on_cpu(reads, seeds, scheme)
    wrong = np.flatnonzero((found.rows != rows).any(axis=1))
    assert not len(wrong), (
        f"{len(wrong)} of {len(rows)} pairs differ; pair {wrong[0]}: "
        f"{found.rows[wrong[0]].tolist()} on the GPU, {rows[wrong[0]].tolist()} on the CPU"
    )
    assert np.array_equal(found.cigar_offsets, offsets)
    assert np.array_equal(found.cigar, cigar)
    return found


@pytest.mark.parametrize("scores", [LINEAR, AFFINE], ids=["linear", "affine"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_equals_the_cpu_wherever_the_seed_lies(gpu, share, scores):
    reads, seeds = mixed_pairs(2, 3000, 20, 2000, seed_share=share, unknown=0.5)
    assert_equal(reads, seeds, scheme_of(**scores))


@pytest.mark.parametrize("scores", [LINEAR, AFFINE], ids=["linear", "affine"])
def test_equals_the_cpu_on_long_reads(gpu, scores):
    reads, seeds = mixed_pairs(3, 150, 20_000, 100_000, unknown=1.0)
    assert_equal(reads, seeds, scheme_of(**scores))


TILES = ((8, 0), (8, 7), (31, 3), (32, 31), (33, 1), (63, 40), (97, 0), (321, 120), (1000, 999), (2500, 300))


@pytest.mark.parametrize("tile", TILES, ids=str)
def test_equals_the_cpu_for_any_tile(gpu, tile):
    reads, seeds = mixed_pairs(sum(tile), 300, 100, 1500, unknown=0.3)
    for scores in (LINEAR, AFFINE):
        assert_equal(reads, seeds, scheme_of(**scores, tile=tile[0], overlap=tile[1]))


@pytest.mark.parametrize("case", range(40))
def test_equals_the_cpu_for_any_scores(gpu, case):
    rng = np.random.default_rng(1000 + case)
    largest = (4, 12, 60, 2**16, 2**20)[case % 5]
    match, mismatch, opening, extend = (int(rng.integers(1, largest + 1)) for _ in range(4))
    tile = int(rng.integers(8, 200))
    scheme = scheme_of(
        match=match,
        mismatch=-mismatch,
        gap_open=-opening if case % 2 else 0,
        gap_extend=-extend,
        tile=tile,
        overlap=int(rng.integers(0, tile)),
        min_identity=int(rng.choice([0, 50, 60, 66, 90])),
        give_up=int(rng.choice([1, 20, 100, 1000, 10**9])),
    )
    reads, seeds = mixed_pairs(case, 1000, 20, 1000, unknown=0.3)
    assert_equal(reads, seeds, scheme)


def test_a_small_arena_changes_nothing(gpu):
    reads, seeds = mixed_pairs(9, 500, 100, 2000)
    for scores in (LINEAR, AFFINE):
        assert_equal(reads, seeds, scheme_of(**scores), arena_bytes=2_000_000)


def test_less_memory_than_a_tile_needs_is_an_error(gpu):
    from overlapper.errors import DeviceError

    reads, seeds = mixed_pairs(9, 5, 100, 200)
    with pytest.raises(DeviceError, match="smaller tiles"):
        on_the_gpu(reads, seeds, scheme_of(), 20_000)


@pytest.mark.parametrize("case", range(20))
def test_equals_the_cpu_on_a_million_pairs(gpu, case):
    scores = (LINEAR, AFFINE, LINEAR | {"match": 5, "mismatch": -4, "gap_extend": -3})[case % 3]
    reads, seeds = mixed_pairs(100 + case, 50_000, 100, 1200, unknown=0.1)
    assert_equal(reads, seeds, scheme_of(**scores))
