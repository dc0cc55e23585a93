"""Simulated reads beside the real ones that they are meant to be like.

    python -m tests.benchmarks.simulator measure READS REFERENCE real-clr --map map-pb --circular
    python -m tests.benchmarks.simulator overlaps READS REFERENCE real-clr --map map-pb --ava ava-pb

``measure`` simulates reads from as many bases as the real reads have, aligns both sets with minimap2, and
prints what `tests.benchmarks.read_numbers` makes of them. ``overlaps`` finds overlaps in both sets, by
default, with internal matches, and with minimap2, and judges them; reads count that minimap2 places over 80
percent of their bases at a mapping quality of 20 or more, in both sets alike.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from pathlib import Path

from overlapper import read_fastx
from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.io.reported import read_reported
from overlapper.io.truth import Truth, TruthRow
from tests.benchmarks.harness import OVERLAPPER, measured, overlapper, parser_of
from tests.benchmarks.read_numbers import numbers
from tests.benchmarks.read_profiles import Profile, align, placements, profiles


def main() -> None:
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("measure", "overlaps"):
        command = commands.add_parser(name)
        command.add_argument("reads")
        command.add_argument("reference")
        command.add_argument("preset", help="of overlapper simulate")
        command.add_argument("--map", required=True, help="preset of minimap2 that aligns the reads")
        command.add_argument("--circular", action="store_true")
        command.add_argument("--minimap2", default="minimap2", help="the program")
        command.add_argument("--options", default="", help="further options of overlapper simulate")
        if name == "overlaps":
            command.add_argument("--ava", required=True, help="preset of minimap2 that finds overlaps")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        {"measure": measure, "overlaps": overlaps}[options.command](options, Path(folder))


def measure(options: argparse.Namespace, folder: Path) -> None:
    """Print the numbers of both sets."""
    of_real = numbers(aligned(options, folder, options.reads))
    of_simulated = numbers(aligned(options, folder, simulate(options, folder, options.preset)))
    for name, values in of_real.items():
        print(f"{name}\n  real      {shown(values)}\n  simulated {shown(of_simulated.get(name, []))}")


def shown(values: list[float]) -> str:
    """Return numbers in few letters."""
    return " ".join(f"{value:.4g}" for value in values)


def simulate(options: argparse.Namespace, folder: Path, preset: str) -> str:
    """Simulate reads from as many bases as the real reads have; return the file."""
    output = str(folder / f"{preset}.fasta")
    coverage = read_fastx(options.reads).total_bases / read_fastx(options.reference).total_bases
    overlapper(
        "simulate", "--reference", options.reference, "-p", preset, "-c", f"{coverage:.4f}", "-o", output,
        "-q", *["--circular"] * options.circular, *shlex.split(options.options),
    )  # fmt: skip
    return output


def aligned(options: argparse.Namespace, folder: Path, reads: str) -> list[Profile]:
    """Return the profiles of the reads of a file."""
    paf = str(folder / "aligned.paf")
    align(reads, options.reference, options.map, paf, options.minimap2)
    return profiles(read_fastx(reads), read_fastx(options.reference), paf, options.circular)


def overlaps(options: argparse.Namespace, folder: Path) -> None:
    """Print recall and precision in both sets, of overlaps from 2,000 and from 500 bases."""
    sets = {"real": options.reads, "simulated": simulate(options, folder, options.preset)}
    circle = read_fastx(options.reference).total_bases if options.circular else 0
    for name, reads in sets.items():
        paf = str(folder / "placed.paf")
        align(reads, options.reference, options.map, paf, options.minimap2)
        table = read_fastx(reads)
        truth = Truth.from_rows(
            TruthRow(read, ref, start, end, "-" if reverse else "+", -1, -1, -1, "normal", float("nan"))
            for read, ref, start, end, reverse in placements(paf)
        )
        ours = [*OVERLAPPER, "overlap", reads, "-q", "-t", "2"]
        finders = {
            "overlapper": ours,
            "overlapper --keep-internal": [*ours, "--keep-internal"],
            f"minimap2 -x {options.ava}": [options.minimap2, "-t2", "-x", options.ava, reads, reads],
        }
        print(f"{name}: {table.total_bases} bases, {len(truth)} of {len(table)} reads placed")
        for finder, command in finders.items():
            found = str(folder / "overlaps.paf")
            measured(command, found)
            reported = read_reported(found)
            scores = [
                evaluate_overlaps(truth, reported, min_overlap=least, circular=circle).total
                for least in (2000, 500)
            ]
            print(f"  {finder}: " + ", ".join(f"{s.recall:.4f} / {s.precision:.4f}" for s in scores))


if __name__ == "__main__":
    main()
