"""What a run is expected to take."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.registry import FINDERS
from overlapper.params.stages import Params, SketchParams
from overlapper.sketch.estimates import Estimates
from overlapper.tiled.costs import Workload

ESTIMATES = Estimates(30.0, 0.1, 1e6, 16, 6.0, (0.25,) * 17, (0,), 1000, 100, "")
PARAMS = Params()
WORKLOAD = Workload(30_000_000, 3_000, 6e6, 0, 1, ESTIMATES)


def changed(params=PARAMS, threads=1, **changes):
    return dataclasses.replace(WORKLOAD, **changes).seconds(params, threads)


def test_more_to_do_takes_longer():
    base = changed()
    assert changed(bases=60_000_000) > base
    assert changed(blocks=20) > base
    assert changed(passes=3) > base
    assert changed(estimates=dataclasses.replace(ESTIMATES, coverage=90.0)) > base
    assert changed(threads=2) < base
    chain, xdrop, gact = (changed(Params(extender=name)) for name in ("chain", "xdrop", "gact"))
    assert chain < xdrop < gact


@pytest.mark.parametrize("finder", FINDERS)
def test_time_grows_as_the_reads_of_a_genome_of_that_coverage(finder):
    params = Params(finder=finder, sketch=SketchParams(kmer_length=24))
    one, two, four = (
        dataclasses.replace(WORKLOAD, bases=30_000_000 * n, reads=3_000 * n, looked_at=6e6 * n).seconds(
            params, 1
        )
        for n in (1, 2, 4)
    )
    assert four - two == pytest.approx(2 * (two - one))


@pytest.mark.parametrize("window", [1, 3, 10])
def test_density_of_minimizers_is_that_of_drawn_hashes(window):
    hashes = np.random.default_rng(1).random(200_000)
    smallest = sliding_window_view(hashes, window).argmin(axis=1) + np.arange(len(hashes) - window + 1)
    shares, _ = np.histogram(hashes[np.unique(smallest)], bins=200, range=(0, 1))
    density = DsoftFinder.density(Params(sketch=SketchParams(window=window)), 0, 0.0)
    assert density == pytest.approx((shares**2).mean() / shares.mean() ** 2, rel=0.05)


def test_hits_by_chance_grow_with_the_square_of_the_reads_and_vanish_with_k():
    def cost(n, k):
        params = Params(sketch=SketchParams(kmer_length=k))
        return dataclasses.replace(WORKLOAD, bases=10**8 * n, reads=10**4 * n, looked_at=2e7 * n).seconds(
            params, 1
        )

    assert cost(160, 15) > 3 * cost(80, 15)
    assert cost(160, 21) < 2.1 * cost(80, 21)


def test_what_reads_do_not_tell_is_unknown():
    assert math.isnan(changed(estimates=dataclasses.replace(ESTIMATES, coverage=math.nan)))
    assert math.isnan(changed(estimates=dataclasses.replace(ESTIMATES, survival=())))


def test_all_pairs_are_work_for_reads_that_tell_no_coverage():
    unknown = dataclasses.replace(ESTIMATES, coverage=math.nan, survival=())
    workload = dataclasses.replace(WORKLOAD, estimates=unknown)
    assert math.isnan(workload.seconds(PARAMS, 1))
    pairs, worst = workload.of_all_pairs()
    assert pairs == 3_000 * 2_999 // 2
    for k in (13, 19, 28):
        params = Params(sketch=SketchParams(kmer_length=k))
        assert worst.seconds(params, 1) > WORKLOAD.seconds(params, 1)
