"""Presets, and what they take from the reads."""

import dataclasses

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.overlap.presets import (
    ALIASES,
    CORRECTED,
    ERROR_RATES,
    FALLBACK,
    PRESETS,
    ErrorRate,
    check_preset,
    preset_params,
    with_error_rate,
)
from overlapper.params.mapping import MapParams
from overlapper.params.stages import Params, ThresholdParams
from overlapper.simulate import random_genome, simulate_reads
from tests.read_sets import reads_of

NOTHING = reads_of(["ACGT" * 30, "A"])


@pytest.fixture(scope="module")
def simulated():
    genome = random_genome(60_000, seed=1)
    return {name: simulate_reads(genome, name, coverage=15, seed=2)[0] for name in ("hifi", "clr")}


@pytest.mark.parametrize("preset", ERROR_RATES)
def test_presets_assume_their_error_rate(preset):
    params, why = preset_params(NOTHING, preset, 1)
    assert why.startswith(f"error rate {100 * ERROR_RATES[preset]:.2g} % (preset {preset}), 121 bases: ")
    assert f"k {params.sketch.kmer_length}, w {params.sketch.window}" in why
    fitted = {name: getattr(Params(), name) for name in ("sketch", "chain")}
    assert dataclasses.replace(params, **fitted) == Params()


@pytest.mark.parametrize("preset", ERROR_RATES)
def test_no_technology_decides_which_overlaps_are_internal(preset):
    assert preset_params(NOTHING, preset, 1)[0].classes == Params().classes


def test_no_step_in_the_error_rate():
    rates = np.geomspace(0.001, 0.3, 200)
    chains = [preset_params(NOTHING, ErrorRate(rate, "given"), 1)[0].chain for rate in rates]
    values = np.array([chain.min_agreement for chain in chains], float)
    assert (np.diff(values) <= 0).all()
    assert (values[1:] >= 0.85 * values[:-1] - 1).all()


def test_long_overlaps_ask_for_fewer_seeds(simulated):
    # As of 128 Mb: of a megabase time does not count.
    changes = {"classes": {"min_overlap": 3000}}
    long, _ = preset_params(simulated["clr"], CORRECTED, 1, changes)
    assert long.classes.min_overlap == 3000
    short, _ = preset_params(simulated["clr"], CORRECTED, 1)
    assert long.sketch.window > short.sketch.window


@pytest.mark.parametrize("name", ["hifi", "clr"])
def test_auto_recognises_reads(simulated, name):
    by_name, _ = preset_params(simulated[name], name, 1)
    by_estimate, why = preset_params(simulated[name], "auto", 2)
    assert by_estimate.sketch.kmer_length == by_name.sketch.kmer_length
    assert by_estimate.sketch.window == pytest.approx(by_name.sketch.window, rel=0.1)
    assert dataclasses.replace(by_estimate, sketch=by_name.sketch) == by_name
    assert "(estimated)" in why


def test_few_corrected_reads_have_the_seeds_of_many(simulated):
    few, _ = preset_params(simulated["clr"], "auto", 1)
    corrected, _ = preset_params(simulated["clr"], CORRECTED, 1)
    assert corrected.sketch.window > few.sketch.window
    assert corrected.classes == few.classes


def test_too_few_overlaps_fall_back():
    params, why = preset_params(NOTHING, "auto", 1)
    assert params == preset_params(NOTHING, FALLBACK, 1)[0]
    assert f"too few overlaps to estimate it, so that of {FALLBACK} is used" in why


def test_unknown_presets_are_refused():
    with pytest.raises(ParameterError, match=f"preset is 'pacbio', expected one of {', '.join(PRESETS)}"):
        preset_params(NOTHING, "pacbio", 1)


def test_the_threshold_takes_its_error_rate_from_the_reads(simulated):
    estimated = with_error_rate(Params(), simulated["clr"], 1).threshold
    assert estimated.delta == Params().threshold.delta
    assert estimated.error_rate == pytest.approx(ERROR_RATES["clr"], rel=0.25)
    given = dataclasses.replace(Params(), threshold=ThresholdParams(error_rate=0.2))
    assert with_error_rate(given, simulated["clr"], 1) == given
    assert with_error_rate(Params(), NOTHING, 1).threshold.error_rate == ERROR_RATES[FALLBACK]


@pytest.mark.parametrize("name", ALIASES)
def test_names_of_minimap2_are_taken_and_told(simulated, name):
    reads = simulated["hifi"] if ALIASES[name] == "auto" else NOTHING
    params, why = preset_params(reads, name, 1)
    wanted, said = preset_params(reads, ALIASES[name], 1)
    assert params == wanted
    assert why == said.replace("),", f", for {name}),")


def test_an_unknown_preset_is_answered_with_all_names():
    with pytest.raises(
        ParameterError, match=r"'map-iclr', expected one of auto, .*hifi, or one of minimap2's map-ont, "
    ):
        check_preset("map-iclr")
    with pytest.raises(
        ParameterError, match=r"'splice', expected one of ont, .*short, or one of minimap2's map-ont, "
    ):
        MapParams.preset("splice")
    assert MapParams.preset("sr") == MapParams.preset("short")
    assert MapParams.preset("lr:hq") == MapParams.preset("hifi")
