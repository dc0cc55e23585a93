"""GACT beside parasail and edlib, on one core: ``python -m tests.benchmarks.gact``.

Prints the speed of alignments with CIGAR on pairs of simulated reads, and how often GACT's score is that of
parasail's local alignment, which is optimal. Times are CPU seconds, the least of several runs that take
turns. parasail and edlib are told which two reads to align; GACT is told a seed in the middle of them as
well.
"""

import dataclasses
import time

import edlib
import numpy as np
import parasail

from overlapper.extend import gact
from overlapper.params.stages import GactParams
from overlapper.tables.candidates import Candidates
from overlapper.tables.reads import Reads
from tests.benchmarks.harness import fastest
from tests.read_sets import mutated, random_text

SEED = 15
ROUNDS = 3
SCHEMES = {"linear +1 -1 -1": (1, -1, 0, -1), "affine +2 -4 -4-2n": (2, -4, -4, -2)}


def simulate(pairs, length, rate, seed=1):
    """Return reads, candidates and texts of pairs that share a seed in the middle."""
    rng = np.random.default_rng(seed)
    texts, starts = [], []
    middle = length // 2
    for _ in range(pairs):
        text = random_text(rng, length)
        left, right = mutated(rng, text[:middle], rate), mutated(rng, text[middle + SEED :], rate)
        texts += [text, left + text[middle : middle + SEED] + right]
        starts.append(len(left))
    rows = np.arange(pairs)
    candidates = Candidates(
        query=2 * rows, target=2 * rows + 1, reverse=rows < 0, query_pos=np.full(pairs, middle),
        target_pos=np.array(starts), seeds=rows, span=rows, seed_length=SEED,
    )  # fmt: skip
    return Reads.from_sequences(map(str, range(2 * pairs)), texts), candidates, texts


def speed(length, rate, scores, pairs=200, peer_pairs=4):
    reads, candidates, texts = simulate(pairs, length, rate)
    match, mismatch, gap_open, gap_extend = scores
    params = GactParams(match, mismatch, gap_open, gap_extend)
    matrix = parasail.matrix_create("ACGT", match, mismatch)
    few = list(zip(texts[0 : 2 * peer_pairs : 2], texts[1 : 2 * peer_pairs : 2], strict=True))

    def run_parasail():
        for q, t in few:
            trace = parasail.sw_trace_striped_sat(q, t, -gap_open - gap_extend, -gap_extend, matrix)
            trace.cigar.decode  # noqa: B018

    def run_edlib():
        for q, t in few:
            edlib.align(q, t, mode="NW", task="path")

    tasks = {
        "gact": (pairs, lambda: gact.extend(reads, candidates, params, 1)),
        "parasail": (peer_pairs, run_parasail),
        "edlib": (peer_pairs, run_edlib),
    }
    gact.extend(reads, candidates.take(np.arange(1)), params, 1)
    best = fastest({name: task for name, (_, task) in tasks.items()}, ROUNDS, time.process_time)
    return {name: best[name] / count for name, (count, _) in tasks.items()}


def agreement(length, rate, scores, pairs=300):
    """Return what a row of the table of agreement says, for the default trimming and for trimming at 50 %."""
    reads, candidates, texts = simulate(pairs, length, rate, seed=2)
    match, mismatch, gap_open, gap_extend = scores
    matrix = parasail.matrix_create("ACGT", match, mismatch)
    # The striped kernels of parasail miss the optimum now and then when gaps are linear; scan does not.
    optimal = np.array([
        parasail.sw_scan_32(q, t, -gap_open - gap_extend, -gap_extend, matrix).score
        for q, t in zip(texts[::2], texts[1::2], strict=True)
    ])  # fmt: skip
    for min_identity in (60, 50):
        params = GactParams(*scores, min_identity=min_identity)
        one_tile = dataclasses.replace(params, tile=2 * length, overlap=0)
        found, whole = (gact.extend(reads, candidates, p, 1)[0].score for p in (params, one_tile))
        below, missing = np.mean(found < optimal), 1 - found.sum() / optimal.sum()
        most, changed = (optimal - found).max(), np.mean(found != whole)
        yield f"{min_identity} | {below:.1%} | {missing:.4%} | {most} | {changed:.1%}"


def main():
    print("10 kb pairs, alignments a second with CIGAR, one core")
    for name, scores in SCHEMES.items():
        for rate in (0.1, 0.15, 0.2):
            best = speed(10_000, rate, scores)
            ratios = ", ".join(f"{1 / best[p]:7.1f} {p} ({best[p] / best['gact']:.1f}x)" for p in best)
            print(f"{name}, {rate:.0%}: {ratios}", flush=True)
    print("\n3 kb pairs beside parasail's optimal local alignment")
    print("| scores | differences | `min_identity` | below optimal | missing | at most | changed by tiles |")
    for name, scores in SCHEMES.items():
        for rate in (0.1, 0.15, 0.2):
            for row in agreement(3_000, rate, scores):
                print(f"| {name} | {rate:.0%} | {row} |", flush=True)


if __name__ == "__main__":
    main()
