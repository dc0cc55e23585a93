"""PAF from both sides and by target, beside what plain text handling makes of the lines."""

import dataclasses
import re

import numpy as np
import pytest

from overlapper import Overlaps, Reads, write_overlaps
from overlapper.errors import ParameterError
from overlapper.io.sided import open_sided
from tests.contract.test_writers import overlaps_of

NAMES = [f"r{number}" for number in np.random.default_rng(4).permutation(200)]
READS = Reads.without_bases(NAMES, np.full(200, 10_000))


def turned(line):
    """Return a line of PAF as seen from the other read."""
    fields = line.split("\t")
    fields[0:4], fields[5:9] = fields[5:9], fields[0:4]
    for i, field in enumerate(fields):
        if field in ("cl:A:q", "cl:A:t"):
            fields[i] = "cl:A:t" if field == "cl:A:q" else "cl:A:q"
        if field.startswith("cg:Z:"):
            runs = re.findall(r"(\d+)(.)", field[5:])
            if fields[4] == "-":
                runs = runs[::-1]
            fields[i] = "cg:Z:" + "".join(n + {"I": "D", "D": "I"}.get(o, o) for n, o in runs)
    return "\t".join(fields)


def expected(lines, both_sides, by_target):
    if both_sides:
        lines = [side for line in lines for side in (line, turned(line))]
    if by_target:
        lines = sorted(lines, key=lambda line: (line.split("\t")[5], line.split("\t")[0]))
    return lines


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("both_sides", [False, True])
@pytest.mark.parametrize("by_target", [False, True])
@pytest.mark.parametrize("held_bytes", [1, 50_000, 1 << 27])
def test_lines_are_those_that_text_handling_gives(tmp_path, aligned, both_sides, by_target, held_bytes):
    overlaps = overlaps_of(700, aligned=aligned)
    overlaps = overlaps.take(overlaps.query < overlaps.target)
    overlaps = overlaps.take(overlaps.target < len(READS)).sort_canonical()
    pairs = np.unique(overlaps.query.astype(np.int64) * 1000 + overlaps.target, return_index=True)[1]
    overlaps = overlaps.take(np.sort(pairs))
    assert len(overlaps) > 50
    if aligned:  # three operations a row, each of its own length
        runs = np.arange(1, 3 * len(overlaps) + 1) << 4 | np.tile([7, 1, 2], len(overlaps))
        ends = np.arange(0, 3 * len(overlaps) + 1, 3)
        overlaps = dataclasses.replace(overlaps, cigar=runs, cigar_offsets=ends)
    write_overlaps(overlaps, READS, tmp_path / "plain.paf")
    lines = (tmp_path / "plain.paf").read_text().splitlines()
    for threads, block in ((1, 1000), (2, 60)):
        sides = {"both_sides": both_sides, "by_target": by_target, "held_bytes": held_bytes}
        with open_sided(tmp_path / "out.paf", READS, **sides, threads=threads) as writer:
            for start in range(0, len(overlaps), block):
                writer.write(overlaps[start : start + block])
        assert (tmp_path / "out.paf").read_text().splitlines() == expected(lines, both_sides, by_target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.paf", "plain.paf"]


def test_no_overlaps_are_an_empty_file(tmp_path):
    with open_sided(tmp_path / "out.paf", READS, both_sides=True, by_target=True) as writer:
        writer.write(Overlaps.empty())
    assert (tmp_path / "out.paf").read_bytes() == b""


def test_an_error_leaves_nothing(tmp_path):
    sides = {"both_sides": True, "by_target": True, "held_bytes": 1}
    with pytest.raises(RuntimeError), open_sided(tmp_path / "out.paf", READS, **sides) as writer:
        writer.write(overlaps_of(100, aligned=False)[:0])
        writer.write(Overlaps.concat([overlaps_of(5, aligned=False)]))
        raise RuntimeError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.parquet", "out.txt"])
def test_other_formats_are_refused(tmp_path, name):
    refused = pytest.raises(ParameterError, match=r"are for PAF, not for|does not end in")
    with refused, open_sided(f"{tmp_path}/{name}", READS, by_target=True):
        pass
    assert not list(tmp_path.iterdir())


def test_the_best_overlap_of_a_pair_is_marked_from_both_reads(tmp_path):
    overlaps = overlaps_of(3, aligned=False)
    one = {name: np.zeros(3, getattr(overlaps, name).dtype) for name in ("query", "t_start", "q_start")}
    pairs = dataclasses.replace(
        overlaps, **one, target=np.array([1, 1, 2], np.int32), score=np.array([50, 90, 10], np.int32)
    )
    with open_sided(tmp_path / "out.paf", READS, both_sides=True) as writer:
        writer.write(pairs)
    rows = [line.split("\t") for line in (tmp_path / "out.paf").read_text().splitlines()]
    assert [(NAMES.index(row[0]), NAMES.index(row[5]), row[12]) for row in rows] == [
        (0, 1, "tp:A:S"), (0, 1, "tp:A:P"), (1, 0, "tp:A:S"), (1, 0, "tp:A:P"), (0, 2, "tp:A:P"),
        (2, 0, "tp:A:P"),
    ]  # fmt: skip
