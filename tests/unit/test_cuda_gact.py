"""What the CUDA kernel of GACT takes for granted: numbers fit their bits, the stored part is large enough."""

import random

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.kernels.gact.cuda.gact_layout import TileScores, stored_part, tile_scores
from tests.oracle.gact import Rule, path_scores

ONES = 0xFFFFFFFF


def test_scores_of_a_tile():
    assert tile_scores(1, -1, 0, -1) == TileScores(3, 1, 1, 0, ONES)
    assert tile_scores(2, -4, -4, -2) == TileScores(7, 4, 3, 2, ONES)
    assert tile_scores(1, -3, 0, -1) == TileScores(3, 0, 1, 0, 0)


def test_a_common_factor_changes_nothing():
    assert tile_scores(3000, -7000, -2000, -1000) == tile_scores(3, -7, -2, -1)


@pytest.mark.parametrize("scores", [(1, -1, 0, -1), (2, -4, -4, -2), (5, -1, 0, -3), (1, -9, -7, -2)])
def test_differences_are_never_negative_nor_above_what_an_equal_pair_gets(scores):
    rng = random.Random(3)
    rule = Rule(*scores)
    first = rule.gap_open + rule.gap_extend
    most = rule.match - 2 * first
    for alphabet in ("AC", "ACGT", "A"):
        q, t = ("".join(rng.choices(alphabet, k=rng.randint(1, 40))) for _ in range(2))
        best, insertion, deletion = path_scores(q, t, rule)
        for i in range(len(q)):
            for j in range(len(t)):
                over_diagonal = best[i][j] - best[i + 1][j + 1] - 2 * first
                numbers = [
                    best[i][j] - best[i][j + 1] - first,
                    best[i][j] - best[i + 1][j] - first,
                    over_diagonal,
                    max(insertion[i][j] - best[i][j] - rule.gap_open, 0),
                    max(deletion[i][j] - best[i][j] - rule.gap_open, 0),
                ]
                assert min(numbers) >= 0
                assert max(numbers) <= most


@pytest.mark.parametrize(("tile", "step"), [(320, 200), (8, 8), (33, 1), (64, 32), (97, 95), (1000, 31)])
def test_the_stored_part_holds_every_cell_that_a_path_may_reach(tile, step):
    for affine in (False, True):
        stripes, blocks = stored_part(tile, step, affine)
        for edge in range(1, tile + 1):
            first = 0 if affine else max(edge - step, 0) // 32
            assert (edge + 31) // 32 - first <= stripes
            assert (edge + 62) // 32 - first <= blocks
    assert stored_part(320, 200, False) == (8, 9)
