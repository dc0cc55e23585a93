"""``overlapper graph stats`` and ``overlapper graph plot``."""

import json
import re

import numpy as np
import pytest

from overlapper.graph.gfa import read_gfa
from overlapper.graph.plot import _labels, place_segments
from tests.cli.conftest import assert_refused

GFA = """\
H\tVN:Z:1.0
# a comment
L\ta\t+\tb\t+\t2M
S\ta\tACGTACGT\tdp:f:10
S\tb\t*\tLN:i:6\tdp:f:30
S\tc\tACGT\tRC:i:80
L\ta\t+\td\t-\t*
S\td\t*\tLN:i:5
S\te\tACG
L\tc\t+\tc\t+\t0M
C\ta\t+\te\t-\t2\t3M
a\ta\t0\tr:1-8\t+\t8
"""


@pytest.fixture
def gfa_file(tmp_path):
    (tmp_path / "g.gfa").write_text(GFA)
    return "g.gfa"


def test_stats_count_what_is_there(command, gfa_file, tmp_path):
    result = command("graph", "stats", gfa_file, "--json", "s.json")
    assert (result.code, result.err) == (0, "")
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats == {
        "segments": 4, "links": 3, "contained": 1, "bases": 23, "longest": 8, "n50": 6, "circular": 1,
        "isolated": 0, "components": 2, "largest_component": 19, "dead_ends": 3, "branching_ends": 1,
        "median_depth": 20.0,
    }  # fmt: skip
    shown = dict(line.split("\t") for line in result.out.decode().splitlines())
    assert {name.replace(" ", "_") for name in shown} == stats.keys()
    assert shown["dead ends"] == "3"


def test_walks_are_read_and_written(tmp_path):
    walks = ["W\ts\t1\tchr1\t0\t7\t>a<c>a", "W\ts\t2\tchr1\t*\t*\t<a"]
    (tmp_path / "g.gfa").write_text("\n".join([walks[0], "S\ta\tAC", "S\tc\tACG", walks[1]]) + "\n")
    found = read_gfa(tmp_path / "g.gfa")
    assert [walk.nodes for walk in found.walks] == [[0, 3, 0], [1]]
    assert [(walk.haplotype, walk.start, walk.end) for walk in found.walks] == [(1, 0, 7), (2, None, None)]
    assert [walk.line(found.names) for walk in found.walks] == walks


def test_links_that_are_given_twice_or_mirrored_count_once(command, tmp_path):
    links = ["a + b +", "a + b +", "b - a -", "a - a +", "a - b +", "b - a +"]
    lines = ["S a ACGT", "S b ACGT", *(f"L {link} 0M" for link in links)]
    (tmp_path / "g.gfa").write_text("".join("\t".join(line.split()) + "\n" for line in lines))
    told = command("graph", "stats", "g.gfa")
    counts = dict(line.split("\t") for line in told.out.decode().splitlines())
    assert (told.code, counts["links"], counts["dead ends"], counts["branching ends"]) == (0, "3", "1", "2")


def test_stats_read_standard_input_and_what_lacks_depth(command, tmp_path):
    (tmp_path / "g.gfa").write_text("S\ta\tACGT\r\nS\tb\t*\r\n")
    result = command("graph", "stats", "g.gfa")
    assert b"median depth\t-\n" in result.out
    assert b"dead ends\t4\n" in result.out


def test_a_picture_is_the_same_every_time(command, gfa_file, tmp_path):
    for name in ("1", "2"):
        result = command("graph", "plot", gfa_file, "-o", f"{name}.svg")
        assert (result.code, result.err, result.out) == (0, "", b"")
    first, second = ((tmp_path / f"{name}.svg").read_text() for name in "12")
    assert first == second
    assert first.startswith("<svg")
    titles = re.findall(r"<title>(.*?)</title>", first)
    # Of the picture, and of each segment as it is drawn for wide and for narrow windows.
    assert titles == ["Assembly graph", *2 * ["a, 8 bases", "b, 6 bases", "c, 4 bases", "d, 5 bases"]]
    assert first.count('class="line-axis"') == 2 * 3, "a line for each link"


