"""How the consensus is shared between GPUs, on pretended ones that compute on the CPU."""

import contextlib
import dataclasses

import numpy as np
import pytest

from overlapper.correct import consensus as graph_consensus
from overlapper.correct.reads import correct
from overlapper.errors import DeviceError
from overlapper.gpu import gpus
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.kernels.consensus import consensus as on_cpu
from overlapper.kernels.consensus import layers as cpu_layers
from overlapper.params.correction import CorrectParams
from overlapper.runtime.gpu import devices
from overlapper.runtime.gpu.devices import Device
from tests.read_sets import columns_of, reads_of, texts_of

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.kernels.common.cuda import walks
from overlapper.kernels.consensus.cuda import consensus as on_gpu
from overlapper.kernels.consensus.cuda import layers
from overlapper.runtime.gpu import driver
from tests.pretended_gpu import Arena

ONE_ROUND = CorrectParams(rounds=1, thresholds=(30, 50), run_threshold=50, error_rate=0.1)
"""Of reads so inaccurate that none of them leads."""


class Pretended:
    """A GPU with so many bytes a slot, on which so many windows fit at once."""

    def __init__(self):
        self.free, self.most, self.resident = 1 << 30, 1 << 30, True
        self.batches, self.given_up = [], 0

    def slots_of(self, opened, number):
        reads = opened._reads.result()
        there = walks.DeviceReads(reads, None, None, None, None) if self.resident else None
        for _ in range(gpus.SLOTS):
            yield Slot(number, reads, there, Arena(self.free), opened._qualities)

    def correct_windows(self, targets, reads, windows, rows, settings, *, arena):
        if len(windows.target) > self.most:
            self.given_up += 1
            raise DeviceError("too little memory")
        self.batches.append(len(windows.target))
        none = np.zeros(len(windows.target), bool)
        return on_cpu.correct_windows(sequences(targets), sequences(reads), windows, rows, none, 0, settings)


def sequences(there):
    host = there.reads.host
    return cpu_layers.Sequences(
        host.words, host.word_offsets, host.unknown_start, host.unknown_end, host.unknown_offsets,
        *there.qualities,
    )  # fmt: skip


@pytest.fixture
def pretended(monkeypatch):
    one = Pretended()
    monkeypatch.setattr(devices, "_gpus", lambda: [Device("cuda:0", "A")])
    monkeypatch.setattr(Gpus, "_slots_of", lambda opened, number: one.slots_of(opened, number))
    monkeypatch.setattr(driver, "use", contextlib.nullcontext)
    monkeypatch.setattr(
        walks, "upload_reads", lambda reads, arena: walks.DeviceReads(reads, None, None, None, None)
    )
    monkeypatch.setattr(layers, "upload_qualities", lambda qualities, arena: qualities)
    monkeypatch.setattr(on_gpu, "correct_windows", one.correct_windows)
    monkeypatch.setattr(graph_consensus, "BLOCK_BASES", 10_000)
    monkeypatch.setattr(graph_consensus, "GPU_LEAST_BASES", 0)
    return one


@pytest.fixture(scope="module")
def reads():
    return reads_of(texts_of(4, genome=3000, reads=40))


def corrected(reads, device, params=ONE_ROUND):
    made = correct(reads, params=params, preset="clr", device=device, threads=1)  # GPUs take all windows
    return columns_of(made.reads), made.changes.to_tsv(), made.funnel


@pytest.mark.parametrize("resident", [True, False])
def test_batches_give_what_the_cpu_does(pretended, reads, resident):
    expected = corrected(reads, "cpu")
    assert expected[2]["round 1: reads aligned to reads"] > 100
    pretended.resident = resident
    assert corrected(reads, "cuda") == expected
    whole = pretended.batches.copy()
    assert sum(whole) == len(reads) and len(whole) > 1 and not pretended.given_up

    pretended.batches.clear()
    pretended.free = 600_000
    assert corrected(reads, "auto") == expected
    assert len(pretended.batches) > len(whole) and not pretended.given_up


@pytest.mark.parametrize("resident", [True, False])
def test_followers_are_corrected_beside_gpus(pretended, reads, resident):
    params = dataclasses.replace(ONE_ROUND, error_rate=0.02)
    expected = corrected(reads, "cpu", params)
    pretended.resident = resident
    assert corrected(reads, "cuda", params) == expected
    assert 0 < sum(pretended.batches) < len(reads)


def test_batches_that_do_not_fit_are_halved(pretended, reads):
    expected = corrected(reads, "cpu")
    pretended.most = 2
    assert corrected(reads, "cuda:0") == expected
    assert max(pretended.batches) == 2 and pretended.given_up
    pretended.most = 0
    with pytest.raises(DeviceError, match="too little memory"):
        corrected(reads, "cuda:0")


def test_memory_planned_for_a_window_grows_with_its_rows():
    windows = cpu_layers.Windows(
        np.zeros(2, np.int64), np.zeros(2, np.int64), np.full(2, 1000), np.array([0, 0, 3])
    )
    thousand = np.full(3, 1000)
    rows = cpu_layers.Rows(
        thousand, thousand, thousand, thousand, np.zeros(3, np.int64), thousand, *np.zeros((2, 3), np.int32)
    )
    alone, with_rows = on_gpu.bytes_of_windows(windows, rows, 3)
    assert with_rows - alone > 3 * 1000 * (2 + 4 * 4)
