"""The kernels from seeds to chains compile for the devices we name, and do what the CPU does; no driver."""

import contextlib
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.candidates import dsoft_gpu
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus
from overlapper.extend import on_gpus
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.extend.xdrop import REQUEUED
from overlapper.extend.xdrop_gpu import XdropOnGpus
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.kernels.candidates.cuda import dsoft, dsoft_kernels, hit_kernels, hits
from overlapper.kernels.candidates.dsoft import Bands
from overlapper.kernels.chain.chain import Asked, Chaining, SeededReads
from overlapper.kernels.chain.cuda import chain, chain_kernels, end_walk_kernels, end_walks
from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.cuda import copies, groups, radix_sort, radix_sort_kernels, walk_bases, walks
from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.kernels.seeds.cuda import (
    minimizer_kernels,
    minimizers,
    seed_index,
    seed_index_kernels,
    seed_list_kernels,
    seed_lists,
)
from overlapper.kernels.xdrop.cuda import overlap_kernels, overlaps, plan_kernels, xdrop
from overlapper.kernels.xdrop.xdrop import Scheme, extend_seeds
from overlapper.overlap import pipeline
from overlapper.params.stages import Params, SketchParams
from overlapper.runtime.gpu import devices, driver, memory
from overlapper.runtime.gpu import launch as launching
from overlapper.runtime.gpu.devices import Device
from overlapper.sketch import seed_index_gpu
from overlapper.sketch.seed_index import SeedIndex
from overlapper.sketch.seed_lists_gpu import DeviceSeedLists
from tests.read_sets import columns_of, linked, reads_of, texts_of
from tests.unit.cuda import (
    PretendedArena,
    PretendedThreads,
    by_class,
    compiled,
    kernel_of,
    on_device,
    record,
    run_as_python,
)

U4, U8, I4, I8, BOOLEANS = (
    kind[::1] for kind in (types.uint32, types.uint64, types.int32, types.int64, types.boolean)
)
ROWS, NUMBER = types.int32[:, ::1], types.int64
BANDS = record(Bands, *(NUMBER,) * 6)
FOUND = record(dsoft.Found, I4, I4, BOOLEANS, ROWS, I8, I4, I4, I4)
KERNELS = {
    radix_sort_kernels.count_digits: (U8, NUMBER, I4),
    radix_sort_kernels.move_pairs: (U8, U8, NUMBER, I8, U8, U8),
    groups.flag_starts: (U8, I4),
    minimizer_kernels.mark_reads: (I8, I4),
    minimizer_kernels.hash_kmers: (U8, U4, I8, I8, I4, NUMBER, NUMBER, U8),
    minimizer_kernels.flag_minimizers: (U8, I8, I8, I4, *(NUMBER,) * 3, I4),
    seed_index_kernels.count_minimizers: (I8, I8, NUMBER, NUMBER, I4),
    seed_index_kernels.keep_buckets: (U8, NUMBER, NUMBER, NUMBER, I4),
    seed_index_kernels.write_minimizers: (U8, I4, I8, *(NUMBER,) * 3, U8, U8),
    seed_index_kernels.judge_groups: (U8, I8, I4, I8, I8, I4),
    seed_index_kernels.flag_groups: (U8, I8, I8, I4, *(NUMBER,) * 4, I4),
    seed_list_kernels.pack_occurrences: (U8, U8, I4, I8, I4, I8, U8),
    copies.copy_items: (U8, U8),
    seed_list_kernels.mark_bases: (U8, I8, U4),
    seed_list_kernels.count_marks: (U4, I4),
    seed_list_kernels.enter_occurrences: (U8, I8, U4, I8, U4),
    seed_list_kernels.find_lists: (I8, I8, I8),
    copies.take_every: (U4, NUMBER, U4),
    hit_kernels.count_hits: (U8, U4, NUMBER, I4),
    hit_kernels.write_hits: (U8, U4, NUMBER, I8, NUMBER, NUMBER, U8, U8),
    dsoft_kernels.flag_pairs: (U8, U8, I8, NUMBER, BANDS, I4),
    groups.list_flagged: (I4, I8, I8),
    dsoft_kernels.find_windows: (U8, U8, I8, I8, NUMBER, NUMBER, BANDS, I4, ROWS, I4, I4, I4, ROWS, ROWS),
    dsoft_kernels.list_candidates: (
        U8, I8, I4, ROWS, I8, NUMBER, NUMBER, ROWS, I4, I4, BOOLEANS, ROWS, I8, I4,
    ),
    chain_kernels.chain_seeds: (
        FOUND, I8, NUMBER, record(Chaining, *(NUMBER,) * 4), record(chain.Room, *(I4,) * 4), I4, ROWS,
    ),
    chain_kernels.judge_chains: (
        FOUND, I4, record(SeededReads, I8, I4, U4, I8, U4, I8), NUMBER, record(Asked, *(NUMBER,) * 10), ROWS,
        I4,
    ),
    chain_kernels.count_verdicts: (I4, I4, I4),
    chain_kernels.gather_kept: (FOUND, ROWS, I4, I8, ROWS, ROWS),
    end_walk_kernels.walk_each: (
        record(walks.DeviceColumns, U4, U4, I8, I8), record(Seeds, I4, I4, BOOLEANS, I8, I8, NUMBER), I8,
        record(EndScheme, NUMBER, NUMBER), ROWS,
    ),
    overlap_kernels.judge_extensions: (ROWS, NUMBER, NUMBER, I4, NUMBER, I4, I4),
    overlap_kernels.gather_overlaps: (I4, I4, BOOLEANS, ROWS, ROWS, NUMBER, NUMBER, I4, I8, ROWS),
}  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.py_func.__name__)
def test_the_kernel_compiles(kernel):
    ptx = compiled(kernel, KERNELS[kernel])
    assert ".f64" not in ptx, "whole numbers became floating point"


