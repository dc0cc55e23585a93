"""The truth table as a file."""

import numpy as np
import pytest

from overlapper.errors import EmptyInputError, FormatError
from overlapper.io.truth import COLUMNS, Truth, TruthRow, header, read_truth

ROWS = [
    TruthRow("a", "g", 0, 10, "+", 2, 12, 12, "normal", 0.95),
    TruthRow("b", "*", 0, 0, ".", 0, 7, 7, "junk", 0.0),
]


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "truth.tsv"
    path.write_text(header() + "".join(row.to_line() for row in ROWS))
    assert list(read_truth(str(path)).rows()) == ROWS


def test_columns_come_in_any_order_and_some_are_optional(tmp_path):
    path = tmp_path / "truth.tsv"
    path.write_text("#ref\tread\tstrand\tmore\tend\tstart\r\ng\ta\t-\tx\t9\t4\r\n")
    (row,) = read_truth(str(path)).rows()
    assert row[:9] == ("a", "g", 4, 9, "-", -1, -1, -1, "normal")
    assert np.isnan(row.identity)


def test_no_rows_make_an_empty_table():
    truth = Truth.from_rows([])
    assert len(truth) == 0
    assert all(len(getattr(truth, name)) == 0 for name in COLUMNS)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", FormatError, "line 1: the header has no column 'read'"),
        ("read\tref\tstart\tend\n", FormatError, "line 1: the header has no column 'strand'"),
        (header(), EmptyInputError, "no rows found below the header"),
        (header() + "a\tg\t0\n", FormatError, "line 2: 3 columns found, the header names 10"),
        (header() + ROWS[0].to_line() + "\n", FormatError, "line 3: 1 columns found"),
        (header() + ROWS[0]._replace(start="x").to_line(), FormatError, "line 2: not a number: .*'x'"),
        (
            header() + ROWS[0]._replace(end=0).to_line(),
            FormatError,
            "line 2: 0 to 0 on strand '.' is no",
        ),
        (header() + ROWS[0]._replace(strand="*").to_line(), FormatError, "strand '\\*' is no place"),
    ],
)
def test_bad_lines_are_told(tmp_path, text, error, message):
    path = tmp_path / "truth.tsv"
    path.write_text(text)
    with pytest.raises(error, match=message) as caught:
        read_truth(str(path))
    assert str(path) in str(caught.value)
