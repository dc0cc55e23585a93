"""Errors of contigs, the bases that `assemble` says are in doubt, and the quality that it states.

    python -m tests.benchmarks.doubt simulated FILE:START:END --technology r10 r9 --coverage 2 10 30 [--two]
    python -m tests.benchmarks.doubt real FOLDER ...    # each with reads.fast[aq].gz and reference.fasta.gz

``--two`` takes two haplotypes that differ at one base in 1,000, each at the coverage. A row per set: contigs,
bases in kb, the quality that ``contigs.tsv`` states and that of the alignments to the reference by minimap2,
errors (a gap is one), the share of them in ``contigs.doubt.bed``, bases listed there per error, bases of the
other haplotype, and stretches by reason. An error is listed if a base next to it is, or one of the run of
equal bases that it is in. What some sequence of the reference has with 15 bases on either side is no error,
but of the other haplotype. Deep stretches do not count.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from overlapper.simulate import adapted_model, simulate_reads
from overlapper.tables import Reads
from tests.benchmarks.harness import overlapper, parser_of, placed_by_minimap2
from tests.benchmarks.real_sets import K, kmers, records, table

MODELS = {
    "hifi": ("real-hifi", {}),
    "r10": ("real-ont", {"identity": 0.985}),
    "r9": ("real-ont", {"identity": 0.92}),
    "clr": ("real-clr", {}),
}
HAPLOTYPES_DIFFER = 0.001


def main():
    """Print a row per set."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    simulated = commands.add_parser("simulated")
    simulated.add_argument("genomes", nargs="+", help="FILE:START:END")
    simulated.add_argument("--technology", nargs="+", choices=MODELS, default=[*MODELS])
    simulated.add_argument("--coverage", nargs="+", type=float, default=[30])
    simulated.add_argument("--two", action="store_true")
    commands.add_parser("real").add_argument("folders", nargs="+", type=Path)
    for command in commands.choices.values():
        command.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print("set contigs kb stated true errors listed bases_per_error other reasons", sep="\t", flush=True)
    if options.command == "real":
        for folder in options.folders:
            (reads,) = folder.glob("reads.fast*")
            row(folder.name, reads, folder / "reference.fasta.gz", options.threads)
        return
    for genome in options.genomes:
        path, start, end = genome.rsplit(":", 2)
        haplotypes = [next(records(path))[1][int(start) : int(end)]]
        if options.two:
            haplotypes.append(mutated(haplotypes[0]))
        for technology in options.technology:
            for coverage in options.coverage:
                with tempfile.TemporaryDirectory() as folder:
                    name = f"{Path(path).stem.split('.')[0]} {technology} {coverage:g}x{' two' * options.two}"
                    row(name, *written(haplotypes, technology, coverage, Path(folder)), options.threads)


def mutated(bases):
    """Return a haplotype of which one base in 1,000 is another one."""
    rng = np.random.default_rng(1)
    letters = np.frombuffer(bases.encode(), np.uint8).copy()
    at = np.flatnonzero(rng.random(len(letters)) < HAPLOTYPES_DIFFER)
    letters[at] = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, len(at))]
    return letters.tobytes().decode()


def written(haplotypes, technology, coverage, folder):
    """Simulate reads; return the paths of these and of the haplotypes."""
    preset, changes = MODELS[technology]
    model = adapted_model(preset, **changes)
    sets = [
        simulate_reads(Reads.from_sequences(["h"], [bases]), model, coverage=coverage, seed=11 + n)[0]
        for n, bases in enumerate(haplotypes)
    ]
    reads, reference = folder / "reads.fasta", folder / "reference.fasta"
    with open(reads, "w") as file:
        for n, some in enumerate(sets):
            file.writelines(f">{n}_{read}\n{some.sequence(read)}\n" for read in range(len(some)))
    reference.write_text("".join(f">h{n}\n{bases}\n" for n, bases in enumerate(haplotypes)))
    return reads, reference


def row(name, reads, reference, threads):
    """Assemble reads, and print what is wrong and what is listed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        overlapper("assemble", reads, "-o", out, "-q", "-t", threads)
        rows = table(out / "contigs.tsv")
        contigs = dict(records(out / "contigs.fasta"))
        listed = {contig: np.zeros(len(bases) + 1, bool) for contig, bases in contigs.items()}
        reasons = Counter()
        for line in (out / "contigs.doubt.bed").read_text().splitlines():
            contig, start, end, reason, _ = line.split("\t")
            reasons[reason] += 1
            if reason != "deep":
                listed[contig][int(start) : int(end)] = True
        true = set().union(*(kmers(bases) for _, bases in records(reference))) if two_of(reference) else set()
        found, errors, aligned, other = [], 0, 0, 0
        for hit in placed_by_minimap2("-cx", "asm10", "--cs", reference, out / "contigs.fasta"):
            events, edits = differences(hit, len(contigs[hit[0]]))
            around = [contigs[hit[0]][max(0, place - K // 2) :][:K] for place in events]
            of_other = [len(bases) == K and kmers(bases) <= true for bases in around]
            other += sum(of_other)
            found += [
                is_listed(contigs[hit[0]], listed[hit[0]], place)
                for place, right in zip(events, of_other, strict=True)
                if not right
            ]
            errors, aligned = errors + edits, aligned + int(hit[3]) - int(hit[2])
    bases = sum(map(len, contigs.values()))
    wrong = sum(int(one["length"]) * 10 ** (-0.1 * float(one["quality"])) for one in rows)
    marked = sum(int(one.sum()) for one in listed.values())
    share, each = (np.mean(found), marked / len(found)) if found else (math.nan, math.inf)
    print(
        name, len(rows), bases // 1000, phred(wrong, bases), phred(errors, aligned), len(found),
        f"{share:.3f}", f"{each:.0f}" if found else f"({marked})", other,
        " ".join(f"{reason}:{n}" for reason, n in sorted(reasons.items())), sep="\t", flush=True,
    )  # fmt: skip


def two_of(reference):
    return sum(1 for _ in records(reference)) > 1


def phred(wrong, bases):
    return f"{-10 * math.log10(wrong / bases):.1f}" if wrong and bases else "none"


def differences(hit, length):
    """Return the places on a contig where it differs from the reference, and the edits of its alignment."""
    (text,) = (field[5:] for field in hit[12:] if field.startswith("cs:Z:"))
    reverse = hit[4] == "-"
    place, step = (int(hit[3]), -1) if reverse else (int(hit[2]), 1)
    events, edits = [], 0
    for kind, what in re.findall(r"([:*+-])(\d+|[a-z]+)", text):
        bases = {":": lambda w: int(w), "*": lambda w: 1, "+": len, "-": lambda w: 0}[kind](what)
        if kind != ":":
            events.append(min(place, place + step * bases, length - 1))
            edits += 1 if kind == "*" else len(what)
        place += step * bases
    return events, edits


def is_listed(bases, listed, place):
    """Return whether a base next to a place is listed, or one of a run that it is in."""
    low, high = max(0, place - 1), min(len(bases), place + 2)
    while low and bases[low - 1] == bases[low]:
        low -= 1
    while high < len(bases) and bases[high] == bases[high - 1]:
        high += 1
    return bool(listed[low:high].any())


if __name__ == "__main__":
    main()
