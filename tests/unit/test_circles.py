"""Maps of circular contigs: the depth along them, bases in doubt, and the picture."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.drawing import picture, ring
from overlapper.errors import FormatError
from overlapper.graph.gfa import read_gfa
from overlapper.report.circles import circle_parts, depth_along
from tests.tries import tries

LENGTH = 23
READS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(1, 60)), max_size=6)


@settings(max_examples=tries(200), deadline=None)
@given(READS, st.sets(st.integers(1, LENGTH - 1)))
def test_depth_along_a_circle_is_that_of_its_bases(reads, inner):
    depth = [0] * LENGTH
    for start, _, bases in reads:
        for place in range(start, start + bases):
            depth[place % LENGTH] += 1
    edges = [0, *sorted(inner), LENGTH]
    rows = np.array([(start, at, at + bases) for start, at, bases in reads], np.int64).reshape(-1, 3)
    expected = [sum(depth[start:end]) for start, end in itertools.pairwise(edges)]
    assert depth_along(rows, LENGTH, np.array(edges)).tolist() == expected


@pytest.fixture
def assembly(tmp_path):
    """A circle of 100 bases at 40x, where 20 of its reads lie, a line, and bases in doubt of both."""
    lines = [
        "S\tc\t*\tLN:i:100\tdp:f:40",
        "S\tl\t*\tLN:i:90\tdp:f:7",
        "L\tc\t+\tc\t+\t0M",
        "A\tl\t0\t+\tr\t0\t90",
    ]
    lines += ["A\tc\t60\t-\tr\t5\t85"] * 20 + ["A\tc\t140\t+\tr\t0\t20"] * 20
    (tmp_path / "contigs.noseq.gfa").write_text("\n".join(lines) + "\n")
    (tmp_path / "contigs.doubt.bed").write_text(
        "c\t0\t10\tdeep\t2.0\nc\t5\t12\tlow_quality\t20.0\nc\t95\t100\tdeep\t2.0\nl\t0\t9\tdeep\t2.0\n"
    )
    return tmp_path


def parts_of(folder):
    return circle_parts(folder, read_gfa(folder / "contigs.noseq.gfa"), "Run it again.")


def test_a_map_tells_depth_and_doubt(assembly):
    (figure,) = parts_of(assembly)
    assert figure.title == "Map of c"
    assert "40x to 40x. 17 bases in doubt" in figure.caption
    assert sum(row[3] for row in figure.table.rows) == 17
    assert [row[:3] for row in figure.table.rows][-1] == (96, 100, pytest.approx(40))
    words = [text.text for text in ElementTree.fromstring(figure.svg).iter("text")]
    assert words == ["1", "20", "40", "60", "80", "100 bases", "40x"]
    assert len(re.findall("line-b", figure.svg)) == 3  # from 0, 10 and 95


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("contigs.doubt.bed", "c\t5\t5\tdeep\t2"),
        ("contigs.doubt.bed", "c\t5"),
        ("contigs.noseq.gfa", "A\tc\t-1\t+\tr\t0\t9"),
    ],
)
def test_a_damaged_file_is_named(assembly, file, line):
    with open(assembly / file, "a") as lines:
        lines.write(f"{line}\n")
    number = len((assembly / file).read_text().splitlines())
    with pytest.raises(FormatError, match=rf"{file}, record on line {number}: is damaged: .*Run it again"):
        circle_parts(assembly, read_gfa(assembly / "contigs.noseq.gfa"), "Run it again.")


def test_of_many_circles_the_longest_are_drawn(tmp_path):
    lines = [f"S\tc{i}\t*\tLN:i:{i + 1}\nL\tc{i}\t+\tc{i}\t+\t0M" for i in range(14)]
    (tmp_path / "contigs.noseq.gfa").write_text("\n".join(lines) + "\n")
    (tmp_path / "contigs.doubt.bed").write_text("")
    *figures, remark = parts_of(tmp_path)
    assert [figure.title for figure in figures] == [f"Map of c{i}" for i in range(13, 1, -1)]
    assert remark.text == "Of 14 circles the longest 12 are drawn."


def test_a_ring_begins_at_the_top_and_goes_on_clockwise():
    drawing = ring(4000, np.array([0, 1, 0, 0]), np.array([[1000, 1001]]), ("4,000 bases",))
    root = ElementTree.fromstring(picture(drawing, "a", "b"))
    places = {text.text: (float(text.get("x")), float(text.get("y"))) for text in root.iter("text")}
    assert places["1"][0] == 200 and places["1"][1] < 60
    assert places["1k"][0] > 340 and abs(places["1k"][1] - 205) < 1
    assert places["2k"][0] == 200 and places["3k"][0] < 60
    (mark,) = (path.get("d") for path in root.iter("path") if path.get("class") == "line-b")
    x, y = map(float, re.match(r"M([\d.]+) ([\d.]+)", mark).groups())
    assert x > 330 and abs(y - 200) < 1
