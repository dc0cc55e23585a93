"""``overlapper report``: a page that stands alone, says what it leaves out, and shows the numbers given."""

import dataclasses
import gzip
import html.parser
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from overlapper.graph.gfa import read_gfa
from overlapper.io.writers import write_overlaps
from overlapper.overlap.pipeline import run
from overlapper.report import build_report, read_inputs
from overlapper.report.correction import read_changes
from overlapper.report.overlaps import coverage_along, identities
from overlapper.report.page import Section, Table
from overlapper.report.page import page as page_of
from overlapper.report.reads import mean_qualities
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Overlaps, Reads
from tests.cli.conftest import RUN_FILES as ALL

VOID = {"meta", "link", "br"}


@pytest.fixture(scope="module")
def folder(run_folder):
    return run_folder


@pytest.fixture(scope="module")
def page(folder):
    inputs = read_inputs([str(folder / name) for name in ALL])
    return build_report(inputs)


class Outline(html.parser.HTMLParser):
    """What a page is made of; fails on elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.links = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_page_loads_nothing_and_runs_nothing(page):
    outline = Outline(page)
    assert not outline.of("script")
    assert not [a for _, a in outline.elements if any(name.startswith("on") for name in a)]
    links = [value for _, a in outline.elements for name, value in a.items() if name in ("src", "href")]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_page_is_made_for_screen_readers(page):
    outline = Outline(page)
    assert outline.of("html")[0]["lang"] == "en"
    assert len(outline.of("h1")) == 1
    headings = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))
    ids = [a["id"] for _, a in outline.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in outline.of("a")} <= set(ids)
    shown = [a for a in outline.of("svg") if a.get("role") == "img"]
    assert len(shown) == len(outline.of("figure")) >= 7
    assert all(len(a["aria-label"]) > 40 for a in shown)
    assert len(outline.of("figcaption")) == len(outline.of("figure"))
    folded = page.count("<summary>Parameters of overlapper")
    zeros = page.count("of 0</summary>")
    # The picture of the graph has no table of its own: that of the unitigs is beside it.
    assert len(outline.of("details")) == len(outline.of("figure")) - 1 + folded + zeros
    assert zeros > 0
    assert folded == 2
    assert all(
        {"tabindex", "role", "aria-label"} <= a.keys()
        for a in outline.of("div")
        if a.get("class") == "scroll"
    )


def test_the_graph_is_drawn(page, folder):
    gfa = read_gfa(str(folder / "u.gfa"))
    picture = re.search(r"<h3>Assembly graph</h3>.*?(<svg.*?</svg>)", page, re.DOTALL)[1]
    titles = [element.text for element in ElementTree.fromstring(picture).iter() if element.tag == "title"]
    assert titles == [f"{name}, {n:,} bases" for name, n in zip(gfa.names, gfa.lengths, strict=True)]


def test_a_graph_too_large_to_be_read_is_not_drawn(tmp_path):
    (tmp_path / "g.gfa").write_text("".join(f"S\ts{i}\tACGT\n" for i in range(301)))
    page = build_report(read_inputs([str(tmp_path / "g.gfa")]))
    assert "The graph is not drawn: of 301 segments" in page and "<h3>Assembly graph" not in page


def test_pictures_in_the_page_are_well_formed(page):
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(picture)


def test_the_page_shows_the_numbers_of_its_files(page, folder):
    run = json.loads((folder / "run.json").read_text())
    funnel = run["funnel"]
    layout = json.loads((folder / "layout.json").read_text())
    cells = set(re.findall(r"<td[^>]*>([^<]*)</td>", page))
    for count in [*funnel.values(), *layout["counts"]["build"].values()]:
        assert f"{count:,}" in cells
    for size in layout["sizes"].values():
        assert {f"{size['reads']:,}", f"{size['edges']:,}"} <= cells
    for peak in (*run["memory"].values(), *layout["memory"].values()):
        assert f"{round(peak / 1e6):,}" in cells
    devices = run["devices"]
    assert f'<th scope="row">devices</th><td>{", ".join(devices)}</td>' in page
    rows = [line.split("\t") for line in (folder / "corrected.tsv").read_text().splitlines()[1:]]
    assert f"{sum(int(row[2]) for row in rows):,}" in cells
    assert "<h2" in page and ">Left out<" not in page
    lines = (folder / "o.paf").read_text().splitlines()
    assert f"<dt>Overlaps</dt><dd>{len(lines):,}</dd>" in page


def test_a_packed_table_of_changes_is_read(folder, tmp_path):
    text = (folder / "corrected.tsv").read_text()
    (tmp_path / "corrected.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert read_changes(str(tmp_path / "corrected.tsv.gz")).to_tsv() == text


@pytest.mark.parametrize("left_out", ALL)
def test_what_is_not_given_is_left_out_and_told(folder, left_out):
    inputs = read_inputs([str(folder / name) for name in ALL if name != left_out])
    text = build_report(inputs)
    Outline(text)
    told = re.findall(
        r'<p class="remark">([^<]*left out: they? needs? [^<]*|[^<]*left out: it needs[^<]*)</p>', text
    )
    assert len(told) == 1


def test_the_same_files_give_the_same_bytes(page, folder):
    inputs = read_inputs([str(folder / name) for name in ALL], threads=2)
    assert build_report(inputs, threads=2) == page


def test_titles_and_names_are_escaped(folder):
    text = build_report(read_inputs([str(folder / "run.json")]), title="<b>&x")
    assert "<h1>&lt;b&gt;&amp;x</h1>" in text


def test_few_and_empty_reads_still_make_a_page(command, tmp_path):
    (tmp_path / "r.fa").write_text(">a\nACGTACGTAC\n>b\n\n")
    (tmp_path / "o.paf").write_text("")
    result = command("report", "r.fa", "o.paf", "-o", "r.html", "-q")
    assert (result.code, result.err) == (0, "")
    text = (tmp_path / "r.html").read_text()
    assert "There are no overlaps." in text
    assert "k-mer spectrum is left out" in text
    assert "Not drawn: 1 read without bases." in text


def test_mean_quality_is_that_of_the_mean_error():
    reads = Reads.from_sequences(["a", "b", "c"], ["AC", "", "ACG"])
    quality = np.array([10, 20, 30, 30, 30], np.uint8)
    reads = Reads(**{**vars(reads), "qualities": quality, "quality_offsets": np.array([0, 2, 2, 5])})
    expected = [-10 * np.log10((0.1 + 0.01) / 2), 30]
    assert mean_qualities(reads) == pytest.approx(expected, rel=1e-5)
    assert len(mean_qualities(Reads.from_sequences(["a"], ["AC"]))) == 0


def random_overlaps(reads, rows, seed):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 300, reads)
    query = random.integers(0, reads - 1, rows)
    target = query + 1
    ends = {}
    for side, read in (("q", query), ("t", target)):
        start = random.integers(0, lengths[read])
        ends |= {f"{side}_start": start, f"{side}_end": random.integers(start, lengths[read]) + 1}
    zero = np.zeros(rows, np.int32)
    rest = dict.fromkeys(("matches", "block_length", "score", "seeds", "kind"), zero)
    table = Overlaps(query=query, target=target, reverse=zero > 0, divergence=zero + np.nan, **ends, **rest)
    return table, lengths.astype(np.int64)


@pytest.mark.parametrize("seed", range(5))
def test_coverage_along_reads_is_that_of_each_middle(seed):
    overlaps, lengths = random_overlaps(12, 60, seed)
    parts = 7
    cover = coverage_along(overlaps, lengths, parts, 1000)
    touched = sorted({*overlaps.query.tolist(), *overlaps.target.tolist()})
    sides = [
        *zip(overlaps.query, overlaps.q_start, overlaps.q_end, strict=True),
        *zip(overlaps.target, overlaps.t_start, overlaps.t_end, strict=True),
    ]
    for row, read in zip(cover, touched, strict=True):
        middles = [(2 * part + 1) * lengths[read] / (2 * parts) for part in range(parts)]
        assert row.tolist() == [sum(r == read and s <= m < e for r, s, e in sides) for m in middles]
    mean = [sum(e - s for r, s, e in sides if r == read) / length for read, length in enumerate(lengths)]
    assert overlaps.mean_cover(lengths) == pytest.approx(mean)
    assert coverage_along(overlaps, lengths, parts, 4).shape == (4, parts)


def test_identity_is_that_of_the_alignments_where_there_are_any():
    reads, _ = simulate_reads(random_genome(8_000, seed=1), "hifi", coverage=6)
    plain = run(reads, "hifi").overlaps
    assert identities(plain) == pytest.approx(1 - plain.divergence)
    aligned = run(reads, "hifi", changes={"extender": "gact"}).overlaps
    assert identities(aligned) == pytest.approx(aligned.matches / aligned.block_length)
    overlaps, _ = random_overlaps(5, 9, 1)
    assert len(identities(overlaps)) == 0


def test_both_sides_of_an_overlap_count_as_one(command, folder, tmp_path):
    once, both = tmp_path / "once", tmp_path / "both"
    for place, sides in ((once, ()), (both, ("--both-sides",))):
        place.mkdir()
        command("convert", folder / "o.paf", place / "o.paf", *sides)
        assert command("report", place / "o.paf", "-o", place / "r.html", "--title", "x").code == 0
    lines = (once / "o.paf").read_text().count("\n")
    for place in (once, both):
        assert f"Overlap lengths. {lines} overlaps; half" in (place / "r.html").read_text()


def test_overlaps_alone_number_their_own_reads(command, folder, tmp_path):
    inputs = read_inputs([str(folder / "o.paf")])
    write_overlaps(inputs.overlaps, inputs.named, tmp_path / "o.parquet")
    result = command("report", "o.parquet", "-o", "-", "-q")
    assert result.code == 0
    assert "reads without overlaps are not in the file" in result.out.decode()


@pytest.mark.parametrize("overlaps", ["b.paf.gz", "b.parquet"])
def test_what_runs_counted_is_found_beside_their_output(command, folder, tmp_path, overlaps):
    reads = folder / "reads.fastq"
    told = command("overlap", reads, "-o", overlaps).err
    assert f"the counts are in {overlaps}.stats.json" in told
    assert command("layout", reads, overlaps, "-o", "u.gfa", "--min-overlap", 500).code == 0
    inputs = read_inputs([str(reads), str(tmp_path / overlaps), str(tmp_path / "u.gfa")])
    assert set(inputs.runs) == {"overlap", "layout"}
    page = build_report(inputs)
    assert "From candidates to overlaps" in page and "is left out: it needs the file that" not in page
    assert "Chimeras" in page and f"overlapper overlap {reads} -o {overlaps}" in page
    assert str(tmp_path / "u.gfa.stats.json") in page


def test_what_lies_beside_and_is_of_another_run_is_left_alone(command, folder, tmp_path):
    assert command("overlap", folder / "reads.fastq", "-o", "b.paf").code == 0
    kept = tmp_path / "b.paf.stats.json"
    assert read_inputs([str(tmp_path / "b.paf")]).funnel
    lines = (tmp_path / "b.paf").read_text().splitlines(keepends=True)
    (tmp_path / "b.paf").write_text("".join(lines[1:]))
    assert read_inputs([str(tmp_path / "b.paf")]).funnel is None
    kept.write_text("{")
    assert read_inputs([str(tmp_path / "b.paf")]).funnel is None
    kept.unlink()
    kept.mkdir()
    assert read_inputs([str(tmp_path / "b.paf")]).funnel is None


def test_statistics_that_are_named_are_the_only_ones(command, folder, tmp_path):
    reads = folder / "reads.fastq"
    assert command("overlap", reads, "-o", "b.paf", "--stats", "/dev/null").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["b.paf"]
    assert command("overlap", reads, "-o", "b.paf", "--stats", "s.json").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.paf", "s.json"]
    assert command("overlap", reads).code == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_statistics_that_cannot_be_kept_are_no_fault(command, folder, tmp_path):
    (tmp_path / "b.paf.stats.json").mkdir()
    result = command("overlap", folder / "reads.fastq", "-o", "b.paf")
    assert result.code == 0 and (tmp_path / "b.paf").stat().st_size
    assert "the counts are not kept: file b.paf.stats.json cannot be written" in result.err


def test_cells_of_wide_tables_name_their_columns_for_narrow_screens():
    table = Table("t", ("name", "a & b"), [("u", 1), ("v", 2)], wide=True)
    text = page_of("t", [], [], [Section("s", [table])])
    assert re.findall(r'data-of="([^"]*)">([^<]*)<', text) == [
        ("name", "u"), ("a &amp; b", "1"), ("name", "v"), ("a &amp; b", "2"),
    ]  # fmt: skip
    assert "data-of=" not in page_of("t", [], [], [Section("s", [dataclasses.replace(table, wide=False)])])
