"""Our layout beside miniasm's, on the same overlaps.

``python -m tests.benchmarks.graph_peers [reads reference preset topology]`` takes a set of reads, its
reference, minimap2's preset and ``linear`` or ``circular``; without arguments every set of reads over 2 kb in
``OVERLAPPER_DATA``. minimap2 and miniasm must be installed. Overlaps are minimap2's and ours, each
laid out by both. Printed for each: unitigs (``c`` circular), share of the reference covered, breaks (places
where a unitig leaves the reference for another place), NGA50, and for the whole process, files to file,
kernels compiled beforehand, the least wall-clock seconds and the most memory of `ROUNDS` alternating runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from overlapper.io.fastx import read_fastx
from tests.benchmarks.harness import OVERLAPPER, measured, overlapper, placed_by_minimap2

MIN_BLOCK, MAX_JUMP, ROUNDS = 1000, 5000, 3
SETS = {
    "ont_r7_lambda/reads.fastq.gz": "ava-ont",
    "hifi_ecoli_piece/reads.fasta.gz": "ava-pb",
    "ont_r10_listeria/reads.fastq.gz": "ava-ont",
    "sim_clr_k12_rrn4/reads.fasta.gz": "ava-pb",
}


def block_of(f):
    """Return ``(unitig, start, end, strand, sequence, its start, end, length)`` of a line of PAF."""
    return f[0], int(f[2]), int(f[3]), f[4], f[5], int(f[7]), int(f[8]), int(f[6])


def is_break(one, two, circular):
    """Return whether two neighbouring blocks of a unitig are not neighbours on the reference."""
    if one[3:5] != two[3:5]:
        return True
    jump = two[5] - one[6] if one[3] == "+" else one[5] - two[6]
    turns = (jump - one[7], jump, jump + one[7]) if circular else (jump,)
    return min(map(abs, turns)) > MAX_JUMP + abs(two[1] - one[2])


def judge(unitigs, reference, circular):
    size = read_fastx(reference).total_bases
    lines = placed_by_minimap2("-xasm20", "-r2000,2000", "-t2", reference, unitigs)
    mapped = sorted(block for block in map(block_of, lines) if block[2] - block[1] >= MIN_BLOCK)
    breaks = sum(a[0] == b[0] and is_break(a, b, circular) for a, b in pairwise(mapped))
    covered, reach, here = 0, 0, None
    for sequence, start, end in sorted((b[4], b[5], b[6]) for b in mapped):
        reach, here = (reach, here) if sequence == here else (0, sequence)
        covered += max(end - max(start, reach), 0)
        reach = max(reach, end)
    total, nga50 = 0, 0
    for length in sorted((b[2] - b[1] for b in mapped), reverse=True):
        total += length
        if total >= size / 2:
            nga50 = length
            break
    return f"covers {covered / size:.4f}  breaks {breaks}  NGA50 {nga50:,}"


LAYOUTS = {
    "miniasm": ("miniasm", "-f", "{reads}", "{paf}"),
    "ours": (*OVERLAPPER, "layout", "{reads}", "{paf}", "-q"),
}


def lay_out(tool, reads, paf, gfa):
    """Run a layout; return seconds and megabytes."""
    spent = measured([word.format(reads=reads, paf=paf) for word in LAYOUTS[tool]], gfa)
    return spent.wall, spent.megabytes


def unitigs_of(gfa, fasta):
    """Write the segments as FASTA; return their lengths with c or l."""
    segments = [line.split("\t") for line in gfa.read_text().splitlines() if line[0] == "S"]
    fasta.write_text("".join(f">{s[1]}\n{s[2]}\n" for s in segments))
    return [f"{len(s[2])}{s[1][-1]}" for s in segments]


def find_overlaps(reads, preset, folder):
    """Yield name and file of the overlaps of minimap2 and ours."""
    measured(["minimap2", "-x", preset, "-t2", reads, reads], folder / "minimap2.paf")
    yield "minimap2", folder / "minimap2.paf"
    overlapper("overlap", reads, "-o", folder / "ours.paf")
    yield "ours", folder / "ours.paf"


def compare(reads, reference, preset, topology):
    print(reads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for finder, paf in find_overlaps(reads, preset, folder):
            lay_out("ours", reads, paf, folder / "ours.gfa")
            spent = {tool: [] for tool in LAYOUTS}
            for _ in range(ROUNDS):
                for tool in LAYOUTS:
                    spent[tool].append(lay_out(tool, reads, paf, folder / f"{tool}.gfa"))
            for tool, figures in spent.items():
                seconds, megabytes = min(s for s, _ in figures), max(m for _, m in figures)
                lengths = unitigs_of(folder / f"{tool}.gfa", folder / "unitigs.fasta")
                circular = topology == "circular"
                verdict = judge(folder / "unitigs.fasta", reference, circular) if lengths else "nothing"
                shown = " ".join(sorted(lengths, key=lambda x: -int(x[:-1]))[:12])
                print(
                    f"  {finder:8} {tool:8} {len(lengths):3} unitigs  {verdict}  {seconds:.2f} s",
                    f"{megabytes:.0f} MB  {shown}",
                    flush=True,
                )


if __name__ == "__main__":
    if len(sys.argv) == 5:
        compare(*sys.argv[1:])
    else:
        data = Path(os.environ.get("OVERLAPPER_DATA", Path(__file__).parents[3] / "shared" / "data"))
        for path, preset_of_set in SETS.items():
            compare(data / path, data / Path(path).parent / "reference.fasta.gz", preset_of_set, "linear")
