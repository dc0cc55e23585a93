"""The whole program on GPUs and on the CPU of the same machine, and extensions alone on more and more GPUs.

    python -m tests.benchmarks.overlap_gpu whole READS [--extender xdrop] [--rounds 3]
    python -m tests.benchmarks.overlap_gpu scaling [--pairs 2000000] [--gpus 1 2 4]

`whole` runs `overlapper overlap` from file to file, D-SOFT and an extension of every candidate, and prints
the wall-clock seconds of each stage, those of starting, reading and writing as what the stages leave over;
the files are compared. The first round compiles and does not count. Use an uncompressed FASTA file.

`scaling` extends simulated pairs, packed in host memory, on 1, 2, 4 ... GPUs; the results are compared.
"""

import hashlib
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from overlapper.runtime.threads import map_in_order
from tests.benchmarks.harness import overlapped, parser_of


def run_program(reads, device, extender, folder):
    """Return seconds by stage, the funnel, and the digest of the file."""
    options = ("--preset", "clr", "--extender", extender, "--device", device)
    wall, told, digest = overlapped(reads, Path(folder), *options)
    seconds = told["seconds"]
    seconds["start, read, write"] = wall - sum(seconds.values())
    return {**seconds, "wall": wall}, told["funnel"], digest


def whole(arguments):
    print(f"{os.path.getsize(arguments.reads) / 1e6:.0f} MB, extender {arguments.extender}")
    with tempfile.TemporaryDirectory() as folder:
        best, digests, funnels = {}, {}, {}
        for number in range(arguments.rounds + 1):
            for device in arguments.devices:
                seconds, funnels[device], digests[device] = run_program(
                    arguments.reads, device, arguments.extender, folder
                )
                print(f"round {number} {device:8} " + "  ".join(f"{k} {v:.2f}" for k, v in seconds.items()))
                if number and (device not in best or seconds["wall"] < best[device]["wall"]):
                    best[device] = seconds
    for device, seconds in best.items():
        print(f"best {device:8} " + "  ".join(f"{k} {v:.2f}" for k, v in seconds.items()))
    for device, funnel in funnels.items():
        print(device, funnel)
    print("the same bytes" if len(set(digests.values())) == 1 else f"DIFFERENT BYTES: {digests}")


def scaling(arguments):
    from overlapper.gpu.gpus import Gpus
    from overlapper.kernels.xdrop.cuda import xdrop
    from overlapper.kernels.xdrop.xdrop import Scheme
    from overlapper.params.stages import XdropParams
    from overlapper.runtime.gpu.devices import select_devices
    from tests.benchmarks.xdrop_gpu import table_of
    from tests.simulated_pairs import simulate_pairs

    # Reads are few and pairs many: each pair comes again and again.
    few = 50_000
    lengths = np.random.default_rng(1).integers(2500, 7501, few)
    reads, seeds = simulate_pairs(lengths, np.full(few, 0.15), seed=1)
    again = -(-arguments.pairs // few)
    batches = [seeds] * again
    kernel = partial(xdrop.extend_seeds, scheme=Scheme(**vars(XdropParams(xdrop=arguments.xdrop))))
    first = None
    for gpus in arguments.gpus:
        devices = select_devices("cuda:" + ",".join(map(str, range(gpus))))
        best = float("inf")
        for _ in range(arguments.rounds + 1):
            with Gpus(devices) as opened:
                opened.hold(table_of(reads))
                list(map_in_order(partial(opened.run, kernel), batches[: opened.slots], opened.slots))
                begin = time.perf_counter()
                parts = list(map_in_order(partial(opened.run, kernel), batches, opened.slots))
                seconds = time.perf_counter() - begin
            best = min(best, seconds)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part[0][1].extensions.tobytes())
        first = first or (best * gpus, digest.hexdigest())
        verdict = "the same bytes" if digest.hexdigest() == first[1] else "DIFFERENT BYTES"
        print(
            f"{gpus} GPUs: {again * few:,} pairs, X = {arguments.xdrop}: {best:.3f} s, efficiency "
            f"{first[0] / best / gpus:.3f}, {verdict}",
            flush=True,
        )


def main():
    parser = parser_of(__doc__, rounds=3)
    kinds = parser.add_subparsers(required=True)
    kind = kinds.add_parser("whole")
    kind.add_argument("reads")
    kind.add_argument("--extender", default="xdrop")
    kind.add_argument("--devices", nargs="+", default=["cpu", "cuda:0"])
    kind.set_defaults(run=whole)
    kind = kinds.add_parser("scaling")
    kind.add_argument("--pairs", type=int, default=2_000_000)
    kind.add_argument("--xdrop", type=int, default=100)
    kind.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 4])
    kind.set_defaults(run=scaling)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
