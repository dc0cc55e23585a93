"""Qualities of corrected reads beside what is wrong in them, and the tables that they come from.

    python -m tests.benchmarks.qualities measure genome.fasta.gz:NAME:START:END --technology ont-r9
    python -m tests.benchmarks.qualities fit ecoli.fasta.gz:NAME:START:END yeast.fasta.gz:NAME:START:END

``measure`` simulates reads of an interval, corrects them, aligns every read to where it came from (edlib),
and prints, by quality, the bases that are wrong over those that the qualities lead to expect. A base is wrong
that is another one or one too many, and the one that a missing base should be behind, as far right as it may
stand.

``fit`` prints the tables of `overlapper.kernels.cpu.chances`: the decisions of the last draft are counted by
kind and step, wrong ones apart, over all `SETS`. First that of raw reads; with it in the source, run again
with two rounds for that of corrected reads, whose votes it weighs. The table of corrected reads in the source
was smoothed otherwise, as docs/algorithms/correction.md says.
"""

from __future__ import annotations

import argparse
import dataclasses
import re

import edlib
import numpy as np
from numba import njit

from graph import correct as graph_correct
from graph.params import CorrectParams
from overlapper import pipeline, read_fastx
from overlapper.kernels.cpu import chances, pile
from overlapper.kernels.cpu import correct as kernel
from overlapper.kernels.cpu.inner import inner
from overlapper.simulate import simulate_reads
from overlapper.tables import Reads

ENDS = 100
"""Bases at either end of a read that are not looked at: they may lie beyond the alignment."""
MISPLACED = 0.05
"""Reads with more differences than this are not corrected ones of their place."""
KINDS = [
    "stays, run of 1", "2 or 3", "4", "5", "6", "7 or more", "farther left", "changed",
    "refused, up to 3", "4", "5", "6 or more",
]  # fmt: skip
SETS = [
    (technology, coverage)
    for technology in ("clr", "ont-r9", "ont-r10", "ont-r7")
    for coverage in (12, 24, 36)
]
COLUMNS = ["place", "kind", "step", "refused"]


def main() -> None:
    """Measure or fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure")
    measured.add_argument("genome", help="FILE:NAME:START:END")
    measured.add_argument("--technology", default="clr")
    measured.add_argument("--coverage", type=float, default=25)
    measured.add_argument("--rounds", type=int, default=2)
    measured.add_argument("--masked", type=float, default=0, help="share of bases made unknown, in runs")
    fitted = commands.add_parser("fit")
    fitted.add_argument("genomes", nargs="+", help="FILE:NAME:START:END")
    fitted.add_argument("--rounds", type=int, default=1)
    for command in (measured, fitted):
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("--threads", type=int, default=2)
        command.add_argument("--qualities", action="store_true", help="let the reads keep theirs")
    options = parser.parse_args()
    measure(options) if options.command == "measure" else fit(options)


def simulated(genome, technology, coverage, options):
    """Return reads of a genome and their placements."""
    reads, truth = simulate_reads(genome, technology, coverage=coverage, seed=options.seed)
    if not options.qualities:
        reads = dataclasses.replace(reads, qualities=None, quality_offsets=None)
    return reads, [row for row in truth.rows() if row.kind == "normal"]


def interval(text):
    """Return an interval of a sequence of a file, as a genome."""
    file, name, start, end = text.rsplit(":", 3)
    given = read_fastx(file)
    sequence = given.sequence(given.names.index(name))
    return Reads.from_sequences(["genome"], [sequence[int(start) : int(end)]])


def measure(options):
    """Print the errors by quality."""
    genome = interval(options.genome)
    reads, placed = simulated(genome, options.technology, options.coverage, options)
    if options.masked:
        reads = masked(reads, options.masked, options.seed)
    made = graph_correct.correct(reads, params=CorrectParams(rounds=options.rounds), threads=options.threads)
    number = {name: i for i, name in enumerate(made.reads.names)}
    bases, errors = np.zeros(chances.BEST_QUALITY + 1), np.zeros(chances.BEST_QUALITY + 1)
    template = genome.codes(0)
    for row in placed:
        i = number[row.read]
        codes = made.reads.codes(i)
        first = made.reads.quality_offsets[i]
        quality = made.reads.qualities[first : first + len(codes)]
        found = differences(codes, row, template)
        if found is None:
            continue
        wrong, missing, inside = found
        wrong[:-1] += missing[1:-1]
        bases += np.bincount(quality[inside], minlength=len(bases))
        errors += np.bincount(quality[inside], wrong[inside] > 0, minlength=len(bases))
    expected = bases * 10 ** (-np.arange(len(bases)) / 10)
    print(f"{'quality':>8}{'bases':>12}{'wrong':>8}{'expected':>10}{'ratio':>8}")
    for low in range(2, chances.BEST_QUALITY + 1, 4):
        of_bin = slice(low, low + 4)
        if bases[of_bin].any():
            print(
                f"{low:>4}-{low + 3:<3}{bases[of_bin].sum():>12,.0f}{errors[of_bin].sum():>8,.0f}"
                f"{expected[of_bin].sum():>10,.1f}{errors[of_bin].sum() / expected[of_bin].sum():>8.2f}"
            )


def masked(reads, share, seed):
    """Return the reads with a share of their bases unknown, in runs of 1 to 50."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(len(reads)):
        text = bytearray(reads.sequence(i).encode())
        for _ in range(rng.poisson(share * len(text) / 25.5)):
            start, length = int(rng.integers(0, len(text))), int(rng.integers(1, 51))
            text[start : start + length] = b"N" * len(text[start : start + length])
        texts.append(text.decode())
    return Reads.from_sequences(reads.names, texts)


