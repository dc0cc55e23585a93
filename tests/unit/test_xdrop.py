"""X-drop extension: kernels, extender, and what they report."""

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.extend import xdrop
from overlapper.extend.xdrop import estimate_columns
from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.kernels.xdrop import xdrop as kernels
from overlapper.params.stages import XdropParams
from overlapper.tables import Candidates, Reads
from tests.oracle.strands import reverse_complement
from tests.oracle.xdrop import extend_seed
from tests.read_sets import mutated, random_text, reads_of


def extend(reads, candidates, params, threads=1):
    return xdrop.extend(reads, candidates, params, threads)[0]


OFF = {"stop_window": 0}
NARROW, WIDE = kernels.FRAMES
INT8, INT16, INT32 = range(3)


def candidates_of(rows, seed_length):
    columns = np.array(rows, np.int32).reshape(-1, 5).T
    return Candidates(
        query=columns[0],
        target=columns[1],
        reverse=columns[2].astype(bool),
        query_pos=columns[3],
        target_pos=columns[4],
        seeds=np.arange(len(columns[0])) + 7,
        span=columns[0],
        seed_length=seed_length,
    )


def pair_with_seed(rng, length, rate, reverse, seed_length=15):
    """Two reads that share an exact seed in the middle, and the candidate."""
    seed = random_text(rng, seed_length)
    before, after = random_text(rng, length // 2), random_text(rng, length // 2)
    target_before, target_after = mutated(rng, before, rate), mutated(rng, after, rate)
    target, target_pos = target_before + seed + target_after, len(target_before)
    if reverse:
        target, target_pos = reverse_complement(target), len(target_after)
    return before + seed + after, target, (0, 1, reverse, len(before), target_pos)


def extensions_by(kernel, reads, candidates, params):
    """Force one kernel: a frame, which gives None for what does not fit it, or a number among the bands."""
    packed = PackedReads.of(reads)
    c = candidates
    seeds = Seeds(c.query, c.target, c.reverse, c.query_pos, c.target_pos, c.seed_length)
    scheme = kernels.Scheme(**vars(params))
    items = np.arange(2 * len(c))
    out = np.zeros((2 * len(c), 3), np.int32)
    if kernel in kernels.FRAMES:
        fits = kernels.extend_framed(kernel, packed, seeds, scheme, items, out)
        return [tuple(row) if fit else None for row, fit in zip(out.tolist(), fits, strict=True)]
    bits, lanes = kernels.BANDS[kernel]
    cells = kernels.band_cells(packed, seeds, bits)
    kernels.extend_banded(lanes, cells, packed, seeds, scheme, items, out)
    return [tuple(row) for row in out.tolist()]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0, 1, False, 0, 1), "do not match"),
        ((0, 1, False, 4, 5), "do not match"),
        ((0, 1, False, 6, 0), "outside read q"),
        ((0, 1, False, 0, -1), "outside read t"),
    ],
)
def test_bad_seeds_are_refused(row, message):
    reads = Reads.from_sequences(["q", "t"], ["ACGTNNNN", "ACGTNNNNN"])
    with pytest.raises(ParameterError, match=message):
        extend(reads, candidates_of([(0, 1, False, 0, 0), row], 3), XdropParams(), 1)


def test_scores_that_outgrow_32_bits_are_refused():
    reads = Reads.from_sequences(["q", "t"], ["A" * 4000] * 2)
    with pytest.raises(ParameterError, match="32 bits"):
        extend(reads, candidates_of([(0, 1, False, 0, 0)], 3), XdropParams(match=2**20), 1)


