"""Pairwise alignment on one GPU: local, +1 -4 -6 -n, ten million short pairs as GASAL2 was measured on.

    python -m tests.benchmarks.pairwise_gpu [--pairs 10000000] [--rounds 3]

Targets are random; a query is a piece of its target that differs in 5 %. Kernel time is that of all kernels
with all pairs in one chunk, on the device. The time of a call goes from packed sequences in ordinary host
memory to the table of alignments; the aligner has taken its memory before, and results get that of results
that are gone. The fastest round counts. GASAL2's figures are its kernel's on an H200.
"""

import time

import numpy as np
from numba import njit

from overlapper.extend.pairwise import Aligner, Batch
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.kernels.pairwise.cuda.pairwise import PairAligner
from overlapper.kernels.pairwise.pairwise_chunks import chunk_in, extent_of, pack
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.gpu.memory import Arena
from overlapper.tables import Pairs, Reads
from tests.benchmarks.gpu_times import timed_launches
from tests.benchmarks.harness import parser_of
from tests.oracle.pairwise import simple_matrix

SHAPES = {"DS100": (100, 162), "DS150": (150, 260), "DS300": (300, 536), "1 kb": (1000, 1000)}
GASAL2 = {"DS100": (0.174, 0.303), "DS150": (0.405, 0.700), "DS300": (1.73, 4.22)}
DISTINCT = 200_000


@njit(cache=True)
def _simulate(pairs, n, m, seed):
    np.random.seed(seed)
    sides = (np.zeros((pairs, (n + 31) // 32), np.uint64), np.zeros((pairs, (m + 31) // 32), np.uint64))
    target = np.zeros(m, np.uint8)
    for p in range(pairs):
        for j in range(m):
            target[j] = np.random.randint(4)
            sides[1][p, j // 32] |= np.uint64(target[j]) << np.uint64(2 * (j % 32))
        j = np.random.randint(max(m - n, 1))
        for i in range(n):
            kind = np.random.random()
            base = np.uint8(np.random.randint(4))
            if kind >= 0.05 and j < m:
                base = target[j]
            if kind >= 0.035:
                j += 1
            if 0.035 <= kind < 0.05:
                j += 1
            sides[0][p, i // 32] |= np.uint64(base) << np.uint64(2 * (i % 32))
    return sides


def reads_of(words, count, length):
    """Return so many reads of a length; the given ones over and over."""
    repeats = -(-count // len(words))
    width = words.shape[1]
    none = np.empty(0, np.int32)
    nowhere = np.zeros(count + 1, np.int64)
    return Reads(
        np.full(count, length, np.int64), np.tile(words.ravel(), repeats)[: count * width],
        np.arange(count + 1) * width, none, none, nowhere, np.empty(0, np.uint8), nowhere,
    )  # fmt: skip


def kernel_seconds(queries, targets, pairs, wanted, rounds):
    """Return the seconds of each kernel in the fastest round after one that compiles."""
    scheme = cpu.Scheme(np.array(simple_matrix(1, -4, -1)), -6, -1, True, 0, -1)
    aligner = PairAligner(scheme, wanted, Arena(60 << 30, np.empty(6 << 30, np.uint8)))
    reads = PackedReads.of(queries), PackedReads.of(targets)
    columns = cpu.Pairs(pairs.query, pairs.target, pairs.q_flags, pairs.t_flags)
    extent = extent_of(*reads, columns, 0, len(pairs), aligner.room)
    assert extent.end == len(pairs), "the pairs do not fit one chunk"
    seconds = []
    for _ in range(rounds + 1):
        block = aligner.stage(extent)
        starts = pack(*reads, columns, 0, aligner.classes, chunk_in(block, extent))
        with timed_launches() as launches:
            aligner.align(extent, block, starts)
            if wanted == cpu.PATHS:
                runs = np.concatenate([[0], aligner.found()[-1].cumsum()])
                aligner.write_cigars(runs, np.empty(runs[-1], np.uint32))
        times: dict[str, float] = {}
        for one in launches:
            times[one.kernel.source.name] = times.get(one.kernel.source.name, 0.0) + one.seconds
        seconds.append(times)
    return min(seconds[1:], key=lambda times: sum(times.values()))


def call_seconds(queries, targets, pairs, report, rounds):
    """Return the seconds of each call of one aligner, the first of which compiles and takes memory."""
    seconds = []
    with Aligner("local", report=report, device="cuda:0") as aligner:
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            found = aligner.submit(Batch(queries, targets, pairs)).result()
            seconds.append(time.perf_counter() - begin)
            assert len(found) == len(pairs)
            del found
    return seconds


def main():
    parser = parser_of(__doc__, pairs=10_000_000, rounds=3)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    arguments = parser.parse_args()
    print(select_devices("cuda")[0])
    print(f"{'shape':8}{'wanted':8}{'kernels s':>11}{'TCUPS':>7}{'GASAL2 / kernels':>18}{'call s':>9}")
    for shape in arguments.shapes:
        n, m = SHAPES[shape]
        count = arguments.pairs if n < 1000 else arguments.pairs // 50
        words = _simulate(min(count, DISTINCT), n, m, 1)
        queries, targets = reads_of(words[0], count, n), reads_of(words[1], count, m)
        number = np.arange(count, dtype=np.int32)
        pairs = Pairs.numbered(number, number)
        for name, wanted, report in (("score", cpu.ENDS, "end"), ("cigar", cpu.PATHS, "cigar")):
            parts = kernel_seconds(queries, targets, pairs, wanted, arguments.rounds)
            kernels = sum(parts.values())
            calls = call_seconds(queries, targets, pairs, report, arguments.rounds)
            rate = count * n * m / kernels / 1e12
            peer = GASAL2.get(shape)
            ratio = f"{peer[wanted == cpu.PATHS] / kernels:.1f}" if peer else ""
            shares = ", ".join(f"{kernel} {s:.4f}" for kernel, s in parts.items())
            others = " ".join(f"{s:.3f}" for s in calls)
            print(f"{shape:8}{name:8}{kernels:11.4f}{rate:7.2f}{ratio:>18}{min(calls[1:]):9.3f}", flush=True)
            print(f"    kernels: {shares}; calls: {others}", flush=True)


if __name__ == "__main__":
    main()
