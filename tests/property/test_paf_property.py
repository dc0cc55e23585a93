"""PAF out and in against the plain Python of tests/oracle/paf.py."""

import dataclasses
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.io import write_overlaps
from overlapper.io.paf import paf_writer, read_paf
from overlapper.tables import Overlaps, Reads
from tests.oracle.paf import line_of, lines_of, row_of
from tests.read_sets import assert_same
from tests.tries import tries

INT32 = st.integers(-(2**31), 2**31 - 1)
LENGTHS = [0, 1, 70_000, 2**31 - 1, 12, 9999, 10_000]
NAMES = ["r", "a-rather/long|name" * 9, "x1", "x10", "é", ";", "0"]
OPERATIONS = "M=XID"
NUMBERS = dict(zip("MIDNSHP=X", range(9), strict=True))


def reads():
    table = Reads.from_sequences(NAMES, [""] * len(NAMES))
    return Reads(
        lengths=np.array(LENGTHS),
        **{name: getattr(table, name) for name in ("words", "word_offsets", "unknown_start", "unknown_end",
                                                   "unknown_offsets", "name_bytes", "name_offsets")},
    )  # fmt: skip


@st.composite
def rows(draw, aligned):
    query = draw(st.integers(0, len(NAMES) - 2))
    target = min(query + draw(st.integers(1, 2)), len(NAMES) - 1)  # several rows of a pair, often
    ends = {}
    for read, prefix in ((query, "q"), (target, "t")):
        a, b = draw(st.tuples(*[st.integers(0, LENGTHS[read])] * 2))
        ends |= {f"{prefix}_start": min(a, b), f"{prefix}_end": max(a, b)}
    cigar = []
    if aligned and draw(st.booleans()):
        cigar = draw(st.lists(st.tuples(st.integers(1, 2**20), st.sampled_from(OPERATIONS)), max_size=9))
        spans = [sum(n for n, op in cigar if op != skipped) for skipped in "DI"]
        if spans[0] > LENGTHS[query] or spans[1] > LENGTHS[target]:
            cigar = []
        else:
            ends = {"q_start": 0, "q_end": spans[0], "t_start": LENGTHS[target] - spans[1],
                    "t_end": LENGTHS[target]}  # fmt: skip
    share = draw(st.one_of(st.none(), st.integers(0, 20_000)))
    return {
        "query": query, "target": target, "reverse": draw(st.booleans()), **ends,
        "matches": draw(st.integers(0, 2**31 - 1)), "block_length": draw(st.integers(0, 2**31 - 1)),
        "score": draw(INT32.filter(lambda x: x > -(2**31))), "seeds": draw(st.integers(0, 2**31 - 1)),
        "divergence": None if share is None else float(np.float32(share / 10_000)),
        "kind": draw(st.integers(0, 3)),
        "edits": draw(st.integers(0, 2**31 - 1)) if aligned else None, "cigar": cigar,
    }  # fmt: skip


tables = st.booleans().flatmap(lambda aligned: st.lists(rows(aligned), max_size=12))


def table_of(rows):
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    if not rows:
        return Overlaps.empty()
    cigars = columns.pop("cigar")
    if rows[0]["edits"] is None:
        del columns["edits"]
    if any(cigars):
        columns["cigar"] = [n << 4 | NUMBERS[op] for cigar in cigars for n, op in cigar]
        columns["cigar_offsets"] = np.cumsum([0] + [len(cigar) for cigar in cigars])
    columns["divergence"] = [np.nan if x is None else x for x in columns["divergence"]]
    return Overlaps(**columns).validate()


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@settings(deadline=None, max_examples=tries(50))
@given(table=tables.filter(len), data=st.data())
def test_differences_of_copies_are_tagged(table, data, folder):
    for row in table:
        row["copy_differences"] = data.draw(st.integers(-1, 2**31 - 1))
    path = folder / "copies.paf"
    write_overlaps(table_of(table), reads(), path)
    assert path.read_text() == "".join(lines_of(table, NAMES, LENGTHS))


