"""Correction beside racon: time, identity to the reference and aligned bases, on the same reads and threads.

    python -m tests.benchmarks.correct reads.fastq.gz reference.fasta.gz --threads 2

Needs minimap2 and racon. Overlaps are found anew on both sides (racon's by minimap2 with ``--dual=yes``) and
their time is counted; racon's own time is told apart. Identity is that of primary alignments by minimap2.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.benchmarks.harness import measured, overlapper, parser_of, placed_by_minimap2


def main() -> None:
    """Run both and print a table."""
    parser = parser_of(__doc__, "reads", "reference", threads=2, rounds=2, minimap_preset="ava-pb")
    options = parser.parse_args()
    threads = str(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, theirs, paf = folder / "ours.fastq.gz", folder / "racon.fasta", folder / "overlaps.paf"
        our_seconds = overlapper(
            "correct", options.reads, "-o", ours, "-q", "--threads", threads, "--rounds", options.rounds
        ).wall
        finding = ["minimap2", "-t", threads, "-x", options.minimap_preset, "--dual=yes"]
        map_seconds = measured([*finding, options.reads, options.reads], paf).wall
        racon_seconds = measured(
            ["racon", "-f", "-t", threads, options.reads, paf, options.reads], theirs
        ).wall
        print(f"{'':12}{'seconds':>10}{'identity':>10}{'aligned bases':>15}")
        for label, seconds, reads in (
            ("raw", 0.0, options.reads),
            ("ours", our_seconds, ours),
            ("racon", map_seconds + racon_seconds, theirs),
        ):
            identity, bases = aligned(options.reference, str(reads), threads)
            print(f"{label:12}{seconds:10.1f}{identity:10.5f}{bases:15,}")
        print(
            f"racon alone {racon_seconds:.1f} s, {racon_seconds / our_seconds:.1f} times ours with overlaps"
        )


def aligned(reference: str, reads: str, threads: str) -> tuple[float, int]:
    """Return identity and aligned read bases of the primary alignments."""
    seen: set[str] = set()
    matches = columns = bases = 0
    for fields in placed_by_minimap2("-t", threads, "-x", "map-ont", "-c", reference, reads):
        if "tp:A:P" in fields and fields[0] not in seen:
            seen.add(fields[0])
            matches += int(fields[9])
            columns += int(fields[10])
            bases += int(fields[3]) - int(fields[2])
    return matches / max(columns, 1), bases


if __name__ == "__main__":
    main()
