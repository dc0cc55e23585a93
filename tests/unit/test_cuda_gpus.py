"""How work is shared between GPUs, on pretended ones that compute on the CPU."""

import contextlib
import threading

import numpy as np
import pytest

from overlapper.candidates import dsoft_gpu
from overlapper.errors import DeviceError, ParameterError
from overlapper.extend import batches
from overlapper.extend.on_gpus import opening
from overlapper.extend.registry import ON_GPUS
from overlapper.gpu import gpus
from overlapper.gpu.gpus import Gpus, Opening, Slot
from overlapper.kernels.gact.gact import extend_candidates
from overlapper.kernels.xdrop.xdrop import extend_seeds
from overlapper.overlap import pipeline
from overlapper.params.stages import Params
from overlapper.runtime.gpu import devices
from overlapper.runtime.gpu.devices import Device
from overlapper.sketch.canonical import packed
from tests.property.test_tiles import tiled
from tests.read_sets import columns_of, reads_of, texts_of

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.kernels.common.cuda import walks
from overlapper.kernels.gact.cuda import gact
from overlapper.kernels.xdrop.cuda import xdrop
from overlapper.runtime.gpu import driver
from tests.pretended_gpu import Arena

TWO = [Device("cuda:0", "A"), Device("cuda:1", "B")]


class Pretended:
    """Two GPUs with so many bytes a slot."""

    def __init__(self):
        self.free, self.used = 1 << 30, set()

    def slots_of(self, opened, number):
        reads = opened._reads.result()
        for _ in range(gpus.SLOTS):
            there = walks.DeviceReads(reads, None, None, None, None)
            yield Slot(number, there, Arena(self.free))

    @contextlib.contextmanager
    def current(self, number):
        self.used.add(number)
        yield

    def upload_reads(self, reads, arena):
        return walks.DeviceReads(reads, None, None, None, None)

    def extend_xdrop(self, reads, seeds, scheme, arena):
        found = extend_seeds(reads.host, seeds, scheme)
        return xdrop.Extended(found, {"64 rows": 2 * len(seeds.query), "the CPU": 1})

    def extend_gact(self, reads, seeds, scheme, arena):
        end = seeds.target_pos.astype(np.int64) + seeds.length
        anchors = np.where(seeds.reverse, reads.host.lengths[seeds.target] - end, seeds.target_pos)
        found = extend_candidates(reads.host, *seeds[:3], seeds.query_pos.astype(np.int64), anchors, *scheme)
        return gact.Extended(*found, tiles=1)


@pytest.fixture
def pretended(monkeypatch):
    two = Pretended()
    monkeypatch.setattr(devices, "_gpus", lambda: TWO)
    monkeypatch.setattr(Gpus, "_slots_of", lambda opened, number: two.slots_of(opened, number))
    monkeypatch.setattr(driver, "use", two.current)
    monkeypatch.setattr(walks, "upload_reads", two.upload_reads)
    monkeypatch.setattr(xdrop, "extend_seeds", two.extend_xdrop)
    monkeypatch.setattr(gact, "extend_seeds", two.extend_gact)
    monkeypatch.setattr(batches, "FIRST", 20)
    return two


def run(device, extender="xdrop", **options):
    reads = reads_of(texts_of(4, genome=3000, reads=40))
    return pipeline.run(reads, "clr", changes={"extender": extender}, device=device, **options)


@pytest.mark.parametrize("extender", ON_GPUS)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("free", [1 << 30, 2000, 1])
def test_runs_on_gpus_end_as_on_the_cpu(pretended, extender, free, threads, monkeypatch):
    monkeypatch.setattr("overlapper.overlap.found.BLOCK_BASES", 2000)
    monkeypatch.setattr(dsoft_gpu, "_LEAST_HITS", 0)
    pretended.free = free
    on_cpu, on_gpus = run("cpu", extender), run("cuda", extender, threads=threads)
    assert len(on_cpu.overlaps) > 50
    assert columns_of(on_gpus.overlaps) == columns_of(on_cpu.overlaps)
    assert on_gpus.devices == ["cuda:0", "cuda:1"]
    if extender == "xdrop":
        assert on_gpus.funnel.pop("extensions requeued to wider kernels") >= 2
    assert on_gpus.funnel == on_cpu.funnel
    assert pretended.used <= {0, 1}


@pytest.mark.parametrize("extender", ON_GPUS)
def test_tiles_on_gpus_end_as_on_the_cpu(pretended, extender, tmp_path):
    reads = reads_of(texts_of(4, genome=3000, reads=40))
    whole = run("cpu", extender)
    changes = {"extender": extender}
    found, overlaps = tiled(reads, tmp_path / "work", changes, blocks=3, device="cuda", preset="clr")
    assert columns_of(overlaps) == columns_of(whole.overlaps)
    assert found.devices == ["cuda:0", "cuda:1"]
    assert pretended.used <= {0, 1}


