"""Our overlaps and our layout on the data sets: one unitig, all of the reference, no misjoin."""

import os
from pathlib import Path

import pytest

from overlapper import graph
from overlapper.io.fastx import read_fastx
from overlapper.io.truth import read_truth
from overlapper.overlap.pipeline import find_overlaps

DATA = Path(os.environ.get("OVERLAPPER_DATA", Path(__file__).parents[3] / "shared" / "data"))
SETS = {
    "ont_r7_lambda/reads.fastq.gz": "ont",
    "hifi_ecoli_piece/reads.fasta.gz": "hifi",
    "ont_r10_listeria/reads.fastq.gz": "ont",
    "sim_clr_k12_rrn4/reads.fasta.gz": "clr",
}


@pytest.mark.parametrize(("name", "preset"), SETS.items(), ids=[name.split("/")[0] for name in SETS])
def test_one_unitig_covers_the_reference(name, preset):
    path = DATA / name
    if not path.exists() and "CI" not in os.environ:
        pytest.skip(f"{path} is missing; set OVERLAPPER_DATA to the folder of the data sets")
    reads = read_fastx(path)
    layout = graph.assemble(reads, find_overlaps(reads, preset)).layout
    assert len(layout) == 1

    placed = places_along(layout, reads, read_truth(str(path.parent / "truth.tsv.gz")))
    assert len(placed) > len(layout.path) / 2
    directions = {forward for _, _, forward in placed}
    assert len(directions) == 1, "the unitig changes strand"
    in_order = placed if directions == {True} else placed[::-1]
    reach = in_order[0][0]
    for start, end, _ in in_order:
        assert start < reach + 1000, "the unitig jumps"
        reach = max(reach, end)
    reference = read_fastx(path.parent / "reference.fasta.gz")
    assert reach - in_order[0][0] >= 0.97 * reference.total_bases


def places_along(layout, reads, truth):
    """Return ``(start, end, forward)`` on the reference of the reads of the unitig that have one place."""
    normal = {
        str(truth.read[i]): (int(truth.start[i]), int(truth.end[i]), truth.strand[i] == "+")
        for i in range(len(truth.read))
        if truth.kind[i] == "normal"
    }
    steps = [(reads.name(int(layout.graph.reads.read[v >> 1])), v & 1) for v in layout.nodes(0).tolist()]
    placed = [(*normal[name], reverse) for name, reverse in steps if name in normal]
    return [(start, end, forward != bool(reverse)) for start, end, forward, reverse in placed]
