"""Mapping beside minimap2, from file to file, in alternating runs, and how both map reads of known places.

    python -m tests.benchmarks.map REFERENCE READS --preset ont --peer "-ax map-ont" --truth truth.tsv

Times are the lowest of all runs, memory is the peak. Run `overlapper map` once before, so that its kernels
are compiled. With ``--truth`` the mappings are judged, for which both programs write PAF once more.
"""

from __future__ import annotations

import shlex
import tempfile

from overlapper.compare.claims import read_claims
from overlapper.io import read_fastx
from overlapper.io.truth import read_truth
from overlapper.mapping.evaluate import evaluate_mappings
from tests.benchmarks.harness import OVERLAPPER, measured, parser_of


def main() -> None:
    parser = parser_of(__doc__, "reference", "reads", preset="ont", threads=2, runs=3)
    parser.add_argument("--options", default="", help="further options of overlapper map")
    parser.add_argument("--peer", default="-ax map-ont", help="options of minimap2")
    parser.add_argument("--truth", help="where the reads come from")
    parser.add_argument("--circular", default="", help="names of circular sequences, commas between them")
    arguments = parser.parse_args()
    threads = str(arguments.threads)
    inputs = [arguments.reference, arguments.reads]
    ours = [
        *OVERLAPPER, "map", *inputs, "-q", "--preset", arguments.preset,
        "--threads", threads, *shlex.split(arguments.options),
    ]  # fmt: skip
    peer = shlex.split(arguments.peer)
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "overlapper": [*ours, "-o", f"{folder}/ours.sam"],
            "minimap2": ["minimap2", "-t", threads, *peer, *inputs],
        }
        best = dict.fromkeys(commands, (float("inf"),) * 3)
        for _ in range(arguments.runs):
            for name, command in commands.items():
                best[name] = tuple(map(min, best[name], measured(command, f"{folder}/{name}.out")))
        print(f"{'':12} {'wall s':>8} {'CPU s':>8} {'peak MB':>8}")
        for name, (wall, cpu, memory) in best.items():
            print(f"{name:12} {wall:8.2f} {cpu:8.2f} {memory:8.0f}")
        (wall, cpu, memory), theirs = best["overlapper"], best["minimap2"]
        print(f"{'ratio':12} {theirs[0] / wall:8.2f} {theirs[1] / cpu:8.2f} {memory / theirs[2]:8.2f}")
        if not arguments.truth:
            return
        measured(ours, f"{folder}/overlapper.paf")
        as_paf = [option.replace("-ax", "-cx") for option in peer]
        measured(["minimap2", "-t", threads, *as_paf, *inputs], f"{folder}/minimap2.paf")
        reference, truth = read_fastx(arguments.reference), read_truth(arguments.truth)
        lengths = dict(zip(reference.names, reference.lengths.tolist(), strict=True))
        circular = [name for name in arguments.circular.split(",") if name]
        for name in commands:
            result = evaluate_mappings(read_claims(f"{folder}/{name}.paf"), truth, lengths, circular)
            bins = ", ".join(f"{b.low}: {b.wrong}/{b.mapped}" for b in result.by_quality if b.mapped)
            print(f"{name}: {result.wrong} of {result.mapped} wrong ({result.placed} placed); {bins}")


if __name__ == "__main__":
    main()
