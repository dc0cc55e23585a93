"""Pairwise alignment on the CPU beside parasail and edlib: ``python -m tests.benchmarks.pairwise``.

Pairs are simulated: the query is a piece of the target that differs in 5 %, equally many substitutions,
insertions and deletions. Scores are +1 -4 -6 -n. Of parasail the fastest of its vectorised kernels counts,
tried on a part of the pairs. All run on the same pairs in turn, on as many threads (the peers release the
lock); the least of several rounds counts. Pairs of 10 kb (``--pairs-10kb 16``) are aligned by edlib, too, and
by WFA2-lib where pywfa is installed.
"""

import importlib.util
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import edlib
import numpy as np
import parasail

import overlapper
from overlapper.params.scoring import Scoring
from overlapper.tables import Reads
from tests.benchmarks.harness import fastest, parser_of

LETTERS = np.frombuffer(b"ACGT", np.uint8)
KERNELS = {
    "score": ("striped_sat", "striped_16", "scan_sat", "scan_16", "diag_16"),
    "cigar": ("trace_striped_sat", "trace_striped_16", "trace_scan_sat", "trace_scan_16", "trace_diag_16"),
}
SHAPES = {"150 b in 260 b": (150, 260, 4000), "5 kb": (5000, 5000, 16)}
MODES = {"local": "sw", "global": "nw", "semi-global": "sg"}


def simulate(n, m, count, rate=0.05, seed=1):
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        target = rng.integers(0, 4, m)
        start = rng.integers(m - n + 1)
        piece = target[start : start + n]
        copies = rng.choice([0, 1, 2], n, p=[rate / 3, 1 - 2 * rate / 3, rate / 3])
        query = np.repeat(piece, copies)
        changed = rng.random(len(query)) < rate / 3
        query[changed] = rng.integers(0, 4, changed.sum())
        pairs.append(tuple(LETTERS[codes].tobytes().decode() for codes in (query, target)))
    return pairs


def parasail_task(pool, threads, kernel, pairs, traced):
    function = getattr(parasail, kernel)
    matrix = parasail.matrix_create("ACGT", 1, -4)

    def part(some):
        for query, target in some:
            result = function(query, target, 7, 1, matrix)
            if traced:
                result.cigar.seq  # noqa: B018

    return lambda: list(pool.map(part, [pairs[k::threads] for k in range(threads)]))


def edlib_task(pool, threads, pairs):
    def part(some):
        for query, target in some:
            edlib.align(query, target, mode="NW", task="path")

    return lambda: list(pool.map(part, [pairs[k::threads] for k in range(threads)]))


def wfa_part(pairs, options):
    from pywfa import WavefrontAligner

    aligner = WavefrontAligner(span="end-to-end", **options)
    for query, target in pairs:
        aligner.wavefront_align(target, query)
        aligner.cigartuples  # noqa: B018


def wfa_task(processes, count, pairs, **options):
    """pywfa keeps Python's lock: processes take the place of threads."""
    parts = [pairs[k::count] for k in range(count)]
    return lambda: list(processes.map(wfa_part, parts, [options] * count))


def main():
    parser = parser_of(__doc__, threads=2, rounds=3)
    parser.add_argument("--pairs-10kb", type=int, default=0, help="compare this many 10 kb pairs instead")
    arguments = parser.parse_args()
    threads = arguments.threads
    pool = ThreadPoolExecutor(threads)
    if arguments.pairs_10kb:
        return compare_10kb(pool, threads, arguments.pairs_10kb, arguments.rounds)
    print(f"{'pairs':16}{'mode':13}{'wanted':8}{'us a pair':>10}{'GCUPS':>7}{'parasail us':>13}{'ratio':>7}")
    for shape, (n, m, count) in SHAPES.items():
        pairs = simulate(n, m, count)
        few = pairs[: max(threads, count // 8)]
        tables = [Reads.from_sequences(map(str, range(count)), side) for side in zip(*pairs, strict=True)]
        cells = sum(len(query) * len(target) for query, target in pairs)
        for mode, prefix in MODES.items():
            for wanted, report in (("score", "end"), ("cigar", "cigar")):

                def ours(mode=mode, report=report, tables=tables):
                    overlapper.align(*tables, mode=mode, report=report, threads=threads)

                traced = wanted == "cigar"
                peers = {
                    kernel: parasail_task(pool, threads, f"{prefix}_{kernel}", few, traced)
                    for kernel in KERNELS[wanted]
                }
                tries = fastest(peers, 1)
                kernel = min(tries, key=tries.get)
                ours()
                taken = fastest({"ours": ours, "peer": peers[kernel]}, arguments.rounds)
                best, peer_best = taken["ours"] / count, taken["peer"] / len(few)
                print(
                    f"{shape:16}{mode:13}{wanted:8}{best * 1e6:10.1f}{cells / count / best / 1e9:7.1f}"
                    f"{peer_best * 1e6:13.1f}{peer_best / best:7.1f}  {kernel}",
                    flush=True,
                )
    return None


def compare_10kb(pool, threads, count, rounds):
    """Print alignments a second with CIGAR, global, of 10 kb pairs; unit costs beside edlib and WFA.

    WFA takes penalties of which an equal pair has none: twice ours, and the score of one base, or two, added.
    """
    pairs = simulate(10_000, 10_000, count, rate=0.1)
    few = pairs[:threads]
    tables = [Reads.from_sequences(map(str, range(count)), side) for side in zip(*pairs, strict=True)]
    unit = Scoring(0, -1, -1, 0, -1)
    tasks = {
        "ours, +1 -4 -6 -n": (count, lambda: overlapper.align(*tables, threads=threads)),
        "ours, band of 500": (count, lambda: overlapper.align(*tables, threads=threads, band=500)),
        "ours, unit costs": (count, lambda: overlapper.align(*tables, scoring=unit, threads=threads)),
        "parasail nw_trace_scan_16": (
            len(few), parasail_task(pool, threads, "nw_trace_scan_16", few, True),
        ),
        "edlib NW": (count, edlib_task(pool, threads, pairs)),
    }  # fmt: skip
    if importlib.util.find_spec("pywfa"):
        affine = {"distance": "affine", "mismatch": 10, "gap_opening": 12, "gap_extension": 3}
        processes = ProcessPoolExecutor(threads, multiprocessing.get_context("spawn"))
        for memory in ("high", "biwfa"):
            tasks[f"WFA2-lib, +1 -4 -6 -n, {memory}"] = (
                count, wfa_task(processes, threads, pairs, **affine, memory_mode=memory),
            )  # fmt: skip
        tasks["WFA2-lib, unit costs"] = count, wfa_task(processes, threads, pairs, distance="levenshtein")
    for name, (number, task) in tasks.items():
        print(f"{name:34}{number / fastest({name: task}, rounds)[name]:10.1f} alignments/s", flush=True)


if __name__ == "__main__":
    main()
