"""GACT on one GPU: tiles a second with traceback, T 320 and O 120, beside what its operations allow.

    python -m tests.benchmarks.gact_gpu [--pairs 200000] [--length 10000] [--error 0.2] [--rounds 3]

Kernel time is that of the kernel of extensions alone, reads and seeds on the device; joined time adds the
kernels that make CIGARs of paths. Whole time takes packed reads in host memory to alignments in host memory:
allocation, copies, sorting of the work, kernels. The fastest round counts.
"""

import time

import numpy as np

from overlapper.kernels.common.cuda.walks import upload_reads
from overlapper.kernels.gact.cuda import gact
from overlapper.params.stages import GactParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.gpu.memory import Arena
from tests.benchmarks.gpu_times import timed_launches
from tests.benchmarks.harness import parser_of
from tests.simulated_pairs import simulate_pairs

SCHEMES = {"linear +1 -1 -1": (1, -1, 0, -1), "affine +2 -4 -4-2n": (2, -4, -4, -2)}
OPERATIONS = {"linear +1 -1 -1": 39, "affine +2 -4 -4-2n": 108}
"""Instructions of a step that go to the unit that limits, counted in the machine code for 9.0."""
CEILING = 16.5e12
"""Such instructions a second, a thread, measured on an H200."""


def measure(reads, seeds, scheme, rounds):
    """Return seconds of kernels, of these and joining, and of everything; tiles; bytes of CIGARs."""
    room, arena = Arena(1 << 32), Arena(1 << 35)
    on_device, mark = upload_reads(reads, room), room.mark()
    fastest = [float("inf")] * 3
    for _ in range(rounds + 1):  # the first one compiles
        begin = time.perf_counter()
        found = gact.extend_seeds(upload_reads(reads, room), seeds, scheme, arena)
        room.release(mark)
        whole = time.perf_counter() - begin
        with timed_launches() as launches:
            gact.extend_seeds(on_device, seeds, scheme, arena)
        extending = sum(one.seconds for one in launches if one.kernel is gact.kernel_of(scheme))
        seconds = (extending, sum(one.seconds for one in launches), whole)
        fastest = [min(pair) for pair in zip(fastest, seconds, strict=True)]
    return (*fastest, found.tiles, found.cigar.nbytes)


def main():
    parser = parser_of(__doc__, pairs=200_000, rounds=3)
    parser.add_argument("--length", type=int, default=10_000, help="mean; from half of it to one and a half")
    parser.add_argument("--error", type=float, default=0.2, help="1 for unrelated pairs")
    arguments = parser.parse_args()
    print(select_devices("cuda")[0])
    rng = np.random.default_rng(1)
    lengths = rng.integers(arguments.length // 2, arguments.length * 3 // 2, arguments.pairs)
    reads, seeds = simulate_pairs(lengths, np.full(arguments.pairs, arguments.error), seed=1)
    steps = 10 * 11 * 32  # of a tile: stripes, blocks, steps of a block
    print(
        f"{'scores':20}{'M tiles':>9}{'kernel s':>10}{'joined':>8}{'whole':>8}{'M tiles/s':>11}  TCUPS  share"
    )
    for name, scores in SCHEMES.items():
        scheme = gact.Scheme(**vars(GactParams(*scores)))
        kernel, joined, whole, tiles, size = measure(reads, seeds, scheme, arguments.rounds)
        rate = tiles / kernel
        share = rate * steps * OPERATIONS[name] / CEILING
        print(
            f"{name:20}{tiles / 1e6:9.2f}{kernel:10.4f}{joined:8.4f}{whole:8.3f}{rate / 1e6:11.1f}"
            f"{rate * 320 * 320 / 1e12:7.2f}{share:7.0%}  CIGARs {size / 1e6:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
