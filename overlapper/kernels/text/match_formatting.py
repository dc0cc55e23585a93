"""Exact matches as text: rows of numbers in, lines of TSV or PAF out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.text.paf_formatting import (
    put,
    put_interval_of_read,
    put_name,
    put_number,
    put_strand,
    text_bytes,
)
from overlapper.runtime.compile.cache import njit

ROW_BYTES = 160
"""No line is longer than this, but for its names."""

_NO_MAPPING_QUALITY = text_bytes(b"\t255")
_TAGS = text_bytes(b"\ttp:A:P\tNM:i:0")
_NEWLINE = 10


class MatchRows(NamedTuple):
    """Matches whose place is a sequence and a position there, all of shape (n,)."""

    query: np.ndarray
    """int32."""
    q_start: np.ndarray
    """int64."""
    target: np.ndarray
    """int32; sequence of the text."""
    t_start: np.ndarray
    """int64; first base on its forward strand."""
    length: np.ndarray
    """int32."""
    reverse: np.ndarray
    """bool."""


@njit(nogil=True, cache=True)
def format_tsv(rows, queries, targets, start, stop, out):
    """Write rows ``[start, stop)`` as lines of `overlapper.io.matches.TSV_COLUMNS`.

    Parameters
    ----------
    rows : MatchRows
    queries, targets : overlapper.kernels.text.paf_formatting.Names
    start, stop : int
    out : ndarray of uint8
        Room for the lines: `ROW_BYTES` each, and the names.

    Returns
    -------
    int
        Bytes written.
    """
    at = 0
    for row in range(start, stop):
        at = put_name(out, at, rows.query[row], queries)
        at = _put_interval(out, at, rows.q_start[row], rows.length[row])
        at = put_strand(out, at, rows.reverse[row])
        at = put_name(out, at, rows.target[row], targets)
        at = _put_interval(out, at, rows.t_start[row], rows.length[row])
        out[at] = _NEWLINE
        at += 1
    return at


@njit(nogil=True, cache=True)
def format_paf(rows, queries, targets, start, stop, out):
    """Write rows ``[start, stop)`` as lines of PAF; as `format_tsv`."""
    at = 0
    for row in range(start, stop):
        query, target, length = rows.query[row], rows.target[row], rows.length[row]
        q_start, t_start = rows.q_start[row], rows.t_start[row]
        at = put_interval_of_read(out, at, query, q_start, q_start + length, queries)
        at = put_strand(out, at, rows.reverse[row])
        at = put_interval_of_read(out, at, target, t_start, t_start + length, targets)
        at = put_number(out, at, length)
        at = put_number(out, at, length)
        at = put(out, put(out, at, _NO_MAPPING_QUALITY), _TAGS)
        out[at] = _NEWLINE
        at += 1
    return at


@njit(nogil=True, cache=True)
def _put_interval(out, at, start, length):
    at = put_number(out, at, start)
    return put_number(out, at, start + length)
