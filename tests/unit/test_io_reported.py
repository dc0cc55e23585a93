"""The columns of PAF files that evaluation reads."""

import gzip

import pytest

from overlapper.errors import FormatError
from overlapper.io import sources
from overlapper.io.reported import read_reported

LINE = "a\t100\t10\t90\t-\tb\t200\t0\t80\t70\t85\t0\ttp:A:S\tcm:i:9\n"


def test_columns(tmp_path):
    path = tmp_path / "o.paf.gz"
    path.write_bytes(gzip.compress((LINE + LINE.replace("b\t200", "c\t300").replace("-", "+")).encode()))
    overlaps = read_reported(str(path))
    assert overlaps.names == ["a", "b", "c"]
    assert (overlaps.query.tolist(), overlaps.target.tolist()) == ([0, 0], [1, 2])
    assert overlaps.reverse.tolist() == [True, False]
    assert overlaps.t_length.tolist() == [200, 300]
    assert [getattr(overlaps, name)[0] for name in ("q_length", "q_start", "q_end", "t_start", "t_end")] == [
        100, 10, 90, 0, 80]  # fmt: skip


def test_blank_lines_are_skipped(tmp_path):
    (tmp_path / "o.paf").write_text(f"\n{LINE}\n{LINE}\n")
    assert len(read_reported(str(tmp_path / "o.paf"))) == 2


def test_an_empty_file_has_no_overlaps(tmp_path):
    (tmp_path / "o.paf").write_text("")
    assert len(read_reported(str(tmp_path / "o.paf"))) == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (LINE[:20] + "\n", "columns found, PAF has 12 or more"),
        (LINE.replace("\t90\t", "\tx\t"), "column 4 is 'x', expected a whole number"),
        (LINE.replace("-", "*"), "the strand is '*', expected + or -"),
        (LINE.replace("\t90\t", "\t101\t"), "query interval 10 to 101 does not fit into a read of 100 bases"),
        (LINE.replace("\t10\t", "\t-1\t"), "query interval -1 to 90 does not fit"),
        (
            LINE.replace("\t0\t80\t", "\t81\t80\t"),
            "target interval 81 to 80 does not fit into a read",
        ),
    ],
)
@pytest.mark.parametrize("block_bytes", [10, 10_000])
def test_bad_lines_are_told(tmp_path, monkeypatch, block_bytes, bad, message):
    monkeypatch.setattr(sources, "BLOCK_BYTES", block_bytes)
    path = tmp_path / "o.paf"
    path.write_text(2 * LINE + bad + LINE)
    with pytest.raises(FormatError) as caught:
        read_reported(str(path))
    assert str(caught.value).startswith(f"file {path}, record on line 3: ")
    assert message in str(caught.value)
