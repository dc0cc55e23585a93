"""Seeders x extenders of mappings in one process: who maps how many reads wrongly, and what it takes.

    python -m tests.benchmarks.map_matrix REFERENCE READS TRUTH --preset short --circular chrM

Indices are built once, every method maps a few reads before it is timed, and times are of the processor
alone: for many methods, on a machine that does other things besides.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from overlapper.io import read_fastx
from overlapper.io.truth import read_truth
from overlapper.mapping.extenders import MAP_EXTENDERS, map_extender
from overlapper.mapping.mapper import BatchMapper
from overlapper.mapping.seeders import SEEDERS
from overlapper.params.mapping import MapParams
from tests.benchmarks.harness import parser_of
from tests.mapping_scores import evaluate_mappings, reported_mappings

WARM_UP_READS = 50


def main() -> None:
    parser = parser_of(__doc__, "reference", "reads", "truth", preset="short", seed_length=19)
    parser.add_argument("--seeders", default=",".join(SEEDERS))
    parser.add_argument("--extenders", default=",".join(MAP_EXTENDERS))
    parser.add_argument("--circular", default="", help="names, commas between them")
    arguments = parser.parse_args()
    reference, reads = read_fastx(arguments.reference), read_fastx(arguments.reads)
    truth = read_truth(arguments.truth).of_reads(reads.names)
    lengths = dict(zip(reference.names, reference.lengths.tolist(), strict=True))
    circular = [name for name in arguments.circular.split(",") if name]
    few = reads.take(np.arange(min(WARM_UP_READS, len(reads))))
    base = MapParams.preset(arguments.preset)
    seeds = dataclasses.replace(base.seeds, length=arguments.seed_length)
    print("seeder\textender\tplaced\tmapped\twrong\twrong_q10\tcpu_s", flush=True)
    for seeder in arguments.seeders.split(","):
        params = dataclasses.replace(base, seeder=seeder, seeds=seeds)
        prepared = BatchMapper.prepare(reference, params, threads=1)
        for extender in arguments.extenders.split(","):
            params = dataclasses.replace(params, extender=extender)
            mapper = dataclasses.replace(prepared, params=params, extender=map_extender(extender))
            mapper.map_all(few, threads=1)
            start = time.process_time()
            mappings = mapper.map_all(reads, threads=1)
            seconds = time.process_time() - start
            result = evaluate_mappings(
                reported_mappings(mappings, reads, reference), truth, lengths, circular
            )
            sure = sum(b.wrong for b in result.by_quality if b.low >= 10)
            row = (seeder, extender, result.placed, result.mapped, result.wrong, sure, f"{seconds:.2f}")
            print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
