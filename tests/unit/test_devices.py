"""Devices: what is usable, what is chosen, and what is said where one is missing."""

import importlib.util
import threading

import pytest

from overlapper import random_genome, simulate_reads
from overlapper.errors import DeviceError, MissingExtraError, ParameterError
from overlapper.extend import registry
from overlapper.extend.registry import BASES_A_THREAD, device_for
from overlapper.overlap import pipeline
from overlapper.runtime.gpu import devices
from overlapper.runtime.gpu.devices import Device, list_devices, select_devices
from tests.cli.runner import overlapper
from tests.steps import assemble_reads, correct

GPUS = [
    Device("cuda:0", "A"),
    Device("cuda:1", "B", problem="it is too old"),
    Device("cuda:2", "C"),
]


@pytest.fixture
def three_gpus(monkeypatch):
    monkeypatch.setattr(devices, "_gpus", lambda: GPUS)


@pytest.fixture
def no_gpus(monkeypatch):
    def missing():
        raise DeviceError("there is no driver")

    monkeypatch.setattr(devices, "_gpus", missing)


def names(chosen):
    return [device.name for device in chosen]


def test_usable_gpus_are_chosen(three_gpus):
    assert names(list_devices()) == ["cpu", "cuda:0", "cuda:1", "cuda:2"]
    assert names(select_devices("auto")) == ["cuda:0", "cuda:2"]
    assert names(select_devices("cuda")) == ["cuda:0", "cuda:2"]
    assert names(select_devices("cuda:2,0,2")) == ["cuda:2", "cuda:0"]
    assert names(select_devices("cpu")) == ["cpu"]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("cuda:1", DeviceError, "cuda:1 cannot be used: it is too old"),
        ("cuda:0,3", DeviceError, "GPU 3 was asked for, but there are 3"),
        ("cuda:x", ParameterError, "numbers of GPUs"),
        ("cpu:1", ParameterError, "expected cpu, cuda"),
        ("gpu", ParameterError, "expected cpu, cuda"),
    ],
)
def test_what_cannot_be_chosen_says_why(three_gpus, text, error, message):
    with pytest.raises(error, match=message):
        select_devices(text)


def test_without_a_gpu_auto_is_the_cpu_and_cuda_an_error(no_gpus):
    assert names(select_devices("auto")) == ["cpu"]
    assert list_devices()[1].problem == "there is no driver"
    with pytest.raises(DeviceError, match="no driver"):
        select_devices("cuda")


@pytest.mark.parametrize(
    ("extender", "device", "bases", "taken"),
    [
        ("chain", "auto", 4 * BASES_A_THREAD - 1, "cpu"),
        ("chain", "auto", 4 * BASES_A_THREAD, "auto"),
        ("chain", "cuda:1", 1, "cuda:1"),
        ("xdrop", "auto", 1, "auto"),
    ],
)
def test_chains_of_few_bases_stay_on_the_cpu_unless_a_gpu_is_named(extender, device, bases, taken):
    assert device_for(extender, device, bases, threads=4) == taken


def test_overlaps_of_corrections_and_assemblies_take_no_gpu_unasked(monkeypatch):
    asked = []
    monkeypatch.setattr(registry, "BASES_A_THREAD", 0)
    monkeypatch.setattr(
        registry, "select_devices", lambda device: asked.append(device) or [Device("cpu", "")]
    )
    reads, _ = simulate_reads(random_genome(8_000, seed=1), "ont-r9", coverage=12, seed=2)
    correct(reads, device="cpu", threads=1)
    assemble_reads(reads, device="cpu", threads=1)
    assert asked and set(asked) == {"cpu"}


def test_overlaps_of_corrections_and_assemblies_take_the_device_asked_for(monkeypatch):
    asked = []
    found = pipeline.find

    def find(*reads, changes, device, gpu_memory, **others):
        asked.append(((changes or {}).get("extender", "chain"), device, gpu_memory))
        return found(*reads, changes=changes, device="cpu", **others)

    monkeypatch.setattr(pipeline, "find", find)
    reads, _ = simulate_reads(random_genome(8_000, seed=1), "hifi", coverage=12, seed=2)
    assemble_reads(reads, device="cuda:1", gpu_memory=7, threads=1)
    of_corrections = [("chain", "cuda:1", 7)] * 2  # the first round and the second one
    assert asked == [*of_corrections, ("exact", "cpu", 7)]
    asked.clear()
    correct(reads, device="cuda:1", gpu_memory=7, threads=1)
    assert asked == [("chain", "cuda:1", 7)] * 2


def test_a_missing_package_is_named_as_pip_finds_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'numba-cuda\[cu13\]>=0\.30"):
        select_devices("cuda")


def test_the_command_lists_devices():
    result = overlapper("devices", text=True)
    assert (result.returncode, result.stderr) == (0, "")
    first, *rest = result.stdout.splitlines()
    assert first.startswith("cpu\t")
    assert first.endswith("\tusable")
    assert rest
    assert all(line.startswith("cuda") for line in rest)


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
def test_gpus_are_started_while_other_things_are_done(monkeypatch):
    from overlapper.runtime.gpu import driver

    for text, started in (
        ("cpu", []),
        ("auto", [0, 1, 2]),
        ("cuda", [0, 1, 2]),
        ("cuda:2,0", [0, 2]),
        ("x", []),
    ):
        numbers = []
        monkeypatch.setattr(driver, "count", lambda: 3)
        monkeypatch.setattr(driver, "properties", lambda number: None)
        monkeypatch.setattr(driver, "start", numbers.append)
        others = threading.enumerate()
        devices.start_driver(text)
        for thread in set(threading.enumerate()).difference(others):
            thread.join()
        assert numbers == started


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
def test_a_driver_that_does_not_answer_is_told_of_when_gpus_are_selected(monkeypatch):
    from overlapper.runtime.gpu import driver

    def broken():
        raise driver.CudaError(999, "CUDA_ERROR_UNKNOWN")

    monkeypatch.setattr(driver, "count", broken)
    devices.start_driver("cuda")
    with pytest.raises(DeviceError, match="CUDA_ERROR_UNKNOWN"):
        select_devices("cuda")
