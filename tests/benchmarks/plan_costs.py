"""CPU time of the steps of a run in tiles; the constants of ``overlapper/tiled/costs.py`` are from here.

Run ``python -m tests.benchmarks.plan_costs READS [--preset clr] [--finder dsoft] [--extender chain]
[--memory 1]``, memory in GB. One thread, kernels compiled beforehand by a run on a tenth of the reads.
"""

import contextlib
import dataclasses
import itertools
import tempfile
import time

import numpy as np

from overlapper.extend.chain import with_typical
from overlapper.io import read_fastx
from overlapper.io.artifacts import writing
from overlapper.io.fastx import FastxParts
from overlapper.overlap.parts import write_strip
from overlapper.overlap.pipeline import planned
from overlapper.overlap.tile import BLOCK_BASES, Extension
from overlapper.overlap.tiles import Folder, Tiles, choose_seeds
from overlapper.sketch.estimates import estimate
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.workdir import Workdir
from tests.benchmarks.harness import parser_of


class Clock(dict):
    """CPU seconds by step."""

    @contextlib.contextmanager
    def of(self, step):
        start = time.process_time()
        yield
        self[step] = self.get(step, 0) + time.process_time() - start


def measure(parts, preset, changes, memory, folder):
    """Run in tiles, step by step; print what there was to do, and the seconds of each step."""
    clock, budget = Clock(), Budget.of(memory, 1)
    workdir = Workdir(folder)
    with clock.of("read"):
        store = store_reads(workdir, parts)
    params = planned(store, budget, preset, changes)
    with clock.of("seed"):
        seeds = choose_seeds(store, params, Folder(workdir, budget), 1)
        tiles = Tiles(store, seeds, params, results=workdir.folder / "overlaps")
        whole = None if seeds else tiles.load((0, 0), 1)
        params = with_typical(params, tiles.agreements(whole, None, 1))
    tiles, bounds, overlaps = dataclasses.replace(tiles, params=params), tiles.bounds, 0
    blocks = len(bounds) - 1
    for query, target in itertools.combinations_with_replacement(range(blocks), 2):
        with clock.of("join"):
            loaded = tiles.load((query, target), 1)
        with clock.of("overlap"), writing(tiles.results / f"{query}-{target}") as strip:
            queries = 0, int(bounds[query + 1] - bounds[query])
            extension = Extension(loaded, params, None)
            extended = [of_block for _, of_block in extension.overlaps([queries], 1, BLOCK_BASES)]
            write_strip(strip, extended)
        overlaps += sum(len(found) for found, _ in extended)
    workdir.close()
    estimates = estimate(store.mapped())
    bases, intact = int(store.lengths.sum()), estimates.kmer_survival(params.sketch.kmer_length)
    print(f"{len(store)} reads, {bases} bases, coverage {estimates.coverage:.1f}, {blocks} blocks")
    print(f"share of k-mers without error {intact:.3f}, window {params.sketch.window}, {overlaps} overlaps")
    print("CPU s:", {step: round(seconds, 2) for step, seconds in clock.items()})


def main():
    parser = parser_of(__doc__, "reads", preset="auto", finder="dsoft", extender="chain", memory=1.0)
    options = parser.parse_args()
    changes = {"finder": options.finder, "extender": options.extender}
    reads = read_fastx(options.reads)
    few = reads.take(np.arange(0, len(reads), 10))
    memory = int(options.memory * 2**30)
    with tempfile.TemporaryDirectory() as folder:
        measure([few], options.preset, changes, 1 << 30, f"{folder}/few")
        measure(FastxParts(options.reads), options.preset, changes, memory, f"{folder}/all")


if __name__ == "__main__":
    main()
