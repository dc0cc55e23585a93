"""Parameters: what is refused, and TOML in and out."""

import dataclasses
import os
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import ParameterError
from overlapper.params.stages import Params
from tests.tries import tries

BAD = {
    "sketch.kmer_length": [7, 29],
    "sketch.window": [0, 256],
    "sketch.repeat_limit": [-1],
    "sketch.window_errors": [0, 77],
    "dsoft.band_width": [0, -4, 3, 48],
    "dsoft.min_bases": [0],
    "dsoft.drift": [-1, 1001],
    "dsoft.most_windows": [0],
    "dsoft.min_share": [-1, 101],
    "spgemm.probability": [0.0, 1.0],
    "spgemm.bin_size": [0],
    "spgemm.lower": [1, -2],
    "spgemm.upper": [-1],
    "spgemm.coverage": [-0.5],
    "spgemm.error_rate": [-0.1, 1.0, float("nan")],
    "spgemm.min_kmers": [0],
    "spgemm.shared_kmers": [-1],
    "xdrop.match": [0, 2**20 + 1],
    "xdrop.mismatch": [0, -(2**20) - 1],
    "xdrop.gap": [0, -(2**20) - 1],
    "xdrop.xdrop": [-1, 2**30 + 1],
    "xdrop.stop_window": [-1, 2**30 + 1],
    "xdrop.stop_rate": [0, 2**20 + 1],
    "chain.look_back": [0, 5001],
    "chain.max_gap": [0],
    "chain.gap_cost": [-1],
    "chain.distance_cost": [-1],
    "chain.min_seeds": [0],
    "chain.sure_seeds": [-1],
    "chain.sure_score": [-1],
    "chain.min_agreement": [-1, 101],
    "chain.typical_agreement": [-1],
    "chain.typical_shares": [-1],
    "chain.chance_share": [-1],
    "chain.reach": [-1],
    "chain.max_reach": [-1],
    "chain.give_up": [1],
    "chain.end_tolerance": [-1],
    "chain.end_edits": [0, 101],
    "chain.end_drop": [-1],
    "gact.match": [0],
    "gact.mismatch": [0],
    "gact.gap_open": [1],
    "gact.gap_extend": [0],
    "gact.tile": [7, 32769],
    "gact.overlap": [-1, 320],
    "gact.min_identity": [-1, 100],
    "gact.give_up": [0],
    "threshold.delta": [-0.1, 1.0],
    "threshold.error_rate": [-0.1, 1.0],
    "classes.min_overlap": [0],
    "classes.best": [-1],
    "classes.best_of_pair": [-1],
    "classes.max_hang": [-1],
    "classes.min_ratio": [-0.1, 1.1],
}
WITHOUT_LIMITS = {
    "sketch.cut_adapters",
    "classes.keep_internal",
    "classes.contained_in_repeats",
    "chain.min_score",
}


def paths(section, before=""):
    for name, value in vars(section).items():
        if dataclasses.is_dataclass(value):
            yield from paths(value, f"{before}{name}.")
        else:
            yield before + name


def nested(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def value_of(params, path):
    for name in path.split("."):
        params = getattr(params, name)
    return params


def test_every_number_has_its_limits_tested():
    assert {path for path in paths(Params()) if "." in path} == set(BAD) | WITHOUT_LIMITS


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, bad in BAD.items() for value in bad])
def test_values_out_of_range_are_refused(path, value):
    name = path.rpartition(".")[2]
    with pytest.raises(ParameterError, match=rf"^file x\.toml: .*{name} is {value}, expected "):
        Params().changed(nested(path, value), where="file x.toml")


def test_an_upper_bound_below_the_lower_one_is_refused():
    with pytest.raises(ParameterError, match="upper is 4, expected 0 \\(derive\\), or at least lower"):
        Params().changed({"spgemm": {"lower": 5, "upper": 4}})


@pytest.mark.parametrize("path", list(paths(Params())))
def test_values_of_another_type_are_refused(path):
    current = value_of(Params(), path)
    others = {bool: [1, "true"], int: [True, 1.5, "1"], float: [True, "1"], str: [1, True]}[type(current)]
    for other in others:
        with pytest.raises(ParameterError, match=f"expected a value of type {type(current).__name__}"):
            Params().changed(nested(path, other))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nothing": 1}, "changes: unknown parameter 'nothing', expected one of finder, extender"),
        ({"sketch": {"k": 1}}, r"changes: \[sketch\]: unknown parameter 'k', expected one of kmer_length"),
        ({"chain": {"ends": {"x": 1}}}, r"changes: \[chain\]: unknown parameter 'ends'"),
        ({"sketch": 3}, "changes: sketch is 3, expected a table of parameters"),
    ],
)
def test_what_is_unknown_is_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        Params().changed(changes)


def test_whole_numbers_do_for_fractions():
    changed = Params().changed({"classes": {"min_ratio": 1}})
    assert changed.classes.min_ratio == 1.0
    assert type(changed.classes.min_ratio) is float


def test_changes_leave_the_rest():
    changed = Params().changed({"chain": {"end_drop": 7}, "finder": "spgemm"})
    assert changed.chain == dataclasses.replace(Params().chain, end_drop=7)
    assert dataclasses.replace(changed, chain=Params().chain, finder="dsoft") == Params()


GOOD = {
    "finder": st.sampled_from(["dsoft", "spgemm"]),
    "sketch.kmer_length": st.integers(8, 28),
    "dsoft.band_width": st.integers(0, 12).map(lambda bits: 1 << bits),
    "spgemm.probability": st.floats(1e-9, 1, exclude_max=True),
    "spgemm.coverage": st.floats(0, 1e300),
    "chain.typical_agreement": st.integers(0, 2000),
    "chain.typical_shares": st.integers(0, 10**6),
    "chain.chance_share": st.integers(0, 1000),
    "xdrop.xdrop": st.integers(0, 2**30),
    "xdrop.gap": st.integers(-(2**20), -1),
    "threshold.error_rate": st.floats(0, 1, exclude_max=True),
}


@settings(max_examples=tries(100), deadline=None)
@given(st.fixed_dictionaries({}, optional=GOOD))
def test_toml_round_trip(values):
    params = Params()
    for path, value in values.items():
        params = params.changed(nested(path, value))
    text = params.to_toml()
    document = tomllib.loads(text)
    assert Params().changed(document) == params
    for path in paths(params):
        written = document
        for name in path.split("."):
            written = written[name]
        assert written == value_of(params, path)


def test_toml_is_the_same_in_every_process():
    code = "from overlapper.params.stages import Params; print(Params().to_toml(), end='')"
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        assert done.stdout.decode() == Params().to_toml()


def test_part_of_a_file_keeps_the_defaults():
    assert Params().changed({}) == Params()
    assert Params().changed(tomllib.loads("[chain]\nend_drop = 9\n")).chain.end_drop == 9
