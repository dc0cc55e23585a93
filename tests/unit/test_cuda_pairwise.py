"""Batches in chunks on a pretended GPU, which computes on the CPU: everything comes to its place."""

import contextlib
import threading
import time

import numpy as np
import pytest

from overlapper.errors import DeviceError
from overlapper.extend import pairwise_gpu
from overlapper.extend.pairwise_gpu import GpuPairs
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.kernels.pairwise import pairwise_chunks as chunks
from tests.random_pairs import random_pairs
from tests.read_sets import packed_reads
from tests.unit.test_pairwise_chunks import CLASSES, text_at

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

MATRIX = np.where(np.eye(5, dtype=bool), 1, -4)
SCHEME = cpu.Scheme(MATRIX, -6, -1, False, 5, -1)


class PretendedAligner:
    """Aligns what it reads from chunks, all pairs but every seventh, those before later ones more slowly."""

    classes, room = CLASSES, 3000

    def __init__(self, wanted):
        self.wanted, self.fails_at = wanted, -1

    def stage(self, extent):
        return np.zeros(chunks.bytes_of(extent), np.uint8)

    def align(self, extent, block, class_starts):
        if extent.begin == self.fails_at:
            raise DeviceError("the GPU is gone")
        time.sleep(0.02 * (extent.begin % 3))
        chunk = chunks.chunk_in(block, extent)
        offset, n, m, flags, _ = chunk.numbers.tolist()
        queries = packed_reads([text_at(chunk, at, length) for at, length in zip(offset, n, strict=True)])
        targets = packed_reads(
            [text_at(chunk, at + -(-q // 32), t) for at, q, t in zip(offset, n, m, strict=True)]
        )
        number, flags = np.arange(len(n), dtype=np.int32), np.array(flags, np.uint8)
        pairs = cpu.Pairs(number, number, flags & 3, flags >> 2)
        rows, self.cigar, offsets = cpu.align_pairs(queries, targets, pairs, SCHEME, 32, self.wanted)
        left = np.flatnonzero((number + extent.begin) % 7 == 0)
        runs = np.diff(offsets)
        self.cigar = self.cigar[~np.repeat(np.isin(number, left), runs)]
        rows[left], runs[left] = 0, 0
        self.rows = np.vstack([rows.T, runs])
        return left

    def found(self):
        return self.rows

    def write_cigars(self, offsets, cigar):
        assert offsets[-1] == len(self.cigar) == len(cigar)
        cigar[:] = self.cigar


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr("overlapper.runtime.gpu.driver.use", contextlib.nullcontext)

    def align(texts, wanted, fails_at=-1):
        own = threading.local()

        def aligner(self):
            if not hasattr(own, "aligner"):
                own.aligner = PretendedAligner(wanted)
                own.aligner.fails_at = fails_at
            return own.aligner

        monkeypatch.setattr(GpuPairs, "_aligner", aligner)
        monkeypatch.setattr(pairwise_gpu, "CHUNK_BYTES", PretendedAligner.room)
        queries, targets = (packed_reads(side) for side in zip(*texts, strict=True))
        number, flags = np.arange(len(texts), dtype=np.int32), np.zeros(len(texts), np.uint8)
        pairs = cpu.Pairs(number, number, flags, flags + 1)
        gpu = GpuPairs(0, SCHEME, wanted, 4)
        found = gpu.submit(queries, targets, pairs, lambda found: found).result(timeout=60)
        gpu.pool.shutdown()
        return found, cpu.align_pairs(queries, targets, pairs, SCHEME, 32, wanted)

    return align


@pytest.mark.parametrize("wanted", [cpu.ENDS, cpu.STARTS, cpu.PATHS])
def test_chunks_are_joined_in_order(run, wanted):
    texts = random_pairs(1, 300, 60)
    texts[10:12], texts[200] = [("", "ACGT"), ("A", "")], ("ACG", "ACG")
    found, (rows, cigar, offsets) = run(texts, wanted)
    kept = [0, 2, 4] if wanted == cpu.ENDS else range(7)
    for k, field in enumerate(found.fields):
        assert np.array_equal(field, rows[:, k]) if k in kept else not len(field)
    if wanted == cpu.PATHS:
        assert np.array_equal(found.cigar_offsets, offsets)
        assert np.array_equal(found.cigar(), cigar)


def test_a_failure_ends_the_batch(run):
    with pytest.raises(DeviceError, match="the GPU is gone"):
        run([("ACGT" * 10, "ACGT" * 10)] * 300, cpu.PATHS, fails_at=0)


def test_a_small_batch_takes_the_memory_of_one_thread(run, monkeypatch):
    taken, take = [], GpuPairs._work
    monkeypatch.setattr(GpuPairs, "_work", lambda self, batch: (taken.append(batch), take(self, batch)))
    run([("ACGT" * 10, "ACGT" * 10)] * 20, cpu.ENDS)
    assert len(taken) == 1
