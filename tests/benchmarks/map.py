"""Mapping beside minimap2, from file to file, in alternating runs, and how both map reads of known places.

    python -m tests.benchmarks.map REFERENCE READS --preset ont --peer "-ax map-ont" --truth truth.tsv

Run `overlapper map` once before, so that its kernels
are compiled. With ``--truth`` the mappings are judged, for which both programs write PAF once more.
"""

from __future__ import annotations

import shlex
import tempfile

import numpy as np

from overlapper.io import read_fastx
from overlapper.io.truth import read_truth
from tests.benchmarks.harness import beside_minimap2, measured, overlapper, parser_of
from tests.mapping_scores import ReportedMappings, evaluate_mappings


def main() -> None:
    parser = parser_of(__doc__, "reference", "reads", preset="ont", threads=2, runs=3)
    parser.add_argument("--options", default="", help="further options of overlapper map")
    parser.add_argument("--peer", default="-ax map-ont", help="options of minimap2")
    parser.add_argument("--truth", help="where the reads come from")
    parser.add_argument("--circular", default="", help="names of circular sequences, commas between them")
    arguments = parser.parse_args()
    threads = str(arguments.threads)
    inputs = [arguments.reference, arguments.reads]
    ours = ["map", *inputs, "-q", "--preset", arguments.preset]
    ours += ["--threads", threads, *shlex.split(arguments.options)]
    theirs = ["-t", threads, *shlex.split(arguments.peer)]
    with tempfile.TemporaryDirectory() as folder:
        beside_minimap2([*ours, "-o", f"{folder}/ours.sam"], [*theirs, *inputs], arguments.runs, folder)
        if not arguments.truth:
            return
        overlapper(*ours, output=f"{folder}/overlapper.paf")
        as_paf = [option.replace("-ax", "-cx") for option in theirs]
        measured(["minimap2", *as_paf, *inputs], f"{folder}/minimap2.paf")
        reference, truth = read_fastx(arguments.reference), read_truth(arguments.truth)
        lengths = dict(zip(reference.names, reference.lengths.tolist(), strict=True))
        circular = [name for name in arguments.circular.split(",") if name]
        for name in ("overlapper", "minimap2"):
            result = evaluate_mappings(reported(f"{folder}/{name}.paf"), truth, lengths, circular)
            bins = ", ".join(f"{b.low}: {b.wrong}/{b.mapped}" for b in result.by_quality if b.mapped)
            print(f"{name}: {result.wrong} of {result.mapped} wrong ({result.placed} placed); {bins}")


def reported(path: str) -> ReportedMappings:
    """Return the primary mapping of every read of a PAF file: its first line that is not secondary."""
    rows: dict[str, list[str]] = {}
    with open(path) as lines:
        for fields in (line.rstrip("\n").split("\t") for line in lines):
            if "tp:A:S" not in fields[12:]:
                rows.setdefault(fields[0], fields)
    table = [np.array([fields[i] for fields in rows.values()]) for i in range(12)]
    numbers = (table[i].astype(np.int64) for i in (2, 3, 7, 8, 11))
    return ReportedMappings(table[0], table[5], table[4] == "-", *numbers)


if __name__ == "__main__":
    main()