def test_every_gpu_offers_its_slots(pretended):
    with Gpus(TWO) as opened:
        opened.hold(reads_of(texts_of(1)))
        slots = [opened._free.get() for _ in range(opened.slots)]
    assert sorted(slot.gpu for slot in slots) == [0, 0, 0, 1, 1, 1]


def test_who_has_most_work_gets_the_next_slot():
    free, served = gpus._FreeSlots(), []

    def work(size):
        slot = free.get(size)
        served.append(size)
        free.put(slot)

    waiting = []
    for size in (3, 9, 1, 9, 5):
        waiting.append(threading.Thread(target=work, args=(size,)))
        waiting[-1].start()
        while len(free._waiting) < len(waiting):
            pass
    assert free.empty()
    free.put("slot")
    for thread in waiting:
        thread.join()
    assert served == [9, 9, 5, 3, 1]
    assert not free.empty()


def test_a_gpu_that_fails_to_open_ends_the_run(pretended, monkeypatch):
    def broken(opened, number):
        raise DeviceError("no memory at all")
        yield

    monkeypatch.setattr(Gpus, "_slots_of", broken)
    with pytest.raises(DeviceError, match="no memory at all"):
        run("cuda:1")


def test_a_driver_that_answers_late_and_badly_ends_the_run(pretended):
    def choose():
        raise DeviceError("the driver does not answer")

    before = threading.active_count()
    with pytest.raises(DeviceError, match="does not answer"):
        reads = packed(reads_of(texts_of(4, genome=3000, reads=40)), 1)
        pipeline.find(reads, "clr", threads=1, opened=opening(choose, 0, Params()))
    assert threading.active_count() == before


def test_gpus_are_given_back_when_a_run_fails_before_they_are_asked_for(pretended):
    closed = []
    with pytest.raises(KeyError), Opening(lambda: TWO, 0, ["xdrop"], closed.append) as opening:
        opening.hold(reads_of(texts_of(1)))
        raise KeyError
    assert closed == [["cuda:0", "cuda:1"]]
    assert opening()._free.empty()


def test_gpus_are_ended_but_not_the_cpu(monkeypatch):
    ended = []
    monkeypatch.setattr(driver, "end", ended.append)
    others = threading.enumerate()
    devices.end_gpus(["cpu"])
    devices.end_gpus(["cuda:0", "cuda:2"])
    for thread in set(threading.enumerate()).difference(others):
        thread.join()
    assert sorted(ended) == [0, 2]


def test_no_thread_is_left_when_nothing_is_ever_held(pretended):
    before = threading.active_count()
    with Gpus(TWO):
        pass
    assert threading.active_count() == before


def test_a_failing_kernel_gives_its_slot_back(pretended):
    reads = reads_of(texts_of(1))
    with Gpus(TWO[:1]) as opened:
        opened.hold(reads)
        seeds = walks.Seeds(*(np.zeros(1, np.int32) for _ in range(5)), 1)
        for _ in range(2 * opened.slots):
            with pytest.raises(ZeroDivisionError):
                opened.run(lambda reads, seeds, arena: 1 // 0, seeds)
        slots = [opened._free.get() for _ in range(opened.slots)]
        assert [slot.arena.released for slot in slots] == [[Arena.MARK] * 2] * opened.slots


def test_auto_takes_the_gpus_for_extenders_that_can_use_them(pretended):
    assert run("auto").devices == ["cuda:0", "cuda:1"]
    reads, exact = reads_of(texts_of(4)), {"extender": "exact"}
    assert pipeline.run(reads, "hifi", device="auto", changes=exact).devices == ["cpu"]


def test_chains_that_gpus_have_no_room_for_are_found_by_the_cpu(pretended):
    reads = reads_of(texts_of(4, genome=3000, reads=40))
    expected = pipeline.run(reads, "clr", device="cpu")
    found = pipeline.run(reads, "clr", device="cuda")
    assert columns_of(found.overlaps) == columns_of(expected.overlaps) and len(found.overlaps) > 10
    assert found.funnel.pop("queries left to the CPU") == len(reads)
    assert found.funnel == expected.funnel


def test_chains_of_other_seeds_are_found_by_the_cpu(pretended):
    changes = {"finder": "spgemm"}
    reads = reads_of(texts_of(4, genome=3000, reads=40))
    found = pipeline.run(reads, "clr", device="cuda", changes=changes)
    assert found.devices == ["cpu"]
    expected = pipeline.run(reads, "clr", device="cpu", changes=changes)
    assert columns_of(found.overlaps) == columns_of(expected.overlaps)


def test_extenders_without_kernels_refuse_gpus(pretended):
    assert "exact" not in ON_GPUS
    with pytest.raises(ParameterError, match="the extender exact runs on the CPU alone"):
        pipeline.run(reads_of(texts_of(4)), "hifi", device="cuda", changes={"extender": "exact"})
