"""The whole program on one GPU beside all of a machine, file to file.

Run ``python -m tests.benchmarks.gpu_scale FOLDER [--gigabases 1] [--extender xdrop] [--processes 16]``. Reads
are simulated into the folder (CLR, 40x) unless they are there. Then the program runs in turn on the first GPU
and on all, in memory and in tiles, after a run on a part of the reads that compiles; the files must be equal,
and times by stage are printed. With Dask installed, tiles are also done by a worker for each GPU.
"""

import importlib.util
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from overlapper.runtime.gpu.devices import select_devices
from tests.benchmarks.harness import overlapped, overlapper, parser_of

COVERAGE = 40


def simulate(folder, bases, processes):
    """Write reads of a genome with repeats, drawn by several processes; return the file, and a part of it."""
    whole, part, genome = folder / "reads.fasta", folder / "reads-0.fasta", folder / "genome.fasta"
    if whole.exists():
        return whole, part
    overlapper(
        "simulate", "--genome-size", bases // COVERAGE, "--repeats", "40,6000,0.02", "-p", "clr", "-c", "0.1",
        "--reference-out", genome, "-o", folder / "few.fasta", "-q",
    )  # fmt: skip

    def draw(number):
        overlapper(
            "simulate", "--reference", genome, "-p", "clr", "-c", COVERAGE / processes, "--seed", number + 1,
            "-o", folder / f"reads-{number}.fasta", "-q",
        )  # fmt: skip

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(draw, range(processes)))
    with open(folder / "reads.part", "wb") as out:
        for number in range(processes):
            text = (folder / f"reads-{number}.fasta").read_bytes()
            out.write(text.replace(b">", f">{number}_".encode()))
    (folder / "reads.part").rename(whole)
    return whole, part


def main():
    parser = parser_of(__doc__, gigabases=1.0, extender="xdrop", processes=16, rounds=2)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    start = time.perf_counter()
    reads, part = simulate(options.folder, int(options.gigabases * 1e9), options.processes)
    print(f"reads: {reads.stat().st_size / 1e9:.2f} GB in {time.perf_counter() - start:.0f} s", flush=True)
    gpus = len(select_devices("cuda"))
    fixed = ("--preset", "clr", "--extender", options.extender)
    overlapped(part, options.folder, *fixed, "--device", "cuda")
    ways = {"in memory": ((), ()), "tiles": (("--memory", "32G"), ("--memory", "32G"))}
    if importlib.util.find_spec("distributed"):
        ways["tiles on Dask"] = (("--memory", "32G", "--workers", 1), ("--memory", "32G", "--workers", gpus))
    written = None
    for way, (of_one, of_all) in ways.items():
        best = {}
        for _ in range(options.rounds):
            for device, more in (("cuda:0", of_one), ("cuda", of_all)):
                seconds, told, digest = overlapped(reads, options.folder, *fixed, "--device", device, *more)
                print(f"{way}, {device}: {seconds:.1f} s, {told['seconds']}", flush=True)
                assert written in (None, digest), "the bytes differ"
                written = digest
                best[device] = min(seconds, best.get(device, seconds))
        print(f"{way}: {gpus} GPUs are {best['cuda:0'] / best['cuda']:.2f} times as fast as one", flush=True)


if __name__ == "__main__":
    main()
