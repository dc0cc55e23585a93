"""Bases in doubt along the contigs of an assembly, as a report shows them."""

import pytest

from overlapper.errors import FormatError
from overlapper.report.doubt import doubt_parts

LENGTHS = {"utg1": 4000, "utg2": 1000}
LINES = (
    "utg1\t0\t10\tundecided\t1.0\nutg1\t20\t25\tundecided\t0.0\n"
    "utg1\t3000\t3100\tcontradicted\t9.0\nutg2\t5\t6\tstrands\t4.0\n"
)


def test_stretches_are_counted_by_reason_and_drawn(tmp_path):
    (tmp_path / "contigs.doubt.bed").write_text(LINES)
    (figure,) = doubt_parts(tmp_path, LENGTHS, "Run it again.")
    assert figure.table.rows == [("contradicted", 1, 100), ("strands", 1, 1), ("undecided", 2, 15)]
    assert figure.caption.startswith("116 bases of 5,000 may be wrong")
    assert figure.svg.count('class="line-pale"') == 2
    assert figure.svg.count('class="line-b"') == 8  # of 320 places of 12.5 bases
    assert figure.svg.count('class="line-a"') == 3


def test_without_contigs_or_their_doubt_nothing_is_drawn(tmp_path):
    assert doubt_parts(tmp_path, LENGTHS, "Run it again.") == []
    (tmp_path / "contigs.doubt.bed").write_text("")
    assert doubt_parts(tmp_path, {}, "Run it again.") == []
    (figure,) = doubt_parts(tmp_path, LENGTHS, "Run it again.")
    assert figure.table.rows == []


@pytest.mark.parametrize(
    "line",
    ["utg1\t0\t4001\tundecided\t1.0", "utg3\t0\t1\tundecided\t1.0", "utg1\t0\t1\tunknown\t1.0", "utg1\t0"],
)
def test_damaged_lines_are_named(tmp_path, line):
    (tmp_path / "contigs.doubt.bed").write_text(f"{LINES}{line}\n")
    with pytest.raises(FormatError, match=r"contigs\.doubt\.bed, record on line 5: is damaged"):
        doubt_parts(tmp_path, LENGTHS, "Run it again.")