def test_threads_do_not_change_the_result(monkeypatch):
    monkeypatch.setattr("overlapper.extend.xdrop._BLOCK_BASES", 3000)
    rng = np.random.default_rng(3)
    sequences, rows = [], []
    for pair in range(60):
        query, target, row = pair_with_seed(rng, 600, 0.15, bool(pair % 2))
        sequences += [query, target]
        rows.append((2 * pair, 2 * pair + 1, *row[2:]))
    reads = reads_of(sequences)
    candidates = candidates_of(rows, 15)
    one, two = (extend(reads, candidates, XdropParams(), threads) for threads in (1, 2))
    for name, column in vars(one).items():
        assert np.array_equal(column, getattr(two, name)), name


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.3, None])
@pytest.mark.parametrize("params", [XdropParams(xdrop=30, **OFF), XdropParams(), XdropParams(xdrop=100)])
def test_kernels_agree_on_long_reads(rate, params):
    rng = np.random.default_rng(4)
    sequences, rows = [], []
    for pair, length in enumerate((20_000, 40_000)):
        query, target, row = pair_with_seed(rng, length, rate or 0.0, bool(pair))
        if rate is None:
            target = random_text(rng, length)
            row, query = (
                (0, 1, False, length // 2, 0),
                query[: length // 2] + target[:15] + query[length // 2 :],
            )
        sequences += [query, target]
        rows.append((2 * pair, 2 * pair + 1, *row[2:]))
    reads = reads_of(sequences)
    candidates = candidates_of(rows, 15)
    wanted = extensions_by(INT32, reads, candidates, params)
    for kind in (INT8, INT16):
        assert extensions_by(kind, reads, candidates, params) == wanted
    for lanes in kernels.frames_for(kernels.Scheme(**vars(params))):
        got = extensions_by(lanes, reads, candidates, params)
        assert all(g in (None, w) for g, w in zip(got, wanted, strict=True))
    if rate == 0.05:
        assert sum(score for score, _, _ in wanted) > 30_000


def test_a_read_over_65_535_bases():
    rng = np.random.default_rng(5)
    query, target, row = pair_with_seed(rng, 100_000, 0.1, True)
    reads = Reads.from_sequences(["q", "t"], [query, target])
    overlap = extend(reads, candidates_of([row], 15), XdropParams(), 1)
    assert overlap.q_end[0] - overlap.q_start[0] > 99_900
    assert extensions_by(INT32, reads, candidates_of([row], 15), XdropParams()) == extensions_by(
        NARROW, reads, candidates_of([row], 15), XdropParams()
    )


def test_what_outgrows_every_frame_goes_to_the_band():
    rng = np.random.default_rng(8)
    reads = Reads.from_sequences(["q", "t"], [random_text(rng, 3000), random_text(rng, 3000)])
    candidates, params = candidates_of([(0, 1, False, 0, 0)], 0), XdropParams(xdrop=60, **OFF)
    for frame in (NARROW, WIDE):
        assert frame in kernels.frames_for(kernels.Scheme(**vars(params)))
        assert extensions_by(frame, reads, candidates, params)[1] is None
    score, q_bases, t_bases = extensions_by(INT32, reads, candidates, params)[1]
    overlap = extend(reads, candidates, params, 1)
    assert (overlap.score[0], overlap.q_end[0], overlap.t_end[0]) == (score, q_bases, t_bases)


def test_estimate_is_exact_where_the_scheme_allows():
    params = XdropParams(match=1, mismatch=-2, gap=-1)
    rng = np.random.default_rng(7)
    matches, mismatches = rng.integers(0, 5000, 500), rng.integers(0, 900, 500)
    insertions, deletions = rng.integers(0, 400, 500), rng.integers(0, 400, 500)
    score = matches - 2 * mismatches - insertions - deletions
    both = matches + mismatches
    got, columns = estimate_columns(score, both + insertions, both + deletions, params)
    assert np.array_equal(got, matches)
    assert np.all(columns >= got)


def test_estimate_of_the_model_itself_is_exact():
    params = XdropParams()
    n = np.arange(1, 200)
    got, columns = estimate_columns(40 * n - 3 * n, 41 * n + n, 41 * n + n, params)
    assert np.array_equal(got, 40 * n)
    assert np.array_equal(columns, 43 * n)


def test_oracle_on_a_case_worked_by_hand():
    # GT-AC
    # GTTAC
    query, target = "ACGTAC", "ACGTTAC"
    assert extend_seed(query, target, False, 0, 0, 2, 1, -1, -1, 5) == ((0, 0, 0), (3, 4, 5))
    assert extend_seed(query, target, False, 0, 0, 2, 1, -1, -1, 0) == ((0, 0, 0), (2, 2, 2))
