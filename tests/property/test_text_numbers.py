"""Numbers in text are what Python says they are, wherever in the text they stand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.text.text_numbers import FAILED, MAX_INTEGER, decimal, integer
from overlapper.kernels.text.text_words import field_end
from tests.tries import tries

BEHIND = st.sampled_from(["\n", "\t\n", "\tdv:f:0.5\n", "\t12345678901234567890\n"])
DIGITS = st.text("0123456789", min_size=1, max_size=12)


def read(kernel, before, text, behind):
    text_bytes = np.frombuffer((before + text + behind).encode(), np.uint8)
    start = np.uint64(len(before))
    end = field_end(text_bytes, start)
    assert end == len(before) + len(text.encode())
    return kernel(text_bytes, start, np.uint64(end))


@settings(deadline=None, max_examples=tries(300))
@given(before=st.text("\t9", max_size=9), sign=st.sampled_from(["", "-"]), digits=DIGITS, behind=BEHIND)
def test_integers(before, sign, digits, behind):
    expected = int(digits) if int(digits) <= MAX_INTEGER else None
    found = read(integer, before, sign + digits, behind)
    assert found == (FAILED if expected is None else -expected if sign else expected)


@pytest.mark.parametrize("text", ["-", "12a", "a", "1.5", "1/", "1:", "12345678x", "٣"])
def test_what_is_no_integer(text):
    assert read(integer, "\t", text, "\t12345678\n") == FAILED


@settings(deadline=None, max_examples=tries(300))
@given(whole=DIGITS, fraction=st.none() | st.text("0123456789", max_size=12), behind=BEHIND)
def test_decimals(whole, fraction, behind):
    text = whole if fraction is None else f"{whole}.{fraction}"
    assert read(decimal, "\t", text, behind) == pytest.approx(float(text), rel=1e-15)
    if len(text) <= 10:
        assert read(decimal, "\t", text, behind) == float(text)


@pytest.mark.parametrize("text", ["0.12x", "0..1", "x", "0.1-", "."])
def test_what_is_no_decimal(text):
    assert np.isnan(read(decimal, "\t", text, "\t12345678\n"))
