"""What a run is expected to take."""

import dataclasses
import math

import pytest

from overlapper.costs import Workload
from overlapper.extend.registry import EXTENDERS
from overlapper.params import Params
from overlapper.sketch.estimates import Estimates

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
    chain, xdrop, gact = (changed(Params(extender=name)) for name in EXTENDERS)
    assert chain < xdrop < gact


@pytest.mark.parametrize("finder", ["dsoft", "spgemm"])
def test_time_grows_as_the_reads_of_a_genome_of_that_coverage(finder):
    params = Params(finder=finder)
    one, two, four = (
        dataclasses.replace(WORKLOAD, bases=30_000_000 * n, reads=3_000 * n, looked_at=6e6 * n).seconds(
            params, 1
        )
        for n in (1, 2, 4)
    )
    assert four - two == pytest.approx(2 * (two - one))


def test_what_reads_do_not_tell_is_unknown():
    assert math.isnan(changed(estimates=dataclasses.replace(ESTIMATES, coverage=math.nan)))
    assert math.isnan(changed(estimates=dataclasses.replace(ESTIMATES, survival=())))
