"""Adapters that reads have at their ends make no overlaps."""

import numpy as np
import pytest

from overlapper import run
from overlapper.io.read_store import ReadStore
from overlapper.overlap.inside import ADAPTERS, Inside
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.sketch.canonical import packed
from overlapper.tiled.workdir import Workdir

BARCODE = random_genome(24, seed=1).sequence(0)
RAPID = "GTTTTCGCATTTATCGTGAAACGCTTTCGCGTTTTCGTGCGCCGCTTCA"


@pytest.fixture(scope="module")
def barcoded():
    """Noisy reads of 1x, and the place of each."""
    model = adapted_model(
        "ont-r9", identity=0.82, mean_length=2000, length_sd=600, adapters=1.0, tail_adapter="",
        head_adapter=BARCODE + RAPID,
    )  # fmt: skip
    reads, truth = simulate_reads(random_genome(600_000, seed=3), model, coverage=1, seed=4)
    places = dict(zip(truth.read, zip(truth.start, truth.end, strict=True), strict=True))
    return reads, *np.array([places[name] for name in reads.names]).T


@pytest.fixture(scope="module")
def with_them(barcoded):
    return run(barcoded[0], "ont", changes={"sketch": {"cut_adapters": False}}, threads=1)


@pytest.fixture(scope="module")
def without(barcoded):
    return run(barcoded[0], "ont", threads=1)


def test_what_reads_have_in_common_but_adapters_are_their_overlaps(barcoded, with_them, without):
    reads, start, end = barcoded
    i, j = np.triu_indices(len(reads), 1)
    long = int(np.count_nonzero(np.minimum(end[i], end[j]) - np.maximum(start[i], start[j]) >= 500))
    recalled, false = [], []
    for overlaps in (with_them.overlaps, without.overlaps):
        query, target = overlaps.query, overlaps.target
        common = np.minimum(end[query], end[target]) - np.maximum(start[query], start[target])
        recalled.append(np.count_nonzero(common >= 500) / long)
        false.append(np.count_nonzero(common <= 0) / len(overlaps))
    assert 0.85 < recalled[1] > recalled[0]
    assert 0.02 > false[1] < false[0] / 3


def test_intervals_are_those_of_whole_reads_which_the_funnel_counts(barcoded, with_them, without):
    reads, *_ = barcoded
    overlaps, funnel = without.overlaps, without.funnel
    assert list(funnel)[:3] == ["reads", "bases", ADAPTERS]
    assert funnel["reads"] == len(reads) and funnel["bases"] == reads.total_bases
    assert funnel[ADAPTERS] == len(reads) * len(BARCODE + RAPID)
    assert (overlaps.q_end <= reads.lengths[overlaps.query]).all()
    assert (overlaps.t_end <= reads.lengths[overlaps.target]).all()
    assert min(overlaps.q_start.min(), overlaps.t_start.min()) == len(BARCODE + RAPID)
    assert ADAPTERS not in with_them.funnel


def test_what_is_inside_is_the_same_on_disk(barcoded, tmp_path):
    reads, *_ = barcoded
    store = packed(reads, 1)
    held = Inside.of(store, None, 1)
    with Workdir(tmp_path / "work") as workdir:
        for _ in range(2):  # the second time it is there
            kept = Inside.of(store, None, 2, workdir)
            for name in ("before", "bases_cut"):
                np.testing.assert_array_equal(getattr(kept, name), getattr(held, name))
            for name in ("order", "lengths"):
                np.testing.assert_array_equal(getattr(kept.store, name), getattr(held.store, name))
            np.testing.assert_array_equal(kept.store.mapped().words, held.store.mapped().words)
    for place, number in list(enumerate(held.store.order.tolist()))[::50]:
        inside, whole = held.store.mapped().sequence(place), reads.sequence(number)
        assert whole[held.before[number] :].startswith(inside)


def test_reads_without_adapters_are_what_they_were():
    reads, _ = simulate_reads(random_genome(50_000, seed=5), "hifi", coverage=5, seed=1)
    store = ReadStore.of(reads)
    inside = Inside.of(store, None, 1)
    assert inside.store is store and not inside.before.any() and inside.bases_cut == 0
