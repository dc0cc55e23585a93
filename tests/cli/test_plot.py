"""``overlapper plot pair`` and ``overlapper plot pile``: what is drawn is where it should be."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from overlapper.io.writers import write_overlaps
from overlapper.plots import align_pair, plot_pair
from overlapper.plots.pair import corners
from overlapper.plots.pile import _Pile
from overlapper.tables import OverlapClass, Overlaps, Reads
from tests.cli.conftest import assert_refused
from tests.read_sets import fasta_of

LETTERS = np.frombuffer(b"ACGT", np.uint8)
OTHER = str.maketrans("ACGT", "TGCA")


def genome(length, seed):
    return LETTERS[np.random.default_rng(seed).integers(0, 4, length)].tobytes().decode()


@pytest.fixture(scope="module", params=["+", "-"])
def pair(request):
    """Two reads that share 2,000 bases, the second read from either strand."""
    text = genome(5_000, 4)
    second = text[1_500:5_000]
    second = second[:900] + "A" + second[900:]  # an insertion inside the overlap
    if request.param == "-":
        second = second.translate(OTHER)[::-1]
    reads = Reads.from_sequences(["a", "b"], [text[:3_500], second])
    return request.param, reads, align_pair(reads)


def test_seeds_are_exact_matches(pair):
    strand, reads, found = pair
    a, b = reads.sequence(0), reads.sequence(1)
    assert found.seeds.length.sum() >= 1_900
    for q, t, n, reverse in zip(
        found.seeds.q_start, found.seeds.t_start, found.seeds.length, found.seeds.reverse, strict=True
    ):
        there = b[t : t + n]
        assert a[q : q + n] == (there.translate(OTHER)[::-1] if reverse else there)
    longest = int(found.seeds.length.argmax())
    assert bool(found.seeds.reverse[longest]) == (strand == "-")


def test_the_path_of_the_alignment_lies_on_the_seeds(pair):
    _, _, found = pair
    assert len(found.overlap) == 1
    query, target = corners(found.overlap)
    assert (query[0], query[-1]) == (found.overlap.q_start[0], found.overlap.q_end[0])
    ends = (found.overlap.t_start[0], found.overlap.t_end[0])
    assert (min(target[0], target[-1]), max(target[0], target[-1])) == ends
    longest = int(found.seeds.length.argmax())
    middle = found.seeds.q_start[longest] + found.seeds.length[longest] // 2
    place = found.seeds.t_start[longest] + found.seeds.length[longest] // 2
    rising = np.argsort(query, kind="stable")
    assert abs(np.interp(middle, query[rising], target[rising]) - place) <= 2


def test_the_picture_tells_what_it_shows(pair):
    strand, _, found = pair
    root = ElementTree.fromstring(plot_pair(found))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a, bases", "b, bases"} <= set(texts)
    assert any(text == "aligned: 99.95 %" for text in texts)
    assert any(text.startswith("same strand" if strand == "+" else "opposite") for text in texts)


def test_reads_that_share_nothing_are_drawn_as_such():
    reads = Reads.from_sequences(["a", "b"], [genome(300, 1), genome(300, 2)])
    assert "No alignment was found" in plot_pair(align_pair(reads))


def table(rows):
    names = ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end", "kind")
    columns = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    zero = np.zeros(len(rows), np.int32)
    rest = dict.fromkeys(("matches", "block_length", "score", "seeds"), zero)
    return Overlaps(**columns, **rest, divergence=zero.astype(np.float32))


LENGTHS = np.array([1000, 800, 300])
ROWS = [
    (0, 1, False, 600, 1000, 0, 400, OverlapClass.DOVETAIL),
    (0, 2, True, 100, 400, 0, 300, OverlapClass.TARGET_CONTAINED),
    (1, 2, False, 100, 200, 150, 250, OverlapClass.INTERNAL),
]


def test_a_pile_is_seen_from_its_read():
    pile = _Pile(table(ROWS[:2]), 0, LENGTHS)
    assert (pile.start.tolist(), pile.end.tolist()) == ([600, 100], [1000, 400])
    assert (pile.left.tolist(), pile.right.tolist()) == ([600, 100], [1000, 400])
    assert pile.kind.tolist() == ["dovetail", "holds the other"]
    other = _Pile(table(ROWS[1:]), 2, LENGTHS)
    assert (other.start.tolist(), other.end.tolist()) == ([0, 150], [300, 250])
    assert other.kind.tolist() == ["within the other", "internal match"]
    assert (other.left.tolist(), other.right.tolist()) == ([0, 50], [300, 300])


def test_both_sides_of_an_overlap_are_drawn_once(command, tmp_path):
    one = "a\t1000\t600\t1000\t+\tb\t800\t0\t400\t400\t400\t255\tcl:A:d\n"
    other = "b\t800\t0\t400\t+\ta\t1000\t600\t1000\t400\t400\t255\tcl:A:d\n"
    for name, lines in (("one", one), ("both", one + other)):
        (tmp_path / f"{name}.paf").write_text(lines)
        assert command("plot", "pile", f"{name}.paf", "a", "-o", f"{name}.svg").code == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "both.svg").read_bytes()


def test_the_depth_of_a_pile_is_that_of_its_bases():
    random = np.random.default_rng(5)
    start = random.integers(0, 900, 40)
    end = start + random.integers(1, 100, 40)
    zero = np.zeros(40, int)
    rows = list(zip(zero, zero + 1, zero > 0, start, end, zero, end - start, zero + 1, strict=True))
    edges, depth = _Pile(table(rows), 0, np.array([1000, 800])).depth()
    by_base = [((start <= base) & (base < end)).sum() for base in range(1000)]
    assert np.repeat(depth, np.diff(edges)).tolist() == by_base


@pytest.fixture
def files(tmp_path):
    reads = Reads.from_sequences(["a", "b", "c"], [genome(int(n), 9) for n in LENGTHS])
    write_overlaps(table(ROWS), reads, tmp_path / "o.paf")
    (tmp_path / "r.fa").write_text(fasta_of(reads) + ">empty\n>lonely\nACGTACGTACGT\n")


def test_pictures_are_written_and_the_same_each_time(command, files, tmp_path):
    for words in (("plot", "pile", "o.paf", "a"), ("plot", "pair", "r.fa", "a", "b")):
        for name in ("x.svg", "y.svg"):
            result = command(*words, "-o", name)
            assert (result.code, result.out) == (0, b""), result.err
        first, second = ((tmp_path / name).read_text() for name in ("x.svg", "y.svg"))
        assert first == second
        assert re.match(r"<svg xmlns=", first)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("pair", "r.fa", "a", "empty", "-o", "x.svg"), 1, "the read empty has no bases"),
        (
            ("pair", "r.fa", "a", "b", "-o", "x.svg", "--min-seed", "1"),
            1,
            "more than 5,000 exact matches of 1 bases or more, of which 200 would be drawn: give a higher",
        ),
    ],
)
def test_what_cannot_be_drawn_is_told(command, files, tmp_path, words, code, message, monkeypatch):
    monkeypatch.setattr("overlapper.plots.pair._MOST_FOUND", 5_000)
    monkeypatch.setattr("overlapper.plots.pair._MOST_SEEDS", 200)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert_refused(command("plot", *words), code, message, tmp_path, before)
