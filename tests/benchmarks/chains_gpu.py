"""From the seed index to the overlaps of chains, on the CPU and on a GPU, for reads of a file.

    python -m tests.benchmarks.chains_gpu READS [--preset auto] [--threads 16] [--rounds 2]

Printed are the seconds from an index in host memory to overlaps in host memory (best round; the GPU has been
made ready and has the reads, as when a run gets there), those of each kernel, and what else a block takes.
"""

import itertools
from collections import Counter

import numpy as np

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.extend import chain
from overlapper.extend.chain_gpu import ChainsOnGpus
from overlapper.gpu.gpus import Gpus
from overlapper.io.given import reads_given
from overlapper.overlap.presets import preset_params
from overlapper.overlap.tile import BLOCK_BASES, Tile, block_bases
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.threads import available_threads, cut_evenly, map_in_order
from overlapper.sketch.canonical import canonical_order, in_order
from tests.benchmarks.gpu_times import timed_launches
from tests.benchmarks.harness import fastest, parser_of, timed, told


def main():
    arguments = parser_of(__doc__, "reads", preset="auto", rounds=2, threads=available_threads()).parse_args()
    threads = arguments.threads
    reads = reads_given(arguments.reads, threads)
    reads = in_order(reads, canonical_order(reads, threads), threads)
    params, why = preset_params(reads, arguments.preset, threads, None)
    finder, _ = told(f"{why}; index", lambda: DsoftFinder.prepare(reads, params, threads))
    whole = Tile(reads, np.arange(len(reads)), reads, None, finder)
    params = chain.with_typical(params, whole.agreements(params, lambda: None, threads))

    def on_cpu():
        bounds = cut_evenly(reads.lengths, block_bases(BLOCK_BASES, finder.hits_per_base()))
        blocks = list(itertools.pairwise(bounds.tolist()))
        extended = map_in_order(
            lambda b: chain.extend(reads, finder.find(*b), params.chain, 1)[0], blocks, threads
        )
        return sum(map(len, extended))

    print(f"CPU, {threads} threads: {fastest({'': on_cpu}, arguments.rounds)['']:.3f} s, {on_cpu()} overlaps")
    with Gpus(select_devices("cuda:0")) as gpus:
        gpus.hold(reads)
        chains = ChainsOnGpus(gpus, finder, reads, params.chain)
        told("GPU, first query", lambda: chains.find(0, 1))
        blocks = list(itertools.pairwise(chains.blocks(0, len(reads)).tolist()))

        def on_gpu():
            return sum(
                len(found)
                for found, _ in map_in_order(lambda b: chains.find(*b), blocks, gpus.slots + threads)
            )

        seconds = fastest({"": on_gpu}, arguments.rounds)[""]
        print(f"GPU, {len(blocks)} blocks: {seconds:.3f} s, {on_gpu()} overlaps; {gpus.counts()}")
        _, alone = timed(lambda: [chains.find(*block) for block in blocks])
        with timed_launches() as launches:
            for block in blocks:
                chains.find(*block)
        kernels = Counter()
        for kernel, _, seconds in launches:
            kernels[kernel.source.name] += seconds
        print(f"a block at a time: {alone:.3f} s, of which kernels {kernels.total():.3f} s")
        for name, seconds in kernels.most_common():
            print(f"  {name:20}{seconds:8.4f}")


if __name__ == "__main__":
    main()