@settings(deadline=None, max_examples=tries(150))
@given(table=tables)
def test_lines_are_the_oracles_and_read_back_as_the_same_table(table, folder):
    path = folder / "out.paf"
    write_overlaps(table_of(table), reads(), path)
    assert path.read_text() == "".join(lines_of(table, NAMES, LENGTHS))
    again = read_paf(path, reads())
    assert_same(dataclasses.replace(again, secondary=None), table_of(table))
    if table == sorted(table, key=lambda row: (row["query"], row["target"])):
        assert again.secondary is None


@settings(deadline=None, max_examples=tries(150))
@given(table=tables, data=st.data())
def test_any_order_of_reads_gives_the_oracles_rows(table, data, folder):
    """The same lines, read against the reads in another order: pairs change places."""
    lines = "".join(line_of(row, NAMES, LENGTHS) for row in table)
    (folder / "out.paf").write_text(lines, newline=data.draw(st.sampled_from(["\n", "\r\n"])))
    names = data.draw(st.permutations(NAMES))
    expected = [row_of(line, names) for line in lines.splitlines()]
    read = dataclasses.replace(read_paf(folder / "out.paf", names), secondary=None)
    assert_same(read, table_of(expected))


@settings(deadline=None, max_examples=tries(100))
@given(table=tables, data=st.data())
def test_marks_of_a_file_are_written_again_in_any_order_of_reads(table, data, folder):
    marks = data.draw(st.lists(st.sampled_from("PS"), min_size=len(table), max_size=len(table)))
    lines = [line_of(row, NAMES, LENGTHS, mark) for row, mark in zip(table, marks, strict=True)]
    (folder / "out.paf").write_text("".join(lines))
    numbered = data.draw(st.permutations(range(len(NAMES))))
    given_reads = Reads.without_bases([NAMES[i] for i in numbered], [LENGTHS[i] for i in numbered])
    overlaps = read_paf(folder / "out.paf", given_reads)
    write_overlaps(overlaps, given_reads, folder / "again.paf")
    assert marks_in(folder / "again.paf") == marks


def marks_in(path):
    return [line.split("\t")[12][5] for line in path.read_text().splitlines()]


def test_of_equal_overlaps_the_best_does_not_depend_on_their_order(folder):
    row = {"query": 2, "target": 3, "reverse": False, "matches": 9, "block_length": 9, "score": 5,
           "seeds": 1, "divergence": None, "kind": 0, "edits": None, "cigar": []}  # fmt: skip
    places = [(40, 50, 10, 20), (10, 20, 70, 80), (10, 20, 60, 70)]
    table = [row | dict(zip(("q_start", "q_end", "t_start", "t_end"), p, strict=True)) for p in places]
    for rows in itertools.permutations(table):
        for overlaps in (table_of(list(rows)), table_of(list(rows)).mirrored()):
            write_overlaps(overlaps, reads(), folder / "ties.paf")
            assert marks_in(folder / "ties.paf") == ["P" if row is table[2] else "S" for row in rows]


@settings(deadline=None, max_examples=tries(30))
@given(table=tables, cut=st.integers(0, 12), threads=st.integers(1, 2))
def test_bytes_do_not_depend_on_blocks_or_threads(table, cut, threads, folder):
    overlaps = table_of(table)
    pairs = [(row["query"], row["target"]) for row in table]
    while 0 < cut < len(pairs) and pairs[cut - 1] == pairs[cut]:
        cut -= 1  # overlaps of a pair are written together
    for ending in ("paf", "paf.gz"):
        write_overlaps(overlaps, reads(), folder / f"whole.{ending}")
        with paf_writer(folder / f"cut.{ending}", reads(), threads=threads) as writer:
            writer.write(overlaps.take(np.arange(len(table))[:cut]))
            writer.write(overlaps.take(np.arange(len(table))[cut:]))
        assert (folder / f"cut.{ending}").read_bytes() == (folder / f"whole.{ending}").read_bytes()
