"""Time and memory of the overlap graph against the number of overlaps.

``python -m tests.benchmarks.graph_scale 1e5 1e6 1e7`` simulates reads of a genome with repeat families of
heavy-tailed sizes: two thirds of the overlaps are true, one third join reads of the same family by dovetails
that are false. Each size runs twice, in a process of its own: with gamma-distributed read lengths, where most
reads are contained, and with even ones, where nearly every overlap becomes an edge. Nothing is read from
disk.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

import numpy as np

from overlapper.graph.build import connect
from overlapper.graph.clean import clean
from overlapper.graph.layout import layout
from overlapper.graph.pairs import pairs_of, without_repeats
from overlapper.graph.reduce import reduce
from overlapper.graph.trim import trim
from overlapper.params.graph import GraphParams
from overlapper.tables import Overlaps

COVERAGE, MEAN_LENGTH, MIN_OVERLAP = 20, 10_000, 2000


def simulate(overlaps, shape, seed=1):
    """Return read lengths, gamma-distributed with the given shape, and about that many overlaps."""
    draw = np.random.default_rng(seed)
    reads = max(int(overlaps * 2 / 3 / (COVERAGE * 0.8)), 10)
    lengths = np.sort(np.clip(draw.gamma(shape, MEAN_LENGTH / shape, reads), 2500, None).astype(np.int64))[
        ::-1
    ]
    start = draw.integers(0, reads * MEAN_LENGTH // COVERAGE, reads)
    reverse = draw.random(reads) < 0.5
    return lengths, Overlaps.concat(
        [true_overlaps(start, lengths, reverse), false_dovetails(draw, lengths, overlaps // 3)]
    )


def true_overlaps(start, lengths, reverse):
    by_start = np.argsort(start, kind="stable")
    start, lengths, strand = start[by_start], lengths[by_start], reverse[by_start]
    end = start + lengths
    found, step = [], 1
    while True:
        first = np.arange(len(start) - step)
        shared = np.minimum(end[first], end[first + step]) - start[first + step]
        if (lengths.max() < start[first + step] - start[first]).all():
            break
        first = first[shared >= MIN_OVERLAP]
        found.append(np.stack([first, first + step]))
        step += 1
    q, t = np.concatenate(found, axis=1)
    low, high = start[t], np.minimum(end[q], end[t])

    def on(read):
        left, right = low - start[read], high - start[read]
        return np.where(strand[read], lengths[read] - right, left), np.where(
            strand[read], lengths[read] - left, right
        )

    return table(by_start[q], by_start[t], strand[q] ^ strand[t], on(q), on(t))


def false_dovetails(draw, lengths, wanted):
    families, total = [], 0
    while total < wanted:
        size = min(int(draw.pareto(1.1) * 4) + 2, 300, len(lengths))
        families.append(
            draw.choice(len(lengths), size, replace=False)
            if size < 50
            else np.unique(draw.integers(0, len(lengths), size))
        )
        total += len(families[-1]) * (len(families[-1]) - 1) // 2
    pairs = [np.stack(np.triu_indices(len(f), 1)) for f in families]
    q, t = (np.concatenate([f[p[side]] for f, p in zip(families, pairs, strict=True)]) for side in (0, 1))
    reverse = draw.random(len(q)) < 0.5
    size = np.minimum(draw.integers(MIN_OVERLAP, 8000, len(q)), np.minimum(lengths[q], lengths[t]) - 10)
    at_end = draw.random(len(q)) < 0.5
    q_start = np.where(at_end, lengths[q] - size, 0)
    t_start = np.where(at_end ^ reverse, 0, lengths[t] - size)
    return table(q, t, reverse, (q_start, q_start + size), (t_start, t_start + size))


def table(q, t, reverse, on_q, on_t):
    swap = q > t
    zero = np.zeros(len(q), np.int32)
    pick = lambda a, b: np.where(swap, b, a)  # noqa: E731
    return Overlaps(
        query=pick(q, t), target=pick(t, q), reverse=reverse, q_start=pick(on_q[0], on_t[0]),
        q_end=pick(on_q[1], on_t[1]), t_start=pick(on_t[0], on_q[0]), t_end=pick(on_t[1], on_q[1]),
        matches=zero, block_length=zero, score=zero, seeds=zero, divergence=zero, kind=zero,
    )  # fmt: skip


def measure(overlaps, shape):
    lengths, rows = simulate(overlaps, shape)
    params, order = GraphParams(), np.arange(len(lengths))
    simulated = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = {}

    def timed(name, function, *args, **options):
        began = time.perf_counter()
        result = function(*args, **options)
        times[name] = time.perf_counter() - began
        return result

    pairs = timed("order", lambda: without_repeats(pairs_of(rows, order, threads=2)))
    trimmed = timed("trim", trim, pairs, rows, lengths, params, threads=2)
    built, _ = timed("connect", connect, pairs, rows, trimmed.start, trimmed.end, order, params, threads=2)
    del pairs
    reduced, _ = timed("reduce", reduce, built, threads=2)
    cleaned, _ = timed("clean", clean, reduced)
    found, _ = timed("layout", layout, cleaned)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(rows):>10,} overlaps {len(lengths):>9,} reads {len(built.edges):>10,} edges",
        f"{len(found):>7,} unitigs ",
        "  ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items()),
        f"  peak {peak / 2**20:.2f} GB ({simulated / 2**20:.2f} before)",
        f"  {sum(times.values()) / len(rows) * 1e6:.2f} us an overlap",
        flush=True,
    )


def main(sizes):
    context = multiprocessing.get_context("spawn")
    for size in sizes:
        for shape in (8, 1e9):
            process = context.Process(target=measure, args=(int(float(size)), shape))
            process.start()
            process.join()


if __name__ == "__main__":
    main(["1e4", *(sys.argv[1:] or ["1e5", "1e6"])])
