"""Runs on GPUs end with the bytes of the CPU."""

import numpy as np
import pytest

from overlapper import find_overlaps, random_genome, simulate_reads, write_overlaps
from overlapper.errors import DeviceError
from overlapper.extend import batches
from overlapper.extend.registry import FROM_SEEDS_ON_GPUS, ON_GPUS
from overlapper.gpu.gpus import SLOTS, Gpus
from overlapper.kernels.common.walks import Seeds
from overlapper.overlap import pipeline
from overlapper.runtime.gpu.devices import select_devices
from overlapper.simulate import adapted_model
from tests.property.test_tiles import tiled
from tests.read_sets import columns_of, reads_of

pytestmark = pytest.mark.gpu
every_extender = pytest.mark.parametrize("name", [*ON_GPUS, FROM_SEEDS_ON_GPUS])


@pytest.fixture(scope="module")
def reads():
    model = adapted_model("clr", mean_length=2500)
    return simulate_reads(random_genome(200_000, seed=3), model, coverage=20, seed=3)[0]


@pytest.fixture(scope="module")
def noisy_reads():
    """Reads with unknown bases, empty and tiny ones."""
    reads, _ = simulate_reads(random_genome(30_000, seed=4), adapted_model("ont-r7"), coverage=15, seed=4)
    texts = [reads.sequence(i) for i in range(len(reads))]
    texts = [text[:500] + "N" * (i % 7) + text[500:] if i % 3 else text for i, text in enumerate(texts)]
    texts += ["", "ACGT", "N" * 300, texts[5]]
    return reads_of(texts)


def run(reads, name, *, gact=None, **options):
    return pipeline.run(reads, "clr", changes={"extender": name, "gact": gact or {}}, **options)


@every_extender
def test_files_are_those_of_the_cpu(gpu, name, reads, noisy_reads, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "FIRST", 5000)
    for number, some in enumerate((reads, noisy_reads)):
        found = {device: run(some, name, device=device) for device in ("cpu", "cuda")}
        assert len(found["cpu"].overlaps) > 500
        for device, result in found.items():
            write_overlaps(result.overlaps, some, tmp_path / f"{number}.{device}.paf")
        assert (tmp_path / f"{number}.cpu.paf").read_bytes() == (tmp_path / f"{number}.cuda.paf").read_bytes()
        assert found["cpu"].devices == ["cpu"]
        assert found["cuda"].devices == [device.name for device in select_devices("cuda")]
        if name == "xdrop":
            assert found["cuda"].funnel.pop("extensions requeued to wider kernels") > 0
        assert found["cuda"].funnel == found["cpu"].funnel


@every_extender
def test_reads_that_do_not_fit_are_refused_and_others_change_nothing(gpu, name):
    from overlapper.kernels.common.cuda.walks import bytes_of_reads

    model = adapted_model("clr", mean_length=2500)
    reads, _ = simulate_reads(random_genome(2_000_000, seed=5), model, coverage=2, seed=5)
    memory = bytes_of_reads(len(reads.words), len(reads), 0)
    changes = {"extender": name, "gact": {"tile": 64, "overlap": 20}}  # as a thread's tile takes memory, too
    with pytest.raises(DeviceError, match="--gpu-memory"):
        pipeline.run(reads, "clr", changes=changes, device="cuda:0", gpu_memory=memory)
    expected = pipeline.run(reads, "clr", changes=changes, device="cpu")
    assert len(expected.overlaps) > 300
    found = pipeline.run(reads, "clr", changes=changes, device="cuda:0", gpu_memory=4 * memory)
    assert columns_of(found.overlaps) == columns_of(expected.overlaps)


@every_extender
def test_tiles_are_those_of_a_run_on_the_cpu(gpu, name, reads, tmp_path):
    expected = run(reads, name, device="cpu")
    changes = {"extender": name}
    found, overlaps = tiled(reads, tmp_path / "work", changes, blocks=3, device="cuda", preset="clr")
    assert columns_of(overlaps) == columns_of(expected.overlaps)
    assert found.devices == [device.name for device in select_devices("cuda")]


@every_extender
def test_too_little_memory_says_so(gpu, name, reads):
    with pytest.raises(DeviceError, match="--gpu-memory"):
        run(reads, name, device="cuda", gpu_memory=10_000)


def test_the_memory_is_given_back(gpu, reads):
    from overlapper.runtime.gpu import driver

    def free():
        with driver.use(0):
            return driver.free_bytes()

    nothing = Seeds(*(np.empty(0, np.int32) for _ in range(5)), 1)
    for _ in range(2):
        with Gpus(select_devices("cuda:0")) as gpus:
            gpus.hold(reads)
            assert gpus.slots == SLOTS
            gpus.run(lambda reads, seeds, arena: None, nothing)
            meanwhile = free()
        assert free() > meanwhile + (1 << 30)


def test_gpus_are_closed_before_they_hold_anything(gpu):
    with Gpus(select_devices("cuda")):
        pass


def test_the_library_takes_devices(gpu, reads):
    some = reads.take(np.arange(60))
    overlaps = [
        find_overlaps(some, "clr", changes={"extender": "xdrop"}, device=device) for device in ("cpu", "auto")
    ]
    assert columns_of(overlaps[0]) == columns_of(overlaps[1])
