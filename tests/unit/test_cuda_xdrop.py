"""X-drop's CUDA kernels, run as Python by a warp of a few threads, do what the CPU does; no driver."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.kernels.common.cuda import half_words, walk_bases
from overlapper.kernels.xdrop import xdrop as cpu
from overlapper.kernels.xdrop.cuda import plan_kernels, xdrop, xdrop_grouped, xdrop_grouped_lane
from overlapper.params.stages import XdropParams
from overlapper.runtime.gpu import launch as launching
from tests.simulated_pairs import simulate_pairs
from tests.unit.cuda import (
    PretendedArena,
    PretendedThreads,
    Warp,
    by_class,
    kernel_of,
    on_device,
    run_as_python,
)

LANES = 8
"""Of the warp; groups have 2, 4 or 8."""


MODULES = half_words, walk_bases, plan_kernels, xdrop_grouped_lane, xdrop_grouped


@pytest.fixture
def launched(monkeypatch):
    """Run kernels as Python; return what each group of lanes was given."""
    counts, warp, threads = [], Warp(LANES), PretendedThreads()
    run_as_python(
        monkeypatch, threads, MODULES, from_lane=warp.from_lane, from_member=warp.from_member,
    )  # fmt: skip
    monkeypatch.setattr(xdrop_grouped_lane, "cuda", warp)
    monkeypatch.setattr(xdrop_grouped, "cuda", warp)

    def launch(kernel, blocks, size, stream, *arguments):
        if kernel.source.module == "common.sort_by_class":
            by_class(kernel, *arguments)
            return
        assert kernel.source.module == "xdrop.xdrop_grouped"
        constants = kernel.source.constants
        counts.append((constants, int(arguments[3]) + len(arguments[4])))
        warp.saved = np.zeros((8 * constants[1], 128), np.uint32)
        warp.run(kernel_of(kernel), arguments)

    def each(kernel, items, arena, *arguments):
        for threads.number in range(items):
            getattr(plan_kernels, kernel.source.name).py_func(*arguments)

    monkeypatch.setattr(launching.Kernel, "launch", launch)
    monkeypatch.setattr(xdrop, "launch", each)
    monkeypatch.setattr(xdrop, "_blocks", lambda: 1)
    monkeypatch.setattr(
        xdrop,
        "grouped_kernel",
        lambda *group: launching.named("xdrop.xdrop_grouped", "grouped_kernel", *group, True),
    )
    monkeypatch.setattr(xdrop, "GROUPS", ((2, 2), (4, 2), (4, 3), (8, 2), (8, 3)))
    return counts


class SmallArena(PretendedArena):
    free = 1 << 16


def pairs_of(seed, longest=260):
    """Return pairs of five to thirty percent differences, some of them unrelated, and their seeds."""
    rng = np.random.default_rng(seed)
    errors = np.array([0.05, 0.2, 1.0, 0.3, 0.1, 1.0])
    lengths = rng.integers(40, longest, len(errors))
    return simulate_pairs(lengths, errors, seed=seed, unknown=0.5, seed_share=0.3 * (seed % 3))


def scheme_of(**changes):
    return cpu.Scheme(**vars(XdropParams(**changes)))


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("room", [1 << 16, 16])
def test_groups_extend_as_the_cpu_does(launched, room, monkeypatch):
    """Whether there is room for what outgrows a group, or it starts anew in the next one."""
    monkeypatch.setattr(SmallArena, "free", room)
    for seed, xdrop_by in enumerate((40, 30)):
        reads, seeds = pairs_of(seed)
        scheme = scheme_of(xdrop=xdrop_by, stop_window=128 * seed)
        expected = cpu.extend_seeds(reads, seeds, scheme)
        found = xdrop.extend_seeds(on_device(reads), seeds, scheme, SmallArena())
        assert found.extensions.tolist() == expected.tolist()
    assert len({group for group, _ in launched}) > 1


@pytest.mark.parametrize("scores", [{"match": 2**15, "gap": -(2**15)}, {"xdrop": 2000, "stop_window": 0}])
def test_what_no_group_holds_is_left_to_the_cpu(launched, scores):
    """Scores of over 16 bits, or more rows than any group has."""
    reads, seeds = pairs_of(3, longest=1000)
    scheme = scheme_of(**{"xdrop": 2**17, **scores})
    found, tried = xdrop.extend_seeds(on_device(reads), seeds, scheme, SmallArena())
    assert tried[xdrop.LEFT_TO_CPU] > 0
    assert found.tolist() == cpu.extend_seeds(reads, seeds, scheme).tolist()


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("share", [0.5, 0.7])
def test_what_cannot_reach_its_score_is_given_up(launched, share):
    """All that reach it are those of the CPU; the others fall short of it."""
    fewer = 0
    for seed in range(2):
        reads, seeds = pairs_of(seed)
        scheme, k = scheme_of(xdrop=40, stop_window=64), seeds.length
        expected = cpu.extend_seeds(reads, seeds, scheme)
        least = (share * reads.lengths[seeds.query]).astype(np.int32)
        there, arena = on_device(reads), SmallArena()
        needs = xdrop.Needs(least, np.arange(len(least)) % 3 == 0)
        found, _ = xdrop.extend_on_device(there, seeds, scheme, arena, {}, needs)
        found = found.reshape(-1, 2, 3)
        reach = expected[:, :, 0].sum(axis=1) + k >= least
        assert found[reach].tolist() == expected[reach].tolist()
        assert (found[~reach, :, 0].sum(axis=1) + k < least[~reach]).all()
        fewer += int((found[~reach] != expected[~reach]).any(axis=(1, 2)).sum())
        assert reach.any() and not reach.all()
    assert fewer, "something was given up"
