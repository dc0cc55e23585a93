"""What all tables do."""

import dataclasses
import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import ParameterError
from overlapper.tables import Candidates, Matches, Overlaps, Reads, Seeding
from overlapper.tables.overlaps import pair_order
from overlapper.tables.ragged import gather_ragged
from tests.read_sets import columns_of, reads_of, texts_of
from tests.tries import tries

TABLES = [Candidates, Matches, Overlaps, Seeding]
every_table = pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)


def random_table(kind, seed, rows, optional=True):
    """Return a table with any values in its columns."""
    rng = np.random.default_rng(seed)
    values = {}
    for field in kind.fields_of("offsets"):
        if optional:
            values[field.name] = np.cumsum([0, *rng.integers(0, 4, rows)])
    for field in kind.fields_of("column", "ragged"):
        size = rows
        if field.metadata["kind"] == "ragged":
            if field.metadata["by"] not in values:
                continue
            size = values[field.metadata["by"]][-1]
        elif field.metadata["optional"] and not optional:
            continue
        values[field.name] = rng.integers(0, 5, size).astype(field.metadata["dtype"])
    return kind(**values).validate()


def rows_of(table):
    """Return the rows as tuples, ragged columns as lists."""
    columns = [
        getattr(table, field.name).tolist()
        for field in table.fields_of("column")
        if getattr(table, field.name) is not None
    ]
    for field in table.fields_of("ragged"):
        if (offsets := getattr(table, field.metadata["by"])) is not None:
            values = getattr(table, field.name).tolist()
            columns.append([values[a:b] for a, b in itertools.pairwise(offsets.tolist())])
    return list(zip(*columns, strict=True))


@settings(max_examples=tries(50), deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 60), turned=st.integers(0, 2**32))
def test_distinct_overlaps_are_the_first_of_their_sides(seed, rows, turned):
    rng = np.random.default_rng(turned)
    table = random_table(Overlaps, seed, max(rows, 1), optional=False)
    table = dataclasses.replace(table, kind=table.kind % 4)
    table = table.take(rng.integers(0, len(table), rows)).mirrored(rng.random(rows) < 0.5)
    seen, first = set(), []
    for number, (q, t, reverse, *places) in enumerate(
        zip(*(getattr(table, f).tolist() for f in ("query", "target", "reverse")),
            zip(table.q_start.tolist(), table.q_end.tolist(), strict=True),
            zip(table.t_start.tolist(), table.t_end.tolist(), strict=True), strict=True)
    ):  # fmt: skip
        side = (q, t, reverse, *places) if q <= t else (t, q, reverse, *places[::-1])
        if side not in seen:
            first.append(number)
        seen.add(side)
    assert rows_of(table.distinct()) == rows_of(table.take(np.array(first, np.int64)))


@every_table
@settings(max_examples=tries(50), deadline=None)
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 12), optional=st.booleans(), data=st.data())
def test_take_concat_and_sort(kind, seed, rows, optional, data):
    table = random_table(kind, seed, rows, optional)
    wanted = rows_of(table)
    assert len(table) == rows == len(wanted)
    chosen = data.draw(st.lists(st.integers(0, rows - 1), max_size=15)) if rows else []
    taken = table.take(np.array(chosen, np.int64)).validate()
    assert rows_of(taken) == [wanted[i] for i in chosen]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), bool)
    assert rows_of(table.take(mask).validate()) == list(itertools.compress(wanted, mask))
    cut = data.draw(st.integers(0, rows))
    parts = [table.take(np.arange(cut)), table.take(np.arange(cut, rows))]
    assert columns_of(kind.concat(parts).validate()) == columns_of(table)
    assert columns_of(table.rows(cut, rows).validate()) == columns_of(parts[1])
    keys = [getattr(table, key).tolist() for key in kind.SORT_KEYS]
    if keys:
        order = sorted(range(rows), key=lambda i: [key[i] for key in keys])
        assert rows_of(table.sort_canonical().validate()) == [wanted[i] for i in order]


@settings(max_examples=tries(50), deadline=None)
@given(
    seed=st.integers(0, 2**32), sizes=st.lists(st.integers(0, 8), max_size=4),
    threads=st.integers(1, 2), chunk=st.sampled_from([1, 3, 1 << 17]),
)  # fmt: skip
def test_rows_of_several_tables_by_pair(seed, sizes, threads, chunk):
    rng = np.random.default_rng(seed)
    parts = [random_table(Overlaps, seed + i, size, optional=False) for i, size in enumerate(sizes)]
    few = np.array([0, 1, 65_535, 65_536, 1 << 20, (1 << 31) - 1])
    parts = [
        dataclasses.replace(p, query=rng.choice(few, len(p)), target=rng.choice(few, len(p))) for p in parts
    ]
    together = [row for part in parts for row in rows_of(part)]
    with mock.patch("overlapper.tables.overlaps._ROWS_AT_A_TIME", chunk):
        rows = pair_order(parts, threads)
    assert rows.tolist() == sorted(range(len(together)), key=lambda i: together[i][:2])
    assert rows_of(Overlaps.gather(parts, rows, threads).validate()) == [together[i] for i in rows]


@every_table
@settings(max_examples=tries(20), deadline=None)
@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(0, 8), min_size=2, max_size=4))
def test_large_columns_are_joined_by_several_threads(kind, seed, sizes):
    parts = [random_table(kind, seed + i, size) for i, size in enumerate(sizes)]
    joined = columns_of(kind.concat(parts))
    with mock.patch("overlapper.tables.base._LARGE", 0):
        assert columns_of(kind.concat(parts, 3)) == joined


