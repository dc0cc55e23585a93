"""GACT's and the plain pairs' CUDA kernels, run as Python by one thread or a warp, do what the CPU does."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.kernels.common.cuda import half_words, paths, walk_bases
from overlapper.kernels.gact import gact as gact_on_cpu
from overlapper.kernels.gact.cuda import gact, gact_path, gact_runs, gact_tile
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.kernels.pairwise import pairwise_chunks as chunks
from overlapper.kernels.pairwise.cuda import (
    bit_slices,
    pairwise,
    pairwise_bands,
    pairwise_bases,
    pairwise_column,
    pairwise_packed,
    pairwise_path,
    pairwise_wide,
)
from overlapper.params.stages import GactParams
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu import launch as launching
from tests.random_pairs import random_pairs
from tests.read_sets import packed_reads
from tests.simulated_pairs import simulate_pairs
from tests.unit.cuda import (
    PAIRS,
    PretendedArena,
    PretendedThreads,
    Warp,
    by_class,
    kernel_of,
    on_device,
    run_as_python,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered"),
    pytest.mark.filterwarnings("ignore:invalid value encountered"),
]


@pytest.mark.parametrize("scores", [(1, -1, 0, -1), (2, -4, -4, -2)], ids=["linear", "affine"])
def test_gact_aligns_as_the_cpu_does(monkeypatch, scores):
    threads = PretendedThreads()
    threads.gridsize = lambda _: 1
    run_as_python(
        monkeypatch, threads, (half_words, walk_bases, paths, bit_slices, gact_tile, gact_path, gact_runs)
    )

    def launch(kernel, blocks, size, stream, *arguments):
        threads.number = 0
        kernel_of(kernel)(*arguments)

    monkeypatch.setattr(launching.Kernel, "launch", launch)
    monkeypatch.setattr(gact, "_launch_shape", lambda: (1, 1))
    params = GactParams(*scores, tile=48, overlap=16)
    scheme = gact.Scheme(**vars(params))
    lengths, errors = np.array([90, 70, 60]), np.array([0.1, 0.2, 0.05])
    reads, seeds = simulate_pairs(lengths, errors, seed=2, unknown=0.5)
    found = gact.extend_seeds(on_device(reads), seeds, scheme, PretendedArena())
    end = seeds.target_pos.astype(np.int64) + seeds.length
    anchors = np.where(seeds.reverse, reads.lengths[seeds.target] - end, seeds.target_pos)
    rows, cigar, offsets = gact_on_cpu.extend_candidates(
        reads, seeds.query, seeds.target, seeds.reverse, seeds.query_pos.astype(np.int64), anchors, *scheme
    )
    assert found.rows.tolist() == rows.tolist()
    assert found.cigar.tolist() == cigar.tolist()
    assert found.cigar_offsets.tolist() == offsets.tolist()
    assert found.tiles > 2 * len(lengths)


class StagedArena(PretendedArena):
    """With memory to pack chunks in."""

    pinned = np.zeros(1 << 14, np.uint8)

    def stage(self, size):
        return np.zeros(size, np.uint8)

    def send(self, staged):
        return staged.copy()

    def fetch(self, array):
        return array.copy()


MATRIX = np.where(np.eye(5, dtype=bool), 1, -2)
SCHEMES = {
    "local": cpu.Scheme(MATRIX, -2, -1, True, 0, -1),
    "global, in a band": cpu.Scheme(MATRIX, -2, -1, False, 0, 3),
    "semi-global": cpu.Scheme(MATRIX, 0, -1, False, 15, -1),
    "local, in a band": cpu.Scheme(MATRIX, -2, -1, True, 0, 3),
}


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_pairs_are_aligned_as_the_cpu_does(monkeypatch, scheme):
    """By both kinds of cells; paths by a thread, and by a warp where a thread has no room for them."""
    warp, threads = Warp(32), PretendedThreads()
    modules = (
        half_words, walk_bases, paths, pairwise_bases, pairwise_column, pairwise_packed, pairwise_path,
        pairwise_bands, pairwise_wide,
    )  # fmt: skip
    launched = set()
    run_as_python(monkeypatch, threads, modules, from_lane_above=warp.from_lane_above)
    by_text = {text: PAIRS[name] for name, text in pairwise_packed._MODERN.items()}
    monkeypatch.setattr(pairwise_packed, "instruction", lambda text, arguments, together=False: by_text[text])
    for module in (pairwise_packed, pairwise_wide):
        monkeypatch.setattr(module, "cuda", warp)

    def launch(kernel, items, arena, *arguments):
        launched.add(kernel.source.name)
        if kernel.source.module == "common.sort_by_class":
            by_class(kernel, *arguments)
        elif kernel.source.name in ("packed_kernel", "wide_kernel"):
            warp.run(kernel_of(kernel), arguments)
        elif kernel.source.name == "trace_kernel":
            with np.errstate(all="ignore"):
                warp.own.lane = 0
                warp.lanes = 1
                kernel_of(kernel)(*arguments)
                warp.lanes = 32
        else:
            with np.errstate(all="ignore"):
                for threads.number in range(16):
                    kernel_of(kernel)(*arguments)

    monkeypatch.setattr(pairwise, "launch", launch)
    monkeypatch.setattr(pairwise_bands, "LARGEST_ROOM", 38)
    monkeypatch.setattr(driver, "current", lambda: 0)
    monkeypatch.setattr(driver, "properties", lambda number: driver.Properties("none", (9, 0), 1 << 30, 1))
    texts = [*random_pairs(3, 5, 30), ("ACGTNACGA", "ACGTAACGA"), ("ACG", "")]
    queries, targets = (packed_reads(side) for side in zip(*texts, strict=True))
    number = np.arange(len(texts), dtype=np.int32)
    flags = (number % 4).astype(np.uint8)
    pairs = cpu.Pairs(number, number, flags, flags[::-1].copy())
    aligner = pairwise.PairAligner(scheme, cpu.PATHS, StagedArena())
    extent = chunks.extent_of(queries, targets, pairs, 0, len(texts), 1 << 14)
    block = aligner.stage(extent)
    starts = chunks.pack(queries, targets, pairs, 0, aligner.classes, chunks.chunk_in(block, extent))
    left = aligner.align(extent, block, starts)
    found = aligner.found()
    rows, cigar, offsets = cpu.align_pairs(queries, targets, pairs, scheme, 32, cpu.PATHS)
    assert left.tolist() == [len(texts) - 1], "the pair with an empty sequence"
    for column in range(7):
        assert found[column, :-1].tolist() == rows[:-1, column].tolist()
    runs = np.concatenate([[0], np.cumsum(found[-1])])
    written = np.empty(runs[-1], np.uint32)
    aligner.write_cigars(runs, written)
    assert written.tolist() == cigar[: offsets[-2]].tolist()
    assert {"banded_kernel", "write_runs"} <= launched
    assert scheme.local or "trace_kernel" in launched
    assert ("packed_kernel" in launched) == (scheme.local and scheme.band < 0)
