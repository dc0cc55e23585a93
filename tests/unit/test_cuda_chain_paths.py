"""The kernels of chains compile for the devices we name, and do what the CPU does; needs no driver."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.kernels.mapping.cuda import chain_paths
from overlapper.mapping import edits
from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import AnchorChainParams, ChoiceParams, MapParams
from overlapper.params.stages import SketchParams
from tests.property.test_mapping import case
from tests.read_sets import reads_of
from tests.unit.cuda import PretendedArena, PretendedThreads, compiled, on_device

U1, U4, I4, I8, BOOLEANS = (
    kind[::1] for kind in (types.uint8, types.uint32, types.int32, types.int64, types.boolean)
)
ROOMS, ROWS = types.uint64[:, ::1], types.int32[:, ::1]
KERNELS = {
    chain_paths.unpack: (U4, U4, I8, I8, I8, I8, BOOLEANS, I4, I8, types.int64, U1),
    chain_paths.pair_gaps: (*(I4,) * 7, I8, I8, U1, U1, ROOMS, I4, I4),
    chain_paths.extend_ends: (
        I8, I8, *(I4,) * 4, I8, I8, U1, U1, ROOMS, *(types.int64,) * 5, I4, I4, ROWS,
    ),
    chain_paths.find_runs: (ROWS, I8, I8, U1, U1, I4, I8, U4, I8),
    chain_paths.pack_runs: (U4, I8, I8, U4),
}  # fmt: skip


@pytest.mark.parametrize("capability", [(8, 0), (10, 0)], ids=["sm_80", "sm_100"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.py_func.__name__)
def test_the_kernel_compiles(kernel, capability):
    compiled(kernel, KERNELS[kernel], capability)


def test_what_the_kernels_do_equals_the_cpu(monkeypatch):
    """The kernels run as Python, a thread after the other."""
    threads, chains = PretendedThreads(), []

    def launch(kernel, items, arena, *arguments):
        once = kernel in (chain_paths.unpack, chain_paths.pack_runs)
        for threads.number in range(1 if once else 16):
            kernel.py_func(*arguments)

    monkeypatch.setattr(chain_paths, "cuda", threads)
    monkeypatch.setattr(chain_paths, "launch", launch)
    monkeypatch.setattr(chain_paths, "_matrix", chain_paths._matrix.py_func)
    monkeypatch.setattr(chain_paths, "MOST_THREADS", 16)
    align_chains = edits.align_chains

    def both(*arguments):
        reads, reference, *others = arguments
        expected = align_chains(*arguments)
        found = chain_paths.align_chains(on_device(reads), on_device(reference), *others, PretendedArena())
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        chains.append(len(expected[0]))
        return expected

    monkeypatch.setattr(edits, "align_chains", both)
    params = MapParams(
        sketch=SketchParams(kmer_length=9, window=3),
        chain=AnchorChainParams(min_seeds=1, min_score=15),
        choice=ChoiceParams(min_score=20),
    )
    for seed in range(3):
        reference, reads = case(seed)
        map_reads(reads_of(reference), reads_of(reads), params, threads=1, device="cpu")
    assert sum(chains) >= 15