def test_the_kernel_that_tells_needed_scores_compiles():
    compiled(overlap_kernels.list_seeds, (ROWS, types.float64, types.float64, I4, I4, I4, BOOLEANS))


def extend_in_groups(reads, kernel, *arguments):
    """Do what a group of lanes does; it outgrows every third extension, and gives up what falls short."""
    seeds, left, n_left, items, scheme, counters, extensions, needed, *_, leaves = arguments[1:]
    for item in [*left[:n_left], *items]:
        if item % 3 == 0 and kernel.source.constants[0] < 32:
            leaves[counters[1]] = item
            counters[1] += 1
            continue
        one = Seeds._make([*(column[item >> 1 : (item >> 1) + 1] for column in seeds[:-1]), seeds.length])
        found = extend_seeds(reads, one, Scheme(*map(int, scheme)))[0, item & 1]
        if found[0] >= needed[item]:
            extensions[item] = found


def words_of(function):
    """Return a compiled function whose words come as those of numpy, as within kernels."""

    def call(*given):
        found = function(*given)
        kinds = function.nopython_signatures[0].return_type
        return tuple(getattr(np, str(kind))(value) for kind, value in zip(kinds, found, strict=True))

    return call


@pytest.fixture
def pretended(monkeypatch):
    """A GPU whose kernels run as Python, a block of one thread after the other; returns its slot's arena."""
    threads, arena = PretendedThreads(), PretendedArena()
    held = []

    def each(kernel, items, arena, *arguments):
        for threads.number in range(items):
            kernel_of(kernel)(*arguments)

    def launch(kernel, blocks, size, stream, *arguments):
        if kernel.source.module == "xdrop.xdrop_grouped":
            words, _, starts, lengths = arguments[0]
            nothing = np.zeros(len(starts), np.int64)
            without = PackedReads(words.view(np.uint64), starts, lengths, nothing[:0], nothing[:0], nothing)
            reads = next((some for some in held if np.array_equal(some.lengths, lengths)), without)
            extend_in_groups(reads, kernel, *arguments)
            return
        if kernel.source.module == "common.sort_by_class":
            by_class(kernel, *arguments)
            return
        threads.threadIdx, threads.blockIdx = SimpleNamespace(x=0), SimpleNamespace(x=0)
        threads.gridDim = SimpleNamespace(x=blocks)
        for threads.number in range(blocks):
            threads.blockIdx.x = threads.number
            kernel_of(kernel)(*arguments)

    monkeypatch.setattr(launching.Kernel, "launch", launch)
    kernels = (
        copies, groups, walk_bases, minimizer_kernels, seed_index_kernels, seed_list_kernels, hit_kernels,
        dsoft_kernels, chain_kernels, end_walk_kernels, radix_sort_kernels, plan_kernels, overlap_kernels,
    )  # fmt: skip
    hosts = minimizers, seed_index, seed_lists, hits, dsoft, chain, end_walks, radix_sort, xdrop, overlaps
    run_as_python(
        monkeypatch, threads, kernels + hosts,
        launch=each, next_column=words_of(end_walk_kernels.next_column), slid=words_of(end_walk_kernels.slid),
    )  # fmt: skip
    for module in kernels + hosts:
        for name, value in (
            ("WARP", 1), ("THREADS", 1), ("TILE", radix_sort.EACH),
            ("_PLACES", radix_sort.DIGITS), ("_PADDED", 1 + radix_sort.EACH),
        ):  # fmt: skip
            if hasattr(module, name) and module not in (end_walks, end_walk_kernels):
                monkeypatch.setattr(module, name, value)

    def slots_of(opened, number):
        reads = opened._reads.result()
        held.append(reads)
        yield Slot(number, on_device(reads), arena, 1 << 30)

    monkeypatch.setattr(xdrop, "_blocks", lambda: 1)
    monkeypatch.setattr(driver, "current", lambda: 0)
    monkeypatch.setattr(driver, "properties", lambda number: driver.Properties("none", (9, 0), 1 << 30, 4))
    monkeypatch.setattr(devices, "_gpus", lambda: [Device("cuda:0", "A")])
    monkeypatch.setattr(Gpus, "_slots_of", slots_of)
    monkeypatch.setattr(driver, "use", contextlib.nullcontext)
    monkeypatch.setattr(memory, "Arena", SimpleNamespace(allocate=lambda size, pinned=None: PretendedArena()))
    return arena


