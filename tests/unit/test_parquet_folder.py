"""Overlaps as a folder of Parquet files by range of targets, as other programs read it."""

import numpy as np
import pandas
import pyarrow.compute
import pyarrow.dataset
import pytest

from overlapper.errors import OutputError
from overlapper.io import parquet_folder
from overlapper.io.parquet import reads_of_parquet
from overlapper.io.writers import open_overlaps, read_overlaps, write_overlaps
from overlapper.tables import Overlaps
from tests.contract.test_writers import assert_same, overlaps_of, reads  # noqa: F401

RANGE_BASES = 20_000
CANONICAL = ["query", "target", "reverse", "q_start", "t_start"]


@pytest.fixture
def folder(reads, tmp_path, monkeypatch):  # noqa: F811
    """Five ranges of ten reads, written in pieces; and what was written."""
    monkeypatch.setattr(parquet_folder, "RANGE_BASES", RANGE_BASES)
    monkeypatch.setattr(parquet_folder, "_GROUP_ROWS", 100)
    overlaps = overlaps_of(3000, aligned=True).sort_canonical()
    with open_overlaps(f"{tmp_path}/out.parquet/", reads) as writer:
        for start in range(0, len(overlaps), 700):
            writer.write(overlaps.rows(start, min(start + 700, len(overlaps))))
    return tmp_path / "out.parquet", overlaps


def test_each_file_holds_the_targets_of_its_range(folder, reads):  # noqa: F811
    path, overlaps = folder
    firsts = sorted(int(part.name.partition("=")[2]) for part in path.iterdir())
    assert len(firsts) > 4
    for first, following in zip(firsts, [*firsts[1:], len(reads)], strict=True):
        frame = pandas.read_parquet(path / f"first_target={first}" / "overlaps.parquet")
        expected = overlaps.take((overlaps.target >= first) & (overlaps.target < following))
        assert reads.lengths[first:following].sum() <= RANGE_BASES
        np.testing.assert_array_equal(frame["target"], expected.target)
        np.testing.assert_array_equal(frame["query"], expected.query)


def test_others_read_the_folder_as_one_table(folder, reads):  # noqa: F811
    path, overlaps = folder
    frame = pandas.read_parquet(path).sort_values(CANONICAL)
    assert len(frame) == len(overlaps)
    np.testing.assert_array_equal(frame["score"].sum(), overlaps.score.sum())
    names = pandas.read_parquet(path.with_name("out.reads.parquet"))
    named = frame.merge(names, left_on="target", right_on="number")
    assert list(named["name"]) == [reads.name(target) for target in named["target"]]
    table = pyarrow.dataset.dataset(path, partitioning="hive")
    few = table.to_table(filter=pyarrow.compute.field("first_target") == 0)
    assert 0 < len(few) < len(overlaps)
    assert few["target"].to_numpy().max() < table.to_table()["first_target"].to_numpy().max()


def test_polars_reads_ranges_and_joins_names(folder, reads):  # noqa: F811
    polars = pytest.importorskip("polars", reason="polars is not installed: pip install polars")
    path, overlaps = folder
    table = polars.scan_parquet(f"{path}/", hive_partitioning=True)
    whole = table.sort(CANONICAL).collect()
    np.testing.assert_array_equal(whole["query"].to_numpy(), overlaps.query)
    np.testing.assert_array_equal(whole["q_end"].to_numpy(), overlaps.q_end)
    last = int(whole["first_target"].max())
    few = table.filter(polars.col("first_target") == last).collect()
    assert len(few) == np.count_nonzero(overlaps.target >= last) > 0
    names = polars.read_parquet(path.with_name("out.reads.parquet"))
    joined = few.join(names, left_on="target", right_on="number")
    assert sorted(joined["name"]) == sorted(reads.name(target) for target in few["target"])


def test_the_folder_is_read_with_and_without_its_slash(folder, reads):  # noqa: F811
    path, overlaps = folder
    assert_same(read_overlaps(path, reads), overlaps)
    assert_same(read_overlaps(f"{path}/", reads), overlaps)
    assert reads_of_parquet(f"{path}/").names == reads.names


def test_a_folder_takes_the_place_of_one_like_it(folder, reads):  # noqa: F811
    path, _ = folder
    write_overlaps(Overlaps.empty(), reads, f"{path}/")
    assert len(read_overlaps(path, reads)) == 0
    assert sorted(part.name for part in path.parent.iterdir()) == ["out.parquet", "out.reads.parquet"]


def test_the_old_folder_stays_where_the_new_one_cannot_take_its_place(folder, reads, monkeypatch):  # noqa: F811
    path, overlaps = folder
    rename = parquet_folder.os.rename

    def rename_but_the_new(source, target):
        if str(source).endswith("/new"):
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(parquet_folder.os, "rename", rename_but_the_new)
    with pytest.raises(OutputError, match="cannot be written: Input/output error"):
        write_overlaps(Overlaps.empty(), reads, f"{path}/")
    assert_same(read_overlaps(f"{path}/", reads), overlaps)
    assert sorted(part.name for part in path.parent.iterdir()) == ["out.parquet", "out.reads.parquet"]
