"""Exports of two small graphs, byte for byte; ``python -m tests.golden.test_graph_golden`` renews them."""

from pathlib import Path

import pytest

import graph
from graph.export import write_fasta, write_read_gfa, write_unitig_gfa, write_unitig_table
from tests.graph_cases import random_genome, read_set, tiled, two_paths

HERE = Path(__file__).parent
PARAMS = graph.GraphParams(min_overlap=30, min_depth=1, max_hang=10, fuzz=0)
CLEANING = graph.CleanParams(tip_reads=0, weak_rounds=0)


def circle():
    return read_set(random_genome(400, 1), tiled(400, 120, 25, 2, circular=True), circular=True)


def fork():
    return two_paths(3)


def write_all(case, folder):
    reads, overlaps = case()
    layout = graph.assemble(reads, overlaps, PARAMS, CLEANING).layout
    write_unitig_gfa(layout, reads, folder / "unitigs_miniasm.gfa", overlaps=overlaps, read_lines="a")
    write_unitig_gfa(layout, reads, folder / "unitigs_hifiasm.gfa", read_lines="A")
    write_read_gfa(
        layout.graph, reads, folder / "reads.gfa", overlaps=overlaps, contained=True, layout=layout
    )
    write_fasta(layout, reads, folder / "unitigs.fasta")
    write_unitig_table(layout, folder / "unitigs.tsv")


@pytest.mark.parametrize("case", [circle, fork], ids=lambda case: case.__name__)
def test_exports_equal_the_golden_files(case, tmp_path):
    write_all(case, tmp_path)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    expected = {path.name: path.read_text() for path in (HERE / "graph" / case.__name__).iterdir()}
    assert written == expected


if __name__ == "__main__":
    for each in (circle, fork):
        target = HERE / "graph" / each.__name__
        target.mkdir(parents=True, exist_ok=True)
        write_all(each, target)
