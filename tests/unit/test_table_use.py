"""Tables as one meets them in a session: printed, looped over, taken apart, as data frames."""

import dataclasses

import numpy as np
import pytest

from overlapper import Mappings, Overlaps, Reads
from tests.unit.test_tables import TABLES, random_table, rows_of

READS = Reads.from_sequences(["a", "b<i>", "c", "d", "e"], ["ACGTN", "GG", "", "T", "C" * 90])


def plain(row):
    return tuple(
        value.tolist() if isinstance(value, np.ndarray) else value for value in row if value is not None
    )


@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("optional", [True, False])
def test_rows_of_a_loop_and_of_numbers(kind, optional):
    table = random_table(kind, 9, 7, optional)
    wanted = rows_of(table)
    assert [plain(row) for row in table] == wanted
    assert [plain(table[i]) for i in range(7)] == wanted
    assert plain(table[-1]) == plain(table[np.int64(6)]) == wanted[6]
    assert table[2]._fields == tuple(f.name for f in kind.fields_of("column", "ragged"))
    for wrong in (7, -8):
        with pytest.raises(IndexError, match=f"row {wrong} of 7"):
            table[wrong]
    for wrong in ("score", None, 1.5):
        with pytest.raises((TypeError, IndexError, ValueError)):
            table[wrong]


@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
def test_parts_are_tables(kind):
    table = random_table(kind, 10, 7)
    wanted = rows_of(table)
    mask = np.array([True, False] * 3 + [True])
    for rows, expected in (
        (slice(1, 4), wanted[1:4]), (slice(None, None, -2), wanted[::-2]), ([5, 0], [wanted[5], wanted[0]]),
        ([], []), (mask, wanted[::2]), (np.array([6]), wanted[6:]),
    ):  # fmt: skip
        assert isinstance(table[rows], kind)
        assert rows_of(table[rows].validate()) == expected


@pytest.mark.parametrize("rows", [0, 5000])
def test_a_loop_over_many_rows(rows):
    table = random_table(Overlaps, 11, rows)
    assert [row.score for row in table] == table.score.tolist()


def test_reads_one_by_one():
    scores = np.array([30, 31, 2, 3, 4, 5, 6], np.uint8)
    reads = dataclasses.replace(READS[:2], qualities=scores, quality_offsets=np.array([0, 5, 7])).validate()
    assert [(read.name, read.sequence, read.qualities.tolist()) for read in reads] == [
        ("a", "ACGTN", [30, 31, 2, 3, 4]), ("b<i>", "GG", [5, 6]),
    ]  # fmt: skip
    assert READS[-2].name == "d"
    assert READS[3].qualities is None
    half = dataclasses.replace(reads, qualities=scores[:5], quality_offsets=np.array([0, 5, 5]))
    assert half[1].qualities is None


def test_a_table_is_printed_as_one_line():
    table = random_table(Overlaps, 12, 1234, optional=False)
    assert repr(table).startswith("Overlaps(1,234 rows: query, target, reverse, ")
    assert "edits" not in repr(table)
    assert repr(READS) == "Reads(5 reads, 98 bases)"


def test_a_notebook_shows_the_first_rows():
    table = random_table(Overlaps, 13, 30)
    page = table._repr_html_()
    assert page.count("<tr>") == 11
    assert page.count("<td>") == 10 * page.count("<th>")
    assert "b&lt;i&gt;" in READS._repr_html_()
    assert "C" * 40 + "…" in READS._repr_html_()
    assert READS[:0]._repr_html_().count("<td>") == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_hold_names_where_reads_are_given(library):
    pytest.importorskip(library)
    overlaps = random_table(Overlaps, 14, 8)
    frame = getattr(overlaps, f"to_{library}")(READS)
    for column in ("query", "target"):
        assert list(frame[column]) == [READS.names[i] for i in getattr(overlaps, column)]
    assert list(frame["score"]) == overlaps.score.tolist()
    assert list(getattr(overlaps, f"to_{library}")()["query"]) == overlaps.query.tolist()
    mappings = random_table(Mappings, 15, 8)
    frame = getattr(mappings, f"to_{library}")(READS)
    assert list(frame["query"]) == [READS.names[i] for i in mappings.query]
    assert list(frame["target"]) == mappings.target.tolist()
    frame = getattr(mappings, f"to_{library}")(READS, READS[::-1])
    assert list(frame["target"]) == [READS.names[4 - i] for i in mappings.target]
    frame = getattr(READS, f"to_{library}")()
    assert list(frame["name"]) == READS.names
    assert list(frame["length"]) == [5, 2, 0, 1, 90]


def test_arrow_streams():
    pyarrow = pytest.importorskip("pyarrow")
    table = random_table(Overlaps, 16, 9)
    assert pyarrow.table(table).equals(table.to_arrow())


def test_a_read_is_shown_in_short():
    reads = Reads.from_sequences(["one", "two"], ["ACGT" * 1000, "ACG"])
    assert repr(reads[0]) == "Read('one', 4,000 bases: ACGTACGTACGTACGTACGT..., no qualities)"
    assert repr(reads[1]) == "Read('two', 3 bases: ACG, no qualities)"