def found(reads, device, **changes):
    run = pipeline.run(reads, "hifi", device=device, threads=1, changes=changes)
    return columns_of(run.overlaps), run.funnel, run.devices


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("seed", range(2))
def test_what_the_kernels_do_equals_the_cpu(pretended, monkeypatch, seed):
    """From the seed index to overlaps: the bytes and counts of the CPU."""
    monkeypatch.setattr(ChainsOnGpus, "_find_here", None)
    monkeypatch.setattr(on_gpus, "LEAST_BASES_SEEDED_ON_GPU", seed << 28)
    reads = reads_of(texts_of(seed, genome=3000, reads=18, longest=1200))
    changes = {
        "sketch": {"kmer_length": 11 + seed, "window": 4}, "classes": {"min_overlap": 100},
        "dsoft": {"min_bases": (9, 40)[seed], "drift": (0, 1000)[seed]},
        "chain": {"min_seeds": 1 + seed, "reach": seed, "min_agreement": 5},
    }  # fmt: skip
    overlaps, funnel, names = found(reads, "cuda", **changes)
    expected, expected_funnel, _ = found(reads, "cpu", **changes)
    assert names == ["cuda:0"]
    assert overlaps == expected and funnel == expected_funnel
    assert funnel["candidates"] > 20 and funnel["overlaps"] > 5


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_other_gpus_copy_the_index_from_the_one_that_made_it(pretended, monkeypatch):
    def copy_of(arena, array, gpu):
        made_by.append(gpu)
        return array.copy()

    made_by, one_at_a_time = [], threading.RLock()
    monkeypatch.setattr(driver, "use", lambda number: one_at_a_time)
    monkeypatch.setattr(PretendedArena, "copy_of", copy_of, raising=False)
    monkeypatch.setattr(ChainsOnGpus, "_find_here", None)
    monkeypatch.setattr(DeviceSeedLists, "_download", None)
    monkeypatch.setattr(devices, "_gpus", lambda: [Device(f"cuda:{number}", "A") for number in range(3)])
    monkeypatch.setattr(on_gpus, "LEAST_BASES_SEEDED_ON_GPU", 0)
    monkeypatch.setattr(dsoft_gpu, "_LEAST_HITS", 0)
    reads = reads_of(texts_of(3, genome=3000, reads=18, longest=1200))
    changes = {"sketch": {"kmer_length": 11, "window": 4}, "classes": {"min_overlap": 100}}
    overlaps, funnel, names = found(reads, "cuda", **changes)
    expected, expected_funnel, _ = found(reads, "cpu", **changes)
    assert len(names) == 3 and len(made_by) == 2 * 6 and len(set(made_by)) == 1
    assert overlaps == expected and funnel == expected_funnel


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("seed", range(2))
def test_xdrop_of_candidates_that_stay_there_equals_the_cpu(pretended, monkeypatch, seed):
    monkeypatch.setattr(XdropOnGpus, "_find_here", None)
    reads = reads_of(texts_of(seed, genome=3000, reads=18, longest=1200))
    changes = {
        "extender": "xdrop", "sketch": {"kmer_length": 11 + seed, "window": 4},
        "classes": {"min_overlap": 300}, "dsoft": {"min_bases": (9, 40)[seed], "drift": (0, 1000)[seed]},
        "threshold": {"error_rate": 0.05},
    }  # fmt: skip
    overlaps, funnel, names = found(reads, "cuda", **changes)
    expected, expected_funnel, _ = found(reads, "cpu", **changes)
    assert names == ["cuda:0"] and funnel.pop(REQUEUED) > 10
    assert overlaps == expected and funnel == expected_funnel
    assert funnel["overlaps"] > 5 and funnel["dropped: low score"] > 2 and funnel["dropped: too short"] > 2


