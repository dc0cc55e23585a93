"""Time the SpGEMM finder, and scipy's A @ A.T on the same matrix, in turn.

    python -m tests.benchmarks.spgemm READS.fasta [--kmer-length 17] [--threads 1] [--runs 3]

Ours collects position pairs, bins them and writes candidates, and makes the upper half; scipy counts only,
and makes the whole product. scipy runs on one thread. Times are the least of all runs, in seconds.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse

from overlapper.candidates.spgemm import SpgemmFinder
from overlapper.io import read_fastx
from overlapper.params.stages import Params, SketchParams
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.sketch.counting import count_kmers
from tests.benchmarks.harness import parser_of, timed


def matrix_of(reads, finder):
    """Return A with ones for entries."""
    counts = count_kmers(
        reads,
        finder.product.kmer_length,
        lower=finder.kmers.lower,
        upper=finder.kmers.upper,
        sampled=finder.kmers.sampled,
    )
    columns = np.repeat(np.arange(len(counts.column_offsets) - 1), np.diff(counts.column_offsets))
    shape = len(reads), len(counts.column_offsets) - 1
    ones = np.ones(len(columns), np.int32)
    return scipy.sparse.csr_array((ones, (counts.occurrences >> 32, columns)), shape=shape)


def find_all(finder, threads):
    """Return how many candidates there are."""
    bounds = cut_evenly(finder.product.rows.products, 1 << 19).tolist()
    blocks = list(itertools.pairwise(bounds))
    return sum(map_in_order(lambda block: len(finder.find(*block)), blocks, threads))


def main():
    parser = parser_of(__doc__, "reads", kmer_length=17, threads=1, runs=3)
    arguments = parser.parse_args()
    threads = arguments.threads
    reads = read_fastx(arguments.reads)
    reads = reads.take(np.argsort(-reads.lengths, kind="stable"))
    params = Params(sketch=SketchParams(kmer_length=arguments.kmer_length))
    few = reads.take(np.arange(min(len(reads), 20)))
    SpgemmFinder.prepare(few, params, 1).find(0, len(few))

    prepare, ours, peer = [], [], []
    for _ in range(arguments.runs):
        finder, seconds = timed(lambda: SpgemmFinder.prepare(reads, params, threads))
        prepare.append(seconds)
        candidates, seconds = timed(lambda finder=finder: find_all(finder, threads))
        ours.append(seconds)
        matrix = matrix_of(reads, finder)
        product, seconds = timed(lambda matrix=matrix: matrix @ matrix.T.tocsr())
        peer.append(seconds)
    upper = scipy.sparse.triu(product, 1)
    print(f"{reads.total_bases / 1e6:.1f} Mb, {len(reads)} reads, {finder.counts()}")
    print(f"prepare {min(prepare):.2f}, product and bins {min(ours):.2f} ({threads} threads)")
    print(f"scipy A @ A.T {min(peer):.2f}, ratio {min(peer) / min(ours):.2f}")
    print(
        f"position pairs {finder.product.rows.products.sum()}, scipy {upper.sum()}; candidates {candidates}"
    )


if __name__ == "__main__":
    main()