def differences(codes, row, template):
    """Return the wrong bases of a read, the bases missing before each and at the end, and which are inside.

    None for a read that is not where it should be.
    """
    low, high = max(0, row.start - 200), min(len(template), row.end + 200)
    origin = template[low:high]
    if row.strand == "-":
        origin = np.ascontiguousarray(3 - origin[::-1])
    letters = np.frombuffer(b"ACGTN", np.uint8)
    texts = (letters[sequence].tobytes().decode() for sequence in (codes, origin))
    path = edlib.align(*texts, mode="HW", task="path")
    n = len(codes)
    inside = np.zeros(n, bool)
    inside[row.qstart + ENDS : max(0, n - (row.read_len - row.qend) - ENDS)] = True
    if path["editDistance"] > MISPLACED * n:
        return None
    runs = re.findall(r"(\d+)([=XID])", path["cigar"])
    wrong, missing = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    kinds, lengths = (
        np.array(["=XID".index(kind) for _, kind in runs]),
        np.array([int(length) for length, _ in runs]),
    )
    mark(codes, origin, kinds, lengths, path["locations"][0][0], wrong, missing)
    return wrong, missing, inside


@njit(cache=True)
def mark(codes, origin, kinds, lengths, j, wrong, missing):
    """Count wrong and missing bases, each as far right as it may stand, where votes put gaps."""
    i, n = 0, len(codes)
    for run in range(len(kinds)):
        for _ in range(lengths[run]):
            if kinds[run] < 2:
                wrong[i] += kinds[run]
                i, j = i + 1, j + 1
            elif kinds[run] == 2:
                at = i
                while at + 1 < n and codes[at + 1] == codes[at]:
                    at += 1
                wrong[at] += 1
                i += 1
            else:
                at = i
                while at < n and codes[at] == origin[j]:
                    at += 1
                missing[at] += 1
                j += 1


def fit(options):
    """Print the table of the last round."""
    counted, wrong = (np.zeros((len(KINDS), chances.STEPS), np.int64) for _ in range(2))
    for place in options.genomes:
        genome = interval(place)
        for technology, coverage in SETS:
            reads, placed = simulated(genome, technology, coverage, options)
            decided = decisions_of(reads, options)
            number = {reads.name(int(i)): at for at, i in enumerate(pipeline.canonical_order(reads))}
            for row in placed:
                count_read(decided.get(number[row.read]), row, genome.codes(0), counted, wrong)
            print(f"{place} {technology} {coverage}x: {wrong.sum():,} of {counted.sum():,} wrong", flush=True)
    for kind, of_kind, errors in zip(KINDS, counted, wrong, strict=True):
        rates = falling((errors + 0.3) / (of_kind + 1), of_kind + 1)
        phred = np.clip(np.round(-10 * np.log10(rates)), 1, 60).astype(int)
        print("[" + ", ".join(map(str, phred)) + f"],  # {kind}: {errors.sum():,}")


def falling(rates, weights):
    """Return the rates that fall from step to step and are closest to these (pooling adjacent violators)."""
    pools = []
    for rate, weight in zip(rates, weights, strict=True):
        pools.append((rate, weight, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (a, m, x), (b, n, y) = pools.pop(), pools.pop()
            pools.append(((a * m + b * n) / (m + n), m + n, x + y))
    return np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])


def decisions_of(reads, options):
    """Correct reads; return the consensus and the last decisions on each, by canonical number."""
    decided = {}

    def correct_pieces(targets, reads, pieces, rows, settings):
        made = kernel_itself(targets, reads, pieces, rows, settings)
        memory = kernel.new_memory(int((pieces.end - pieces.start).max(initial=1)))
        for p in range(len(pieces.target)):
            if pieces.start[p] == 0:
                codes = made[1][made[0][p] : made[0][p + 1]]
                found = piece_decisions(targets, reads, pieces, p, rows, settings, memory)
                decided[int(pieces.target[p])] = codes, found
        return made

    kernel_itself, kernel.correct_pieces = kernel.correct_pieces, correct_pieces
    try:
        params = CorrectParams(rounds=options.rounds)
        graph_correct.correct(reads, params=params, threads=options.threads, device="cpu")
    finally:
        kernel.correct_pieces = kernel_itself
    return decided