@every_table
def test_an_optional_column_stays_only_if_all_have_it(kind):
    both = kind.concat([random_table(kind, 1, 3, True), random_table(kind, 2, 2, False)]).validate()
    assert len(both) == 5
    assert all(getattr(both, field.name) is None for field in kind.fields_of("offsets", "ragged"))


@every_table
def test_nothing_makes_an_empty_table(kind):
    assert len(kind.concat([]).validate()) == 0
    assert len(kind.empty().validate()) == 0


@every_table
def test_columns_take_their_types(kind):
    table = random_table(kind, 3, 6)
    wide = dataclasses.replace(
        table, **{f.name: getattr(table, f.name).astype(np.float64) for f in kind.fields_of("column")}
    )
    for field in kind.fields_of("column"):
        assert getattr(wide, field.name).dtype == field.metadata["dtype"]
    assert columns_of(wide) == columns_of(table)


@every_table
def test_columns_of_other_lengths_are_refused(kind):
    table = random_table(kind, 4, 6)
    for field in kind.fields_of("column")[1:]:
        short = dataclasses.replace(table, **{field.name: getattr(table, field.name)[:-1]})
        with pytest.raises(ParameterError, match=rf"{field.name} has shape \(5,\), expected \(6,\)"):
            short.validate()
    for field in kind.fields_of("ragged"):
        short = dataclasses.replace(table, **{field.name: getattr(table, field.name)[:-1]})
        with pytest.raises(ParameterError, match=rf"{field.name} does not hold as many values"):
            short.validate()
        absent = dataclasses.replace(table, **{field.name: None})
        with pytest.raises(ParameterError, match=rf"{field.name} does not hold as many values"):
            absent.validate()


@pytest.mark.parametrize("offsets", [[0, 1], [1, 2, 3], [0, 2, 1], []])
def test_bad_offsets_are_refused(offsets):
    table = Seeding(sketched=np.zeros(2), marks=np.zeros(1), word_offsets=np.array(offsets))
    with pytest.raises(
        ParameterError, match="word_offsets must hold 3 values that start at 0 and never fall"
    ):
        table.validate()


@every_table
@pytest.mark.parametrize("rows", [0, 7])
@pytest.mark.parametrize("optional", [True, False])
def test_arrow_round_trip(kind, rows, optional):
    pytest.importorskip("pyarrow")
    table = random_table(kind, 5, rows, optional)
    assert columns_of(kind.from_arrow(table.to_arrow())) == columns_of(table)


@every_table
def test_part_of_an_arrow_table(kind):
    pyarrow = pytest.importorskip("pyarrow")
    table = random_table(kind, 6, 9)
    arrow = table.to_arrow()
    assert columns_of(kind.from_arrow(arrow.slice(3, 4))) == columns_of(table.take(np.arange(3, 7)))
    pieces = pyarrow.concat_tables([arrow.slice(0, 2), arrow.slice(2, 7)])
    assert columns_of(kind.from_arrow(pieces)) == columns_of(table)


@every_table
def test_pandas(kind):
    pytest.importorskip("pandas")
    table = random_table(kind, 7, 5)
    frame = table.to_pandas()
    assert list(frame.columns) == [field.name for field in kind.fields_of("column")]
    assert all((frame[name] == getattr(table, name)).all() for name in frame.columns)


@pytest.mark.parametrize("seed", range(5))
def test_reads_keep_their_bases_and_names(seed):
    texts = texts_of(seed)
    reads = reads_of(texts).validate()
    assert [reads.sequence(i) for i in range(len(reads))] == texts
    assert reads.total_bases == sum(map(len, texts))
    order = np.random.default_rng(seed).permutation(len(texts))
    taken = Reads.concat([reads.take(order[:4]), reads.take(order[4:])]).validate()
    assert [taken.sequence(i) for i in range(len(taken))] == [texts[i] for i in order]
    assert taken.names == [f"read{i}" for i in order]


def test_reads_of_the_wrong_size_are_refused():
    reads = reads_of(["ACGT" * 20, "AC"])
    with pytest.raises(ParameterError, match="ceil"):
        dataclasses.replace(reads, lengths=np.array([97, 2])).validate()
    with pytest.raises(ParameterError, match="negative length"):
        dataclasses.replace(reads, lengths=np.array([80, -1])).validate()
    with pytest.raises(ParameterError, match="1 names for 2 sequences"):
        Reads.from_sequences(["a"], ["A", "C"])


@pytest.mark.parametrize("longest", [3, 2000])
@pytest.mark.parametrize("chosen", ["none", "all", "most", "any"])
def test_ragged_rows_are_gathered_one_after_the_other(longest, chosen):
    rng = np.random.default_rng(longest)
    counts = rng.integers(0, longest, 40)
    starts = np.cumsum(counts) - counts
    values = rng.integers(0, 1 << 30, int(counts.sum()))
    rows = {
        "none": np.empty(0, np.int64),
        "all": np.arange(40),
        "most": np.delete(np.arange(40), [3, 4, 20]),
        "any": rng.integers(0, 40, 60),
    }[chosen]
    expected = [value for row in rows for value in values[starts[row] : starts[row] + counts[row]]]
    assert gather_ragged(values, starts[rows], counts[rows]).tolist() == expected


def test_heads_of_reads_are_names_and_lengths_alone():
    heads = Reads.from_sequences(["a", "b"], ["ACGTN", ""]).heads()
    assert heads.names == ["a", "b"]
    assert heads.lengths.tolist() == [5, 0]
    assert len(heads.words) == len(heads.unknown_start) == 0