def test_long_names_are_shortened_and_stay_within_the_picture(command, tmp_path):
    name = "0123456789abcdef-0123456789"
    (tmp_path / "g.gfa").write_text(f"S\t{name}\t*\tLN:i:900\n")
    assert command("graph", "plot", "g.gfa", "-o", "g.svg").code == 0
    assert "0123456789a…6789" in (tmp_path / "g.svg").read_text()
    (place,) = place_segments(read_gfa(tmp_path / "g.gfa"))
    size = np.array([300.0, 200.0])
    far = [place + 1000]  # a segment whose middle lies far beyond a corner
    ((segment, at),) = _labels([("name", "900")], np.array([900]), far, size)
    assert segment == 0
    assert (at > 0).all() and (at < size).all()


@pytest.mark.parametrize("pixels", [360, 1152])
def test_a_picture_is_as_wide_as_asked(command, gfa_file, tmp_path, pixels):
    assert command("graph", "plot", gfa_file, "-o", "g.svg", "--width", str(pixels)).code == 0
    assert f' width="{pixels}" ' in (tmp_path / "g.svg").read_text()


def test_a_picture_too_narrow_for_letters_is_refused(command, gfa_file, tmp_path):
    result = command("graph", "plot", gfa_file, "-o", "g.svg", "--width", "100")
    assert_refused(
        result, 1, "the width of the picture is 100 pixels, expected 200 to 20000", tmp_path, [gfa_file]
    )


def test_linked_ends_are_drawn_near_and_components_apart(gfa_file, tmp_path):
    a, b, c, d = place_segments(read_gfa(tmp_path / gfa_file).without_contained())

    def gap(one, two):
        return ((one - two) ** 2).sum() ** 0.5

    assert gap(a[-1], b[0]) < gap(a[0], b[0])
    assert gap(a[-1], d[-1]) < gap(a[-1], d[0])
    assert gap(c[0], c[-1]) < gap(c[0], c[len(c) // 2]), "a circle is closed"
    others = [*a, *b, *d]
    assert min(gap(p, q) for p in c for q in others) > 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file g.gfa: holds no segments (lines of S). Check that the file is GFA 1."),
        ("S\ta\tAC\nL\ta\t+\tb\t+\t*\n", "record on line 2: names the segment 'b', which is not in the file"),
        ("S\ta\tAC\nL\ta\t*\ta\t+\t*\n", "record on line 2: has the orientation '*', expected + or -"),
        ("S\ta\tAC\nS\ta\tAC\n", "record on line 2: names the segment 'a' once more"),
        ("S\ta\n", "record on line 1: has 2 columns, expected 3 or more for S"),
        (
            "S\ta\t*\tLN:i:x\n",
            "record on line 1: has 'x' where a number from 0 to 1,000,000,000,000 is expected",
        ),
        ("S\ta\tAC\nW\ts\t1\tn\t0\t2\t>a>b\n", "line 2: names the segment 'b', which is not in the file"),
        ("S\ta\tAC\nW\ts\t1\tn\t0\t2\ta\n", "line 2: has the walk 'a', expected > or < and names"),
        ("S\ta\tAC\tdp:f:x\n", "record on line 1: has a depth that is no number"),
        ("H\tVN:Z:2.0\nS\ta\t2\tAC\n", "record on line 1: says that the file is GFA 2, expected GFA 1"),
    ],
)
def test_bad_files_are_told(command, tmp_path, text, message):
    (tmp_path / "g.gfa").write_text(text)
    for words in (("stats", "g.gfa", "--json", "s.json"), ("plot", "g.gfa", "-o", "g.svg")):
        assert_refused(command("graph", *words), 1, message, tmp_path, ["g.gfa"])


def test_too_many_segments_for_a_picture_are_told(command, tmp_path):
    (tmp_path / "g.gfa").write_text("".join(f"S\ts{i}\tACGT\n" for i in range(2001)))
    result = command("graph", "plot", "g.gfa", "-o", "g.svg")
    assert_refused(result, 1, "the graph has 2001 segments", tmp_path, ["g.gfa"])
