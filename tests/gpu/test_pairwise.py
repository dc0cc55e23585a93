"""Pairwise alignment on the GPU equals the CPU: score, intervals, CIGAR, ties included."""

import itertools

import numpy as np
import pytest

from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.tables import Reads
from tests.oracle.pairwise import simple_matrix
from tests.random_pairs import alike_pairs, random_pairs
from tests.read_sets import packed_reads

pytestmark = pytest.mark.gpu

SCHEMES = [
    (1, -4, -6, -1),
    (2, -3, 0, -2),
    (1, -1, -1, -1),
    (5, -9, -20, -3),
    (90, -100, -130, -40),
    (1000, -900, -1500, -10),
]


NAMES = ("score", "q_start", "q_end", "t_start", "t_end", "matches", "columns")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Several threads have something to do, and what is found of short pairs takes more than a chunk."""
    monkeypatch.setattr("overlapper.extend.pairwise_gpu.CHUNK_BYTES", 1 << 16)


def scheme_of(scores, local, free=0, unknown=-1, band=-1):
    match, mismatch, gap_open, gap_extend = scores
    matrix = np.array(simple_matrix(match, mismatch, unknown))
    return cpu.Scheme(matrix, gap_open, gap_extend, local, free, band)


def assert_equal(texts, scheme, wanted, seed=0, arena_bytes=1 << 30):
    from overlapper.extend.pairwise_gpu import GpuPairs

    rng = np.random.default_rng(seed)
    queries, targets = (packed_reads(side) for side in zip(*texts, strict=True))
    number = np.arange(len(texts), dtype=np.int32)
    flags = rng.integers(0, 4, (2, len(texts))).astype(np.uint8)
    pairs = cpu.Pairs(number, number, flags[0], flags[1])
    gpu = GpuPairs(0, scheme, wanted, 3, arena_bytes)
    found = gpu.submit(queries, targets, pairs, lambda found: found).result()
    gpu.pool.shutdown()
    rows, cigar, offsets = cpu.align_pairs(queries, targets, pairs, scheme, 32, wanted)
    for name, field, column in zip(NAMES, found.fields, rows.T, strict=True):
        wrong = np.flatnonzero(field != column) if len(field) else []
        assert not len(wrong), (
            f"{name} of {len(wrong)} of {len(rows)}; {wrong[0]}: {texts[wrong[0]]}, {flags[:, wrong[0]]}: "
            f"{field[wrong[0]]} on the GPU, {rows[wrong[0]].tolist()} on the CPU"
        )
    if wanted == cpu.PATHS:
        assert np.array_equal(found.cigar_offsets, offsets)
        assert np.array_equal(found.cigar(), cigar)


def with_unknown(pairs, seed):
    rng = np.random.default_rng(seed)
    for query, target in pairs:
        sides = [list(query), list(target)]
        for side in sides:
            for _ in range(rng.integers(0, 3)):
                side[rng.integers(len(side))] = "N"
        yield "".join(sides[0]), "".join(sides[1])


LENGTHS = (1, 31, 150, 620)
"""Of queries: in one group of lanes, narrow or wide, and over more than one stripe."""
EMPTY = [("", "A"), ("A", ""), ("", ""), ("A", "A"), ("A", "C"), ("N", "N")]


@pytest.mark.parametrize("scores", SCHEMES, ids=str)
def test_local_ends_equal_the_cpu(gpu, scores):
    assert_equal([*random_pairs(1, 6000, 0, LENGTHS), *EMPTY], scheme_of(scores, local=True), cpu.ENDS)


@pytest.mark.parametrize("scores", SCHEMES[::2], ids=str)
def test_local_paths_equal_the_cpu(gpu, scores):
    pairs = [*with_unknown(random_pairs(2, 2000, 0, LENGTHS), 1), *EMPTY]
    for wanted in (cpu.ENDS, cpu.STARTS, cpu.PATHS):
        assert_equal(pairs, scheme_of(scores, local=True), wanted)


@pytest.mark.parametrize("free", range(16))
def test_every_kind_of_semi_global_equals_the_cpu(gpu, free):
    pairs = [*with_unknown(random_pairs(free, 600, 0, LENGTHS), 1), *EMPTY]
    for scores in SCHEMES[:3]:
        for wanted in (cpu.ENDS, cpu.PATHS):
            assert_equal(pairs, scheme_of(scores, False, free), wanted)


def test_long_pairs_in_stripes(gpu):
    pairs = random_pairs(5, 12, 0, (5000, 9000))
    for scheme in (scheme_of(SCHEMES[0], True), scheme_of(SCHEMES[1], False, 9)):
        assert_equal(pairs, scheme, cpu.PATHS)


@pytest.mark.parametrize("length", [100, 150, 700])
def test_alike_pairs_equal_the_cpu(gpu, length):
    """Pieces of their targets with a few errors: bands are narrow there."""
    pairs = [*alike_pairs(11, 3000, length, 2 * length), *random_pairs(12, 300, length)]
    for scores, local, free in ((SCHEMES[0], True, 0), (SCHEMES[1], False, 12), (SCHEMES[2], False, 0)):
        assert_equal(pairs, scheme_of(scores, local, free), cpu.PATHS)


def test_gaps_that_cost_nothing(gpu):
    pairs = random_pairs(13, 300, 0, LENGTHS)
    for scores in ((1, -1, 0, 0), (3, -2, -5, 0)):
        for local, free in ((True, 0), (False, 0), (False, 5)):
            assert_equal(pairs, scheme_of(scores, local, free), cpu.PATHS)


def test_a_small_arena_changes_nothing(gpu):
    pairs = [*random_pairs(14, 2000, 0, LENGTHS), *EMPTY]
    for wanted in (cpu.ENDS, cpu.STARTS, cpu.PATHS):
        assert_equal(pairs, scheme_of(SCHEMES[0], True), wanted, arena_bytes=16_000_000)


def test_paths_that_do_not_fit_are_found_by_the_cpu(gpu):
    pairs = random_pairs(15, 40, 0, (100, 9000))
    assert_equal(pairs, scheme_of(SCHEMES[0], True), cpu.PATHS, arena_bytes=16_000_000)


@pytest.mark.parametrize("band", [0, 5, 60])
def test_bands_equal_the_cpu(gpu, band):
    pairs = [*with_unknown(random_pairs(16, 400, 0, LENGTHS), 3), *EMPTY, *alike_pairs(17, 20, 3000, 3100)]
    for scores, local, free in ((SCHEMES[0], True, 0), (SCHEMES[1], False, 0), (SCHEMES[2], False, 9)):
        for wanted in (cpu.ENDS, cpu.PATHS):
            assert_equal(pairs, scheme_of(scores, local, free, band=band), wanted)


def test_any_matrix(gpu):
    rng = np.random.default_rng(2)
    for largest, wanted in itertools.product((6, 120, 5000), (cpu.ENDS, cpu.PATHS)):
        matrix = rng.integers(-largest, largest, (5, 5))
        pairs = list(with_unknown(random_pairs(3, 600, 0, LENGTHS), 2))
        for local, free in ((True, 0), (False, 0), (False, 15)):
            scheme = cpu.Scheme(matrix, -int(largest), -1, local, free, -1)
            assert_equal(pairs, scheme, wanted)


def test_the_library_takes_a_gpu(gpu):
    import overlapper
    from overlapper.extend.pairwise import Aligner, Batch
    from overlapper.tables import Pairs

    queries, targets = zip(*random_pairs(4, 500, 0, LENGTHS), strict=True)
    reads = [Reads.from_sequences(map(str, range(500)), side) for side in (queries, targets)]
    expected = overlapper.align(*reads, mode="semi-global")
    with Aligner("semi-global", device="cuda:0") as aligner:
        parts = np.array_split(np.arange(500), 5)
        futures = [aligner.submit(Batch(*reads, Pairs.numbered(part, part))) for part in parts]
        found = type(expected).concat([future.result() for future in futures])
    for name in ("score", "q_start", "q_end", "t_start", "t_end", "cigar", "cigar_offsets"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
