"""X-drop on one GPU: the work that LOGAN publishes, 100,000 pairs of 2.5 to 7.5 kb that differ in 15 %.

    python -m tests.benchmarks.xdrop_gpu [--pairs 100000] [--xdrop 10 100 ...] [--rounds 3] [--unrelated]
    python -m tests.benchmarks.xdrop_gpu --gpus 1 2 4 --pairs 2000000 --xdrop 100

Kernel time is that of the kernels alone, the reads and seeds on the device. Whole time takes packed reads in
host memory to extensions in host memory: copies, sorting of the work, kernels; the GPU has been made ready
before, as it is when a run starts. The fastest round counts. With ``--gpus`` whole times on so many GPUs are
printed instead, and the results compared.
"""

import hashlib
import time
from collections import Counter
from functools import partial

import numpy as np

from overlapper.gpu.gpus import Gpus
from overlapper.kernels.common.cuda.walks import upload_reads
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.xdrop.cuda import xdrop
from overlapper.kernels.xdrop.xdrop import Scheme
from overlapper.params.stages import XdropParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Reads
from tests.benchmarks.gpu_times import timed_launches
from tests.benchmarks.harness import parser_of, timed
from tests.simulated_pairs import simulate_pairs

BATCH = 25_000
"""Seeds that a GPU is given at a time."""
LOGAN = {10: 1.71, 20: 1.69, 50: 1.83, 100: 1.88, 500: 3.29, 1000: 4.87, 5000: 14.5}
"""LOGAN's GPU seconds on an H200, the seed at the start."""


def kernel_seconds(reads, seeds, scheme, arena):
    """Return what each kernel was given, and its seconds."""
    with timed_launches() as launches:
        tried = xdrop.extend_seeds(reads, seeds, scheme, arena).tried
    seconds = Counter()
    for kernel, _, taken in launches:
        constants = kernel.source.constants
        rows = 16 * constants[0] * constants[1] if constants else "any"
        extends = kernel.source.module == "xdrop.xdrop_grouped"
        seconds[f"{rows} rows" if extends else "planning"] += taken
    return [(name, tried.get(name, 0), taken) for name, taken in seconds.items()]


def whole_seconds(reads, seeds, scheme):
    """Return the seconds from packed reads to extensions on a GPU that was made ready before."""
    kernel = partial(xdrop.extend_seeds, scheme=scheme)
    batches = [
        Seeds._make([*(column[begin : begin + BATCH] for column in seeds[:-1]), seeds.length])
        for begin in range(0, len(seeds.query), BATCH)
    ]
    with Gpus(select_devices("cuda:0")) as gpus:
        time.sleep(1)
        begin = time.perf_counter()
        gpus.hold(table_of(reads))
        list(map_in_order(partial(gpus.run, kernel), batches, gpus.slots))
        return time.perf_counter() - begin


def scaling(options, x):
    """Extend pairs on more and more GPUs; they are few, and come again and again."""
    few = 50_000
    lengths = np.random.default_rng(1).integers(2500, 7501, few)
    reads, seeds = simulate_pairs(lengths, np.full(few, 0.15), seed=1)
    batches = [seeds] * -(-options.pairs // few)
    kernel = partial(xdrop.extend_seeds, scheme=Scheme(**vars(XdropParams(xdrop=x))))
    first = None
    for number in options.gpus:
        best = float("inf")
        for _ in range(options.rounds + 1):
            with Gpus(select_devices("cuda:" + ",".join(map(str, range(number))))) as gpus:
                gpus.hold(table_of(reads))
                extend = partial(gpus.run, kernel)
                list(map_in_order(extend, batches[: gpus.slots], gpus.slots))
                parts, seconds = timed(lambda e=extend, n=gpus.slots: list(map_in_order(e, batches, n)))
            best = min(best, seconds)
        digest = hashlib.sha256(b"".join(part[0][1].extensions.tobytes() for part in parts)).hexdigest()
        first = first or (best * number, digest)
        verdict = "the same bytes" if digest == first[1] else "DIFFERENT BYTES"
        told = f"{best:.3f} s, efficiency {first[0] / best / number:.3f}, {verdict}"
        print(f"{number} GPUs: {few * len(batches):,} pairs, X = {x}: {told}", flush=True)


def table_of(reads):
    """Return packed reads as a table, without names."""
    nothing = np.zeros(len(reads.lengths) + 1, np.int64)
    return Reads(name_bytes=np.empty(0, np.uint8), name_offsets=nothing, **reads._asdict())


def main():
    parser = parser_of(__doc__, pairs=100_000, rounds=3)
    parser.add_argument("--xdrop", type=int, nargs="+", default=list(LOGAN))
    parser.add_argument("--unrelated", action="store_true", help="pairs that share nothing but the seed")
    parser.add_argument("--gpus", type=int, nargs="+", help="numbers of GPUs")
    arguments = parser.parse_args()
    print(select_devices("cuda")[0])
    if arguments.gpus:
        for x in arguments.xdrop:
            scaling(arguments, x)
        return
    rng = np.random.default_rng(1)
    lengths = rng.integers(2500, 7501, arguments.pairs)
    errors = np.full(arguments.pairs, 1.0 if arguments.unrelated else 0.15)
    print(f"{'seed':8}{'X':>6}{'kernel s':>10}{'whole s':>9}{'LOGAN/kernel':>14}  kernels: extensions, s")
    for place, share in (("inside", 0.5), ("start", 0.0)):
        reads, seeds = simulate_pairs(lengths, errors, seed=1, seed_share=share)
        on_device, arena = upload_reads(reads, Arena(1 << 32)), Arena(1 << 32)
        for x in arguments.xdrop:
            scheme = Scheme(**vars(XdropParams(xdrop=x)))
            fastest, whole = None, float("inf")
            for _ in range(arguments.rounds + 1):  # the first one compiles
                parts = kernel_seconds(on_device, seeds, scheme, arena)
                if fastest is None or sum(p[2] for p in parts) < sum(p[2] for p in fastest):
                    fastest = parts
                whole = min(whole, whole_seconds(reads, seeds, scheme))
            total = sum(part[2] for part in fastest)
            shares = "; ".join(f"{name}: {count}, {seconds:.4f}" for name, count, seconds in fastest)
            ratio = f"{LOGAN[x] / total:14.0f}" if x in LOGAN else " " * 14
            print(f"{place:8}{x:6}{total:10.4f}{whole:9.3f}{ratio}  {shares}", flush=True)


if __name__ == "__main__":
    main()
