"""Fit the tables of `overlapper.kernels.cpu.chances` on simulated reads.

Of both rounds of correction, the decisions of the last draft are counted by kind and step, the wrong ones
apart; rates are made to fall with the step. Then bases are counted by the sum of the chances behind them, and
the highest sum of each quality follows in the same way. The second round votes with the qualities that the
first one led to, on every other read: what is wrong after it is wrong in all reads of a place.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graph.params import CorrectParams
from overlapper import read_fastx
from overlapper.kernels.cpu import chances
from overlapper.simulate import simulate_reads
from overlapper.tables import Reads
from tests.benchmarks import vote_decisions
from tests.benchmarks.true_bases import differences

GENOMES = (
    "ecoli_k12_mg1655.fasta.gz:NC_000913.3:2000000:2060000",
    "sacCer3.fasta.gz:chrIV:800000:860000",
    "ecoli_k12_mg1655.fasta.gz:NC_000913.3:800000:860000",
    "sacCer3.fasta.gz:chrVII:300000:360000",
    "ecoli_k12_mg1655.fasta.gz:NC_000913.3:3000000:3060000",
    "sacCer3.fasta.gz:chrXV:600000:660000",
)
"""Intervals that reads come from."""
COVERAGES = {"clr": (32, 16), "ont-r9": (32, 16), "ont-r10": (28, 14), "ont-r7": (28, 16), "hifi": (15,)}
"""Reads of each interval. HiFi reads have qualities, those of Nanopore on every other one, of CLR none."""
PLAIN = chances.parts(np.arange(chances.BEST_QUALITY + 1))
"""Limits that take a sum of chances for what it says."""
NEVER = 90
"""Decibels of the sum of a quality that no base has."""
FEWEST = 0.3
"""Errors that are added to those of each step and sum, as none seen does not mean that there are none."""


class Simulation(NamedTuple):
    """What is simulated."""

    genome: str
    technology: str
    coverage: int
    seed: int
    qualities: bool


class Seen(NamedTuple):
    """A round on some reads beside the truth.

    Attributes
    ----------
    voted : Voted
    names : list of str
        Of all reads.
    rows : list of TruthRow
    reference : ndarray of uint8
    found : dict of int to Differences
        By number of the target.
    """

    voted: vote_decisions.Voted
    names: list[str]
    rows: list
    reference: np.ndarray
    found: dict


def interval(text):
    """Return an interval of a sequence of a file, as a genome."""
    file, name, start, end = text.rsplit(":", 3)
    given = read_fastx(file)
    sequence = given.sequence(given.names.index(name))
    return Reads.from_sequences(["genome"], [sequence[int(start) : int(end)]])


def simulated(genome, technology, coverage, seed, *, qualities):
    """Return reads of a genome and their placements."""
    reads, truth = simulate_reads(genome, technology, coverage=coverage, seed=seed)
    if not qualities:
        reads = dataclasses.replace(reads, qualities=None, quality_offsets=None)
    return reads, [row for row in truth.rows() if row.kind == "normal"]


def simulations(folder):
    """Return all that are simulated from the genomes of a folder."""
    return [
        Simulation(
            str(Path(folder, place)), technology, coverage, seed,
            technology == "hifi" or (technology != "clr" and seed % 2 == 0),
        )
        for seed, place in enumerate(GENOMES, 11)
        for technology, coverages in COVERAGES.items()
        for coverage in coverages
    ]  # fmt: skip


def fit(folder, processes):
    """Print the tables, of raw reads and of corrected ones.

    Parameters
    ----------
    folder : str
        Holds the files of `GENOMES`.
    processes : int
    """
    sets = simulations(folder)
    with tempfile.TemporaryDirectory() as kept, multiprocessing.Pool(processes) as pool:
        files = [Path(kept, str(i)) for i in range(len(sets))]
        counted = pool.starmap(first_round, zip(files, sets, strict=True), 1)
        table, limits = tables("raw", counted, files, pool)
        counted = pool.starmap(second_round, [(file, table, limits) for file in files], 1)
        tables("corrected", counted, files, pool)


def tables(name, counted, files, pool):
    """Print and return the chances and limits of a round."""
    phred = np.array([decibels(*kind) for kind in zip(*np.sum(counted, axis=0), strict=True)])
    chance = chances.parts(phred)
    by_sum = pool.starmap(count_sums, [(file, chance) for file in files], 1)
    least = least_sums(decibels(*np.sum(by_sum, axis=0)))
    print(name)
    for kind, row in zip(vote_decisions.KINDS, phred, strict=True):
        print(f"            {row.tolist()},  # {kind}")
    print(f"limits\n            {least.tolist()},", flush=True)
    return chance, chances.parts(least)


def decibels(counted, wrong):
    """Return how seldom something is wrong, by step or sum, each clearer than the one before."""
    rates = falling((wrong + FEWEST) / (counted + 1), counted + 1)
    return np.clip(np.round(-10 * np.log10(rates)), 1, 60).astype(int)


def falling(rates, weights):
    """Return the falling rates that are closest to these (pooling adjacent violators)."""
    pools = []
    for rate, weight in zip(rates, weights, strict=True):
        pools.append((rate, weight, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (a, m, x), (b, n, y) = pools.pop(), pools.pop()
            pools.append(((a * m + b * n) / (m + n), m + n, x + y))
    return np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])


def least_sums(true):
    """Return the sum that bases of each quality need, given how good those of each are; decibels."""
    enough = true[None] >= np.arange(chances.BEST_QUALITY + 1)[:, None]
    return np.where(enough.any(1), enough.argmax(1), NEVER)


def first_round(file, simulation):
    """Vote on the raw reads of a set; keep the round, and count decisions."""
    genome = interval(simulation.genome)
    reads, rows = simulated(genome, *simulation[1:4], qualities=simulation.qualities)
    everyone = np.arange(len(reads))
    voted = vote_decisions.vote(reads, CorrectParams(), everyone, raw=True)
    return count_decisions(file, voted, reads.names, rows, genome.codes(0))


def second_round(file, table, limits):
    """Do the same with every other corrected read, with the qualities that tables lead to."""
    before = pickle.loads(file.read_bytes())
    reads = vote_decisions.with_qualities(before.voted, before.names, table, limits)
    some = np.arange(0, len(reads), 2)
    voted = vote_decisions.vote(reads, CorrectParams().of_corrected_reads(0.0), some, raw=False)
    return count_decisions(file, voted, before.names, before.rows, before.reference)


def count_decisions(file, voted, names, rows, reference):
    """Keep a round beside the truth; return its decisions by kind and step, and those that are wrong."""
    number = {names[target]: i for i, target in enumerate(voted.targets)}
    found = {}
    for row in rows:
        i = number.get(row.read)
        if i in voted.decisions:
            differs = differences(voted.read(i)[0], row, reference)
            if differs is not None:
                found[i] = differs
    file.write_bytes(pickle.dumps(Seen(voted, names, rows, reference, found)))
    counted, at_fault = np.zeros((2, len(vote_decisions.KINDS), chances.STEPS), np.int64)
    for i, differs in found.items():
        decisions = voted.decisions[i]
        wrong, inside = vote_decisions.wrong_decisions(decisions, differs)
        np.add.at(counted, tuple(decisions[inside, 1:3].T), 1)
        np.add.at(at_fault, tuple(decisions[inside & wrong, 1:3].T), 1)
    return counted, at_fault


def count_sums(file, chance):
    """Return the bases of a kept round by the sum of the chances behind them, and the wrong ones."""
    seen = pickle.loads(file.read_bytes())
    bases, wrong = np.zeros((2, chances.BEST_QUALITY + 1), np.int64)
    for i, differs in seen.found.items():
        codes, _ = seen.voted.read(i)
        summed = vote_decisions.chances_of_bases(len(codes), seen.voted.decisions[i], chance)
        quality = chances.qualities(codes, summed, PLAIN)
        bases += np.bincount(quality[differs.inside & (quality > 0)], minlength=len(bases))
        wrong += np.bincount(quality[differs.at_fault & (quality > 0)], minlength=len(bases))
    return bases, wrong
