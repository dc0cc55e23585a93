"""What every format of overlaps keeps to."""

import os

import numpy as np
import pytest

from overlapper.errors import OutputError, ParameterError
from overlapper.io.outputs import OutputFile
from overlapper.io.writers import FORMATS, open_overlaps, read_overlaps, write_overlaps
from overlapper.tables import Overlaps, Reads
from tests.read_sets import assert_same

READS = 50


@pytest.fixture(params=FORMATS)
def ending(request):
    return request.param


@pytest.fixture(scope="module")
def reads():
    return Reads.from_sequences(
        [f"read/{i}" for i in range(READS)], ["ACGT" * (500 + i) for i in range(READS)]
    )


def overlaps_of(rows, *, aligned, seed=0):
    """Random rows; alignments are all matches, so that they fit their intervals."""
    random = np.random.default_rng(seed)
    query = random.integers(0, READS - 1, rows)
    start = random.integers(0, 1000, (2, rows))
    span = random.integers(1, 1000, rows)
    table = Overlaps(
        query=query,
        target=random.integers(query + 1, READS),
        reverse=random.random(rows) < 0.5,
        q_start=start[0],
        q_end=start[0] + span,
        t_start=start[1],
        t_end=start[1] + span,
        matches=span,
        block_length=span,
        score=random.integers(-10, 1000, rows),
        seeds=random.integers(0, 100, rows),
        divergence=np.where(random.random(rows) < 0.2, np.nan, random.integers(0, 3000, rows) / 10_000),
        kind=random.integers(0, 4, rows),
        edits=random.integers(0, 100, rows) if aligned else None,
        cigar=span << 4 | 7 if aligned else None,
        cigar_offsets=np.arange(rows + 1) if aligned else None,
    )
    return table.validate()


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_what_is_written_is_read_back(ending, reads, tmp_path, rows, aligned):
    overlaps = (overlaps_of(rows, aligned=aligned) if rows else Overlaps.empty()).sort_canonical()
    path = f"{tmp_path}/out{ending}"
    write_overlaps(overlaps, reads, path)
    assert_same(read_overlaps(path, reads), overlaps)
    assert_same(read_overlaps(path, reads.names), overlaps)


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_bytes_depend_on_the_rows_alone(ending, reads, tmp_path):
    overlaps = overlaps_of(140_000, aligned=False)
    folders = []
    for threads, block in ((1, len(overlaps)), (1, 33_333), (2, 50_000)):
        folders.append(tmp_path / f"{threads}-{block}")
        folders[-1].mkdir()
        with open_overlaps(f"{folders[-1]}/out{ending}", reads, threads=threads) as writer:
            for start in range(0, len(overlaps), block):
                writer.write(overlaps.take(np.arange(start, min(start + block, len(overlaps)))))
    assert bytes_in(folders[0]) == bytes_in(folders[1]) == bytes_in(folders[2])


def test_an_error_in_the_middle_keeps_the_file_that_was_there(ending, reads, tmp_path):
    write_overlaps(overlaps_of(10, aligned=False), reads, f"{tmp_path}/out{ending}")
    before = bytes_in(tmp_path)
    with pytest.raises(RuntimeError), open_overlaps(f"{tmp_path}/out{ending}", reads) as writer:
        writer.write(overlaps_of(1000, aligned=False, seed=1))
        raise RuntimeError
    assert bytes_in(tmp_path) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_is_an_output_error_and_leaves_nothing(ending, reads, tmp_path, monkeypatch):
    enter = OutputFile.__enter__

    def enter_on_full_disk(output):
        enter(output)
        output._file.close()
        output._file = open("/dev/full", "wb")  # noqa: SIM115
        return output

    monkeypatch.setattr(OutputFile, "__enter__", enter_on_full_disk)
    with pytest.raises(OutputError, match="No space left on device"):
        write_overlaps(overlaps_of(1000, aligned=False), reads, f"{tmp_path}/out{ending}")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_an_output_error(ending, reads, tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"):
        write_overlaps(Overlaps.empty(), reads, f"{tmp_path}/missing/out{ending}")


def test_a_folder_of_that_name_is_an_output_error(ending, reads, tmp_path):
    (tmp_path / f"out{ending}").mkdir()
    (tmp_path / f"out{ending}" / "something").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        write_overlaps(Overlaps.empty(), reads, f"{tmp_path}/out{ending}")
    assert [path.name for path in tmp_path.iterdir()] == [f"out{ending}"]


def test_other_endings_are_refused_with_those_there_are(reads):
    with pytest.raises(ParameterError, match=r"\.paf, \.paf\.gz, \.parquet"):
        open_overlaps("out.txt", reads)