@njit(cache=True)
def piece_decisions(targets, reads, pieces, p, rows, settings, memory):
    """Return the decisions of the last draft of a piece without unknown bases; `COLUMNS`."""
    target = kernel.unpack_piece(targets, pieces, p)
    members = kernel.gather(targets, reads, pieces, p, rows, settings)
    starts = kernel.first_paths(target, members, rows, pieces.first[p], settings, memory)
    draft, last = target, len(settings.thresholds) - 1
    votes = pile.count_votes(members, starts, len(draft))
    for step in range(last):
        draft, place, _, _ = pile.next_draft(draft, votes, settings.thresholds[step], settings.worth)
        starts = pile.carry_over(members, starts, draft, place, memory.gaps)
        votes = pile.count_votes(members, starts, len(draft))
        if step == 0 and settings.guard and kernel.pile_guard.leave_out(members, starts, votes):
            votes = pile.count_votes(members, starts, len(draft))
    return decisions(draft, votes, settings.thresholds[last], settings.worth)


@njit(cache=True)
def decisions(draft, votes, thresholds, worth):
    """Return the decisions on a draft, as `pile.next_draft` takes them."""
    found, size, n = np.empty((len(draft) * (2 + pile.SLOTS), 4), np.int64), 0, 0
    run, run_end = 0, 0
    for c in range(len(draft)):
        if c == run_end:
            while run_end < len(draft) and draft[run_end] == draft[c]:
                run_end += 1
            run = run_end - c
        column, members = votes.column[c], min(np.int64(votes.depth[c]), 255)
        if members < pile.MIN_DEPTH:
            size += 1
            continue
        threshold = thresholds[np.int64(run >= pile.HOMOPOLYMER)]
        standing, total = np.int64(column[:4].sum()), np.int64(column.sum())
        most = chances.reach(total, members, worth)
        if 100 * standing >= threshold * total:
            best = np.int64(column[:4].max())
            step = pile._step_for(best, standing, total, threshold, most)
            put(found, n, size, chances.stays_row(run, c + 1 == run_end), step, 0)
            size += 1
        else:
            step = chances.step_of(most, threshold * total - 100 * standing, threshold * total)
            put(found, n, size, chances.CHANGED, step, 1)
        n += 1
        passing = np.int64(votes.passing[c])
        most = chances.reach(passing, members, worth)
        for slot in range(pile.SLOTS):
            weights = votes.inserted[c, 4 * slot : 4 * slot + 4]
            standing, best = np.int64(weights.sum()), np.int64(weights.argmax())
            longer = run + 1 if best == draft[c] else 1
            threshold = thresholds[np.int64(longer >= pile.HOMOPOLYMER)]
            if 100 * standing <= threshold * passing:
                if passing:
                    step = chances.step_of(most, threshold * passing - 100 * standing, threshold * passing)
                    put(found, n, size, chances.refused_row(longer), step, 1)
                    n += 1
                break
            step = pile._step_for(weights[best], standing, passing, threshold, most)
            put(found, n, size, chances.CHANGED, step, 0)
            n, size = n + 1, size + 1
    return found[:n].copy()


@inner
def put(found, n, place, kind, step, refused):
    """Write a decision down."""
    found[n, 0], found[n, 1], found[n, 2], found[n, 3] = place, kind, step, refused


def count_read(decided, row, template, counted, wrong):
    """Count the decisions on a read by kind and step, and those that are wrong.

    A missing base is the fault of the least clear one of the decisions against a base there.
    """
    if decided is None:
        return
    codes, found = decided
    differs = differences(codes, row, template)
    if differs is None:
        return
    wrong_bases, missing, inside = differs
    place, kind, step, refused = found.T
    looked_at = inside[np.minimum(place, len(inside) - 1)]
    at_fault = np.where(refused == 1, missing[place], wrong_bases[np.minimum(place, len(codes) - 1)]) > 0
    against = np.flatnonzero(refused == 1)
    order = against[np.lexsort((step[against], place[against]))]
    again = np.concatenate([[False], place[order][1:] == place[order][:-1]])
    at_fault[order[again]] = False
    np.add.at(counted, (kind[looked_at], step[looked_at]), 1)
    np.add.at(wrong, (kind[looked_at & at_fault], step[looked_at & at_fault]), 1)


if __name__ == "__main__":
    main()
