"""Qualities of corrected reads beside what is wrong in them.

    python -m tests.benchmarks.qualities measure FILE:NAME:START:END --technology clr ont-r9 --coverage 20 30
    python -m tests.benchmarks.qualities placed FOLDER    # with reads, truth.tsv.gz and reference.fasta.gz

``measure`` simulates reads of intervals, ``placed`` takes those of a folder; both correct them, align every
read to where it came from (edlib), and print, by quality, the bases that are wrong over those that the
qualities lead to expect, and at how many places of the reference they are.
"""

from __future__ import annotations

import collections
import dataclasses
from pathlib import Path

import numpy as np

from overlapper import read_fastx
from overlapper.correct import reads as graph_correct
from overlapper.io.truth import read_truth
from overlapper.kernels.consensus import error_probabilities
from overlapper.params.correction import CorrectParams
from overlapper.simulate import simulate_reads
from overlapper.tables import Reads
from tests.benchmarks.harness import parser_of
from tests.benchmarks.true_bases import count_places, differences, predicted

BIN = 4
"""Qualities that a printed line takes together."""


def main() -> None:
    """Measure."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measured = commands.add_parser("measure")
    measured.add_argument("genomes", nargs="+", help="FILE:NAME:START:END")
    measured.add_argument("--technology", nargs="+", default=["clr"])
    measured.add_argument("--coverage", nargs="+", type=float, default=[25])
    measured.add_argument(
        "--masked", type=float, default=0.0, help="share of bases made unknown, in runs; only these count"
    )
    measured.add_argument("--qualities", action="store_true", help="let the reads keep theirs")
    measured.add_argument("--seed", type=int, default=1)
    placed = commands.add_parser("placed")
    placed.add_argument("folders", nargs="+")
    for command in (measured, placed):
        command.add_argument("--rounds", type=int, default=2)
        command.add_argument("--threads", type=int, default=2)
    placed.set_defaults(masked=0.0)
    options = parser.parse_args()
    {"measure": measure, "placed": measure_placed}[options.command](options)


def measure(options):
    """Print the errors by quality, of all genomes together, for each technology and coverage."""
    for technology in options.technology:
        for coverage in options.coverage:
            tally = Tally()
            for seed, text in enumerate(options.genomes, options.seed):
                genome = interval(text)
                reads, rows = simulated(genome, technology, coverage, seed, qualities=options.qualities)
                if options.masked:
                    reads = masked(reads, options.masked, seed)
                count(reads, rows, {"genome": genome.codes(0)}, options, tally)
            print(f"{technology} {coverage:g}x, {options.rounds} rounds")
            tally.print()


def measure_placed(options):
    """Print the errors by quality of reads whose places are known."""
    for folder in map(Path, options.folders):
        (file,) = folder.glob("reads.fast*")
        reference = read_fastx(str(folder / "reference.fasta.gz"))
        codes = {name: reference.codes(i) for i, name in enumerate(reference.names)}
        truth = read_truth(str(folder / "truth.tsv.gz"))
        tally = Tally()
        rows = [row for row in truth.rows() if row.kind == "normal" and row.ref in codes]
        count(read_fastx(str(file)), rows, codes, options, tally)
        print(f"{folder.name}, {options.rounds} rounds")
        tally.print()


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


class Tally:
    """Bases and wrong ones by quality, and where the wrong ones are."""

    def __init__(self):
        self.bases, self.wrong = np.zeros((2, error_probabilities.BEST_QUALITY + 1), np.int64)
        self.places = collections.defaultdict(list)
        self.sets = 0

    def add(self, quality, found):
        """Count the bases of a read."""
        self.bases += np.bincount(quality[found.inside], minlength=len(self.bases))
        for q, position in zip(quality[found.at_fault], found.position[found.at_fault], strict=True):
            self.wrong[q] += 1
            self.places[q // BIN, self.sets].append(position)

    def print(self):
        """Print a line for every few qualities."""
        expected = self.bases * 10 ** (-np.arange(len(self.bases)) / 10)
        print(f"{'quality':>8}{'bases':>12}{'wrong':>8}{'expected':>10}{'ratio':>8}{'places':>8}")
        for low in range(0, len(self.bases), BIN):
            some = slice(low, low + BIN)
            if not self.bases[some].any():
                continue
            wrong, right = self.wrong[some].sum(), expected[some].sum()
            places = sum(count_places(p) for (of, _), p in self.places.items() if of == low // BIN)
            print(
                f"{low:>4}-{low + BIN - 1:<3}{self.bases[some].sum():>12,}{wrong:>8,}"
                f"{right:>10,.1f}{wrong / right:>8.2f}{places:>8,}"
            )


def count(reads, rows, references, options, tally):
    """Correct reads, and count their bases by quality."""
    made = graph_correct.correct(reads, params=CorrectParams(rounds=options.rounds), threads=options.threads)
    numbers_before = {name: i for i, name in enumerate(reads.names)}
    number = {name: i for i, name in enumerate(made.reads.names)}
    tally.sets += 1
    for row in rows:
        i = number[row.read]
        codes, first = made.reads.codes(i), made.reads.quality_offsets[i]
        found = differences(codes, row, references[row.ref])
        if found is not None and options.masked:
            raw = reads.codes(numbers_before[row.read])
            found = found._replace(inside=found.inside & predicted(raw, codes))
        if found is not None:
            tally.add(made.reads.qualities[first : first + len(codes)], found)


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


if __name__ == "__main__":
    main()