def test_candidates_are_those_of_the_cpu(pretended, monkeypatch):
    reads = reads_of(texts_of(5, genome=2000, reads=12, longest=1200))
    params = Params().changed({"sketch": {"kmer_length": 11, "window": 4}})
    finder = DsoftFinder.prepare(reads, params, 1)
    with Gpus(devices._gpus()) as gpus:
        gpus.hold(reads)
        there, n = DsoftOnGpus(gpus, finder, 1000), len(reads)
        assert columns_of(there.find(0, 0)) == columns_of(there.find(n - 1, n))
        expected = finder.find(3, n).without_hits()
        monkeypatch.setattr(DsoftFinder, "find", None)
        assert columns_of(there.find(3, n)) == columns_of(expected) and len(expected) > 10


def index_of(index):
    """Return all that others see of a seed index: what lies between its groups is arbitrary."""
    return index.limit, index.counts, columns_of(index.seeding), linked(index).tobytes()


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize(("k", "window", "limit"), [(8, 1, 0), (11, 4, 9), (28, 200, 0)])
def test_seeds_are_those_of_the_cpu(pretended, monkeypatch, k, window, limit):
    texts = texts_of(k, genome=400, reads=5, longest=300)
    reads = reads_of([*texts, "AC" * 60, "A" * 80 + "C", *["GATTACA" * 6] * 3])
    sketch = SketchParams(kmer_length=k, window=window, repeat_limit=limit)
    expected = index_of(SeedIndex.build(reads, sketch, 1))
    for chunk, shares in ((1 << 20, 1), (400, 1), (400, 8)):
        monkeypatch.setattr(seed_index, "_CHUNK_BASES", chunk)
        monkeypatch.setattr(seed_index_gpu, "_SHARES", (shares,))
        with Gpus(devices._gpus()) as gpus:
            gpus.hold(reads)
            found = seed_index_gpu.build(gpus, reads, sketch, 1)
        assert index_of(found) == expected
    assert expected[1]["minimizers that seed"] > 10
