"""X-drop on one GPU: the work that LOGAN publishes, 100,000 pairs of 2.5 to 7.5 kb that differ in 15 %.

    python -m tests.benchmarks.xdrop_gpu [--pairs 100000] [--xdrop 10 100 ...] [--rounds 3] [--unrelated]

Kernel time is that of the kernels alone, the reads and seeds on the device. Whole time takes packed reads in
host memory to extensions in host memory: allocation, copies, sorting of the work, kernels. The fastest round
counts.
"""

import argparse
import time

import numpy as np
from numba import cuda

from overlapper.devices import select_devices
from overlapper.kernels.cpu.xdrop import Scheme
from overlapper.kernels.cuda import xdrop, xdrop_frame, xdrop_grouped, xdrop_wide
from overlapper.kernels.cuda.walks import upload_reads, upload_seeds
from overlapper.params import XdropParams
from tests.simulated_pairs import simulate_pairs

LOGAN = {10: 1.71, 20: 1.69, 50: 1.83, 100: 1.88, 500: 3.29, 1000: 4.87, 5000: 14.5}
"""LOGAN's GPU seconds on an H200, the seed at the start."""


def kernel_seconds(reads, seeds, scheme):
    """Run the kernels as `extend_items` does; return the seconds of each kernel and what it was given."""
    items = np.arange(2 * len(seeds.query))
    q_steps, t_steps = xdrop.walk_lengths(reads, seeds, items)
    order = np.argsort(-np.minimum(q_steps, t_steps), kind="stable")
    on_device = upload_seeds(seeds)
    device = cuda.get_current_device()
    blocks = xdrop.BLOCKS * device.MULTIPROCESSOR_COUNT
    parts = []
    group_of = xdrop.first_groups(scheme, q_steps, t_steps)
    for number, (lanes, words) in enumerate(xdrop.GROUPS):
        chosen = order[group_of[order] == number]
        if len(chosen):
            kernel = xdrop_grouped.grouped_kernel(lanes, words, device.compute_capability >= (9, 0))
            arguments = xdrop.arguments_of(reads, on_device, scheme, items[chosen])
            seconds = timed(kernel, blocks, xdrop_frame.THREADS, arguments)
            parts.append((f"{16 * lanes * words} rows", len(chosen), seconds))
            outgrown = arguments[-1].copy_to_host()[:, 0] == xdrop_grouped.OUTGROWN
            group_of[chosen[outgrown]] = number + 1
    chosen = order[group_of[order] == len(xdrop.GROUPS)]
    if len(chosen):
        arguments = xdrop.arguments_of(reads, on_device, scheme, items[chosen])
        cells = xdrop.wide_room(len(chosen), int(q_steps[chosen].max()), 0)
        seconds = timed(xdrop_wide.extend_wide, blocks, xdrop_wide.THREADS, (*arguments, cells))
        parts.append(("any rows", len(chosen), seconds))
    return parts


def timed(kernel, blocks, threads, arguments):
    """Return the seconds of one launch."""
    begin, end = cuda.event(), cuda.event()
    begin.record()
    kernel[blocks, threads](*arguments)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--xdrop", type=int, nargs="+", default=list(LOGAN))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unrelated", action="store_true", help="pairs that share nothing but the seed")
    arguments = parser.parse_args()
    print(select_devices("cuda")[0])
    rng = np.random.default_rng(1)
    lengths = rng.integers(2500, 7501, arguments.pairs)
    errors = np.full(arguments.pairs, 1.0 if arguments.unrelated else 0.15)
    print(f"{'seed':8}{'X':>6}{'kernel s':>10}{'whole s':>9}{'LOGAN/kernel':>14}  kernels: extensions, s")
    for place, share in (("inside", 0.5), ("start", 0.0)):
        reads, seeds = simulate_pairs(lengths, errors, seed=1, seed_share=share)
        on_device = upload_reads(reads)
        for x in arguments.xdrop:
            scheme = Scheme(**vars(XdropParams(xdrop=x)))
            fastest, whole = None, float("inf")
            for _ in range(arguments.rounds + 1):  # the first one compiles
                parts = kernel_seconds(on_device, seeds, scheme)
                if fastest is None or sum(p[2] for p in parts) < sum(p[2] for p in fastest):
                    fastest = parts
                begin = time.perf_counter()
                xdrop.extend_seeds(upload_reads(reads), seeds, scheme)
                whole = min(whole, time.perf_counter() - begin)
            total = sum(part[2] for part in fastest)
            shares = "; ".join(f"{name}: {count}, {seconds:.4f}" for name, count, seconds in fastest)
            ratio = f"{LOGAN[x] / total:14.0f}" if x in LOGAN else " " * 14
            print(f"{place:8}{x:6}{total:10.4f}{whole:9.3f}{ratio}  {shares}", flush=True)


if __name__ == "__main__":
    main()
