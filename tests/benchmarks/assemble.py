"""Assembly beside minimap2 + miniasm + racon (two rounds), and Flye: time, memory, contigs, identity.

    python -m tests.benchmarks.assemble reads.fasta reference.fasta --threads 2 [--flye] [--rounds 1]

Needs minimap2, miniasm and racon; with ``--flye`` also flye. Each tool assembles the same reads,
files to file, one after the other, ``--rounds`` times in turn; the least seconds are printed. Contigs are
mapped back by minimap2: breaks are places where a contig leaves the reference for another place (the origin
of a circle is none), identity is that of the primary alignments.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

from overlapper.io.fastx import read_fastx
from tests.benchmarks.graph_peers import block_of, is_break
from tests.benchmarks.harness import OVERLAPPER, measured, parser_of, placed_by_minimap2

PRESETS = {"ont": ("ava-ont", "map-ont", "--nano-raw"), "clr": ("ava-pb", "map-pb", "--pacbio-raw")}


def steps(tool, reads, folder, options):
    """Return the commands of a tool, each with the file that its output goes to, and the contigs it makes."""
    overlap, mapping, flye = PRESETS[options.technology]
    threads = str(options.threads)
    if tool == "ours":
        command = [*OVERLAPPER, "assemble", reads, "-o", folder / "ours", "-t", threads, "-q"]
        return [(command, None)], folder / "ours" / "contigs.fasta"
    if tool == "flye":
        return [
            (["flye", flye, reads, "-o", folder / "flye", "-t", threads], None)
        ], folder / "flye" / "assembly.fasta"
    paf, gfa, draft = folder / "ava.paf", folder / "draft.gfa", folder / "draft-0.fasta"
    commands = [
        (["minimap2", "-x", overlap, "-t", threads, reads, reads], paf),
        (["miniasm", "-f", reads, paf], gfa),
        (["awk", '/^S/ {print ">" $2; print $3}', gfa], draft),
    ]
    for number in (1, 2):
        mapped, polished = folder / f"mapped-{number}.paf", folder / f"draft-{number}.fasta"
        commands += [
            (["minimap2", "-x", mapping, "-t", threads, draft, reads], mapped),
            (["racon", "-t", threads, reads, mapped, draft], polished),
        ]  # fmt: skip
        draft = polished
    return commands, draft


def run(tool, reads, folder, options):
    commands, contigs = steps(tool, reads, folder, options)
    wall, cpu, megabytes = zip(
        *(measured(words, output or os.devnull) for words, output in commands), strict=True
    )
    return (sum(wall), sum(cpu), max(megabytes)), contigs


def judge(contigs, reference, circular):
    """Map contigs back; return number, lengths, breaks, share covered, identity, and differences by kind."""
    blocks, matches, columns, differences = [], 0, 0, Counter()
    for f in placed_by_minimap2("-cx", "asm20", "-r2000,2000", "--cs", reference, contigs):
        matches, columns = matches + int(f[9]), columns + int(f[10])
        cs = next(tag for tag in f if tag.startswith("cs:Z:"))
        for kind, sign in (("substituted", "*"), ("inserted", "+"), ("deleted", "-")):
            differences[kind] += cs.count(sign)
        blocks.append(block_of(f))
    breaks = sum(a[0] == b[0] and is_break(a, b, circular) for a, b in pairwise(sorted(blocks)))
    lengths = sorted(read_fastx(str(contigs)).lengths.tolist(), reverse=True)
    return lengths, breaks, matches / max(columns, 1), dict(differences)


def main():
    parser = parser_of(__doc__, "reads", "reference", threads=2, rounds=1, flye=False)
    parser.add_argument("--technology", choices=PRESETS, default="ont")
    parser.add_argument("--linear", action="store_true", help="the reference is no circle")
    parser.add_argument("--only", nargs="*", help="tools to run: ours, racon, flye")
    options = parser.parse_args()
    tools = options.only or ["ours", "racon", *(["flye"] if options.flye else [])]
    spent = {tool: [] for tool in tools}
    contigs = {}
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            for tool in tools:
                folder = Path(name) / f"{tool}-{number}"
                folder.mkdir()
                figures, contigs[tool] = run(tool, options.reads, folder, options)
                spent[tool].append(figures)
        for tool in tools:
            wall, cpu, megabytes = (min(column) for column in zip(*spent[tool], strict=True))
            lengths, breaks, identity, differences = judge(
                contigs[tool], options.reference, not options.linear
            )
            print(
                f"{tool:6} {wall:7.1f} s {cpu:7.1f} s of CPU {megabytes:6.0f} MB  {len(lengths)} contigs, "
                f"longest {lengths[0]:,}, breaks {breaks}, identity {identity:.5f} {differences}",
                flush=True,
            )


if __name__ == "__main__":
    main()
