"""Mapping on GPUs beside the CPU of the same machine, in one process.

    python -m tests.benchmarks.map_gpu REFERENCE READS --preset ont --extenders edits,gact --threads 4,32

Reads and reference are in memory, kernels compiled and GPUs made ready before; what is timed goes from there
to tables of mappings. `overlapper map --stats` tells times from file to file. Of each extender, device and
number of threads: wall-clock seconds, the best of all rounds, and seconds that all threads together spent in
each stage; with a GPU, waiting for it is among those of extension. Mappings of all devices are compared.
"""

from __future__ import annotations

import dataclasses
import sys
import time

import numpy as np

from overlapper.io import read_fastx
from overlapper.mapping.mapper import STAGES, BatchMapper, extending_gpus
from overlapper.params.mapping import MapParams
from overlapper.tables import Mappings, Reads
from tests.benchmarks.harness import parser_of

WARM_UP_READS = 400


def main() -> None:
    parser = parser_of(__doc__, "reference", "reads", preset="ont", extenders="edits,gact,xdrop", rounds=2)
    parser.add_argument("--devices", default="cpu cuda:0", help="blanks between them")
    parser.add_argument("--threads", default="4,32", help="numbers of threads, commas between them")
    arguments = parser.parse_args()
    reference, reads = read_fastx(arguments.reference), read_fastx(arguments.reads)
    print(f"{reads.total_bases / 1e6:.1f} Mb of reads")
    print("extender  device   threads  wall s  " + "  ".join(STAGES), flush=True)
    for extender in arguments.extenders.split(","):
        params = dataclasses.replace(MapParams.preset(arguments.preset), extender=extender)
        expected = None
        for device in arguments.devices.split():
            with extending_gpus(extender, device) as gpus:
                prepared = BatchMapper.prepare(reference, params, 0, gpus)
                list(prepared.map(reads.take(np.arange(min(WARM_UP_READS, len(reads))))))
                for threads in map(int, arguments.threads.split(",")):
                    wall, stages, mappings = best_round(prepared, reads, threads, arguments.rounds)
                    parts = "  ".join(f"{stages[stage]:{len(stage)}.2f}" for stage in STAGES)
                    print(f"{extender:9} {device:8} {threads:7} {wall:7.3f}  {parts}", flush=True)
                    expected = expected or mappings
                    if not same(mappings, expected):
                        sys.exit(f"{extender}: {device} finds other mappings than the first device")


def best_round(
    prepared: BatchMapper, reads: Reads, threads: int, rounds: int
) -> tuple[float, dict[str, float], Mappings]:
    """Return seconds of the fastest round, those of its stages, and the mappings."""
    best: tuple[float, dict[str, float]] = (float("inf"), {})
    for _ in range(rounds):
        mapper = dataclasses.replace(
            prepared, counts=type(prepared.counts)(), seconds=type(prepared.seconds)()
        )
        start = time.perf_counter()
        tables = [mappings for _, mappings in mapper.map(reads, threads)]
        best = min(best, (time.perf_counter() - start, dict(mapper.seconds)), key=lambda row: row[0])
    return *best, Mappings.concat(tables)


def same(one: Mappings, other: Mappings) -> bool:
    """Return whether two tables hold the same bytes."""
    names = [field.name for field in dataclasses.fields(one)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


if __name__ == "__main__":
    main()
