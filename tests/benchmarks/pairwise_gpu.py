"""Pairwise alignment on one GPU: local, +1 -4 -6 -n, ten million short pairs as GASAL2 was measured on.

    python -m tests.benchmarks.pairwise_gpu [--pairs 10000000] [--rounds 3]

Targets are random; a query is a piece of its target that differs in 5 %. Kernel time is that of all kernels,
sequences and pairs on the device. Whole time takes packed sequences in host memory to results in host memory.
The fastest round counts. GASAL2's figures are its kernel's on an H200.
"""

import argparse
import time

import numpy as np
from numba import cuda, njit

from overlapper.devices import select_devices
from overlapper.kernels.cpu import pairwise as cpu
from overlapper.kernels.cpu.walks import PackedReads
from overlapper.kernels.cuda import pairwise as device
from overlapper.kernels.cuda.memory import Arena
from overlapper.kernels.cuda.walks import upload_reads
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
    return PackedReads(
        np.tile(words.ravel(), repeats)[: count * width], np.arange(count + 1) * width,
        np.full(count, length, np.int64), none, none, np.zeros(count + 1, np.int64),
    )  # fmt: skip


def measured(task, rounds):
    """Return the least seconds of several rounds after one that compiles."""
    best = float("inf")
    for number in range(rounds + 1):
        cuda.synchronize()
        begin = time.perf_counter()
        task()
        cuda.synchronize()
        if number:
            best = min(best, time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES))
    arguments = parser.parse_args()
    print(select_devices("cuda")[0])
    arena = Arena.allocate(40 << 30)
    scheme = cpu.Scheme(np.array(simple_matrix(1, -4, -1)), -6, -1, True, 0, -1, False)
    print(f"{'shape':8}{'wanted':8}{'kernels s':>11}{'TCUPS':>7}{'whole s':>9}{'GASAL2 / kernels':>18}")
    for shape in arguments.shapes:
        n, m = SHAPES[shape]
        count = arguments.pairs if n < 1000 else arguments.pairs // 50
        words = _simulate(min(count, DISTINCT), n, m, 1)
        queries, targets = reads_of(words[0], count, n), reads_of(words[1], count, m)
        number = np.arange(count, dtype=np.int32)
        flags = np.zeros(count, np.uint8)
        pairs = cpu.Pairs(number, number, flags, flags)
        on_device = upload_reads(queries), upload_reads(targets)
        for name, wanted in (("score", cpu.ENDS), ("cigar", cpu.PATHS)):
            seconds = []
            for _ in range(arguments.rounds + 1):
                with device.kernel_times() as times:
                    device.align_pairs(*on_device, pairs, scheme, wanted, arena)
                seconds.append(times)
            kernels = min(sum(times.values()) for times in seconds[1:])
            parts = min(seconds[1:], key=lambda times: sum(times.values()))

            def whole(wanted=wanted, queries=queries, targets=targets, pairs=pairs):
                mark = arena.mark()
                reads = upload_reads(queries, arena), upload_reads(targets, arena)
                device.align_pairs(*reads, pairs, scheme, wanted, arena)
                arena.release(mark)

            total = measured(whole, arguments.rounds)
            rate = count * n * m / kernels / 1e12
            peer = GASAL2.get(shape)
            ratio = f"{peer[wanted == cpu.PATHS] / kernels:18.1f}" if peer else ""
            shares = ", ".join(f"{kernel} {s:.4f}" for kernel, s in parts.items())
            print(f"{shape:8}{name:8}{kernels:11.4f}{rate:7.2f}{total:9.3f}{ratio}  {shares}", flush=True)


if __name__ == "__main__":
    main()
