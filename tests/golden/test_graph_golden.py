"""Exports of two small graphs, byte for byte; ``python -m tests.golden.test_graph_golden`` renews them."""

from pathlib import Path

import pytest

from overlapper import graph
from overlapper.graph.export import read_gfa, unitig_fasta, unitig_gfa, unitig_table
from overlapper.io.outputs import write_lines
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
    write_lines(folder / "unitigs_miniasm.gfa", unitig_gfa(layout, reads, overlaps=overlaps, read_lines="a"))
    write_lines(folder / "unitigs_hifiasm.gfa", unitig_gfa(layout, reads, read_lines="A"))
    write_lines(folder / "unitigs_contained.gfa", unitig_gfa(layout, reads, contained=True))
    lines = read_gfa(layout.graph, reads, overlaps=overlaps, contained=True, layout=layout)
    write_lines(folder / "reads.gfa", lines)
    write_lines(folder / "unitigs.fasta", unitig_fasta(layout, reads))
    write_lines(folder / "unitigs.tsv", unitig_table(layout))


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
