"""The index: parameters, files and what is refused, order and threads."""

import numpy as np
import pytest

from overlapper.errors import (
    EmptyInputError,
    FormatError,
    InputError,
    OutputError,
    ParameterError,
)
from overlapper.index import Index, store
from overlapper.tables import Reads
from tests.read_sets import assert_same

TEXT = Reads.from_sequences(["one", "two"], ["ACGTTGCATTGACCANNGATTACAGATTACA", "TTGACCAGGGTACCA"])
READS = Reads.from_sequences(["r", "s"], ["GGATTACAGATTGACCA", "TGGTCAATNNTGTAATC"])


@pytest.fixture(scope="module")
def index():
    return Index.build(TEXT, threads=1)


@pytest.fixture
def saved(index, tmp_path):
    path = tmp_path / "text.index"
    index.save(path)
    return path


def test_a_saved_index_is_the_same(index, saved):
    loaded = Index.load(saved)
    for name, array in index.fm._asdict().items():
        np.testing.assert_array_equal(array, getattr(loaded.fm, name))
    assert [loaded.text.name(i) for i in range(2)] == ["one", "two"]
    assert_same(index.mems(READS, 4), loaded.mems(READS, 4))


def test_nothing_is_left_behind_beside_a_saved_index(saved):
    assert list(saved.parent.iterdir()) == [saved]


def test_an_index_that_cannot_be_written(index, tmp_path):
    with pytest.raises(OutputError, match=r"nowhere.*cannot be written: No such file"):
        index.save(tmp_path / "nowhere" / "text.index")


def test_a_missing_index(tmp_path):
    with pytest.raises(InputError, match=r"missing\.index.*no such file"):
        Index.load(tmp_path / "missing.index")


@pytest.mark.parametrize("content", [b"", b">one\nACGT\n", b"OVL", b"BWT\x01" + bytes(5000)])
def test_a_foreign_file(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"foreign.*not an index"):
        Index.load(path)


def test_an_index_of_another_version(index, saved, monkeypatch):
    monkeypatch.setattr(store, "VERSION", store.VERSION + 1)
    with pytest.raises(FormatError, match=r"has version 2, expected 3\. Build the index again"):
        Index.load(saved)


def test_a_truncated_index(saved):
    content = saved.read_bytes()
    for length in [*range(60, len(content), 997), len(content) - 1]:
        saved.write_bytes(content[:length])
        with pytest.raises(FormatError, match="end is missing"):
            Index.load(saved)


def test_a_changed_index_is_refused_or_the_same(index, saved):
    """What no checksum covers (the time of an entry, such things) changes nothing."""
    content, refused = saved.read_bytes(), 0
    for place in range(60, len(content), 89):
        corrupt = bytearray(content)
        corrupt[place] ^= 4
        saved.write_bytes(corrupt)
        try:
            loaded = Index.load(saved)
        except FormatError:
            refused += 1
        else:
            assert all(np.array_equal(a, b) for a, b in zip(index.fm, loaded.fm, strict=True))
    assert refused > len(range(60, len(content), 89)) / 2


def test_a_text_without_known_bases():
    with pytest.raises(EmptyInputError, match="no A, C, G or T"):
        Index.build(Reads.from_sequences(["n", "e"], ["NNN", ""]))


def test_parameters_out_of_range(index):
    for wrong in [
        lambda: Index.build(TEXT, sample_rate=3),
        lambda: Index.build(TEXT, kmer_length=14),
        lambda: index.mems(READS, 0),
    ]:
        with pytest.raises(ParameterError, match="expected"):
            wrong()


def test_any_number_of_threads_gives_the_same(index):
    reads = Reads.from_sequences(
        (str(i) for i in range(300)), (READS.sequence(i % 2) * (1 + i % 5 * 400) for i in range(300))
    )
    assert reads.total_bases > 2**21, "enough for several blocks"
    one, two = index.mems(reads, 9, threads=1), index.mems(reads, 9, threads=2)
    assert len(one)
    assert_same(one, two)
    assert_same(one, one.sort_canonical())


def test_reads_without_known_bases_match_nothing(index):
    nothing = Reads.from_sequences(["n", "e", "x"], ["NNNN", "", "N"])
    for found in (index.mems(nothing, 1), index.smems(nothing, 1), index.nov_smems(nothing, 1)):
        assert len(found) == 0


def test_place_names_the_sequence(index):
    sequence, position = index.place(np.array([0, 30, 31, 45]))
    assert sequence.tolist() == [0, 0, 1, 1]
    assert position.tolist() == [0, 30, 0, 14]


def test_the_example_that_the_docs_draw():
    index = Index.build(Reads.from_sequences(["text"], ["CCGATTACAGCGGTTACATCCA"]), threads=1)
    read = Reads.from_sequences(["read"], ["AGATTACATCG"])
    drawn = {
        "mems": [(1, 3, 1, 17), (1, 7, 0, 2), (3, 7, 0, 13), (7, 4, 1, 1)],
        "smems": [(1, 7, 0, 2), (3, 7, 0, 13), (7, 4, 1, 1)],
        "nov_smems": [(2, 6, 0, 3), (8, 3, 1, 1)],
    }
    for kind, rows in drawn.items():
        found = getattr(index, kind)(read, 3)
        columns = (found.q_start, found.length, found.reverse, found.t_start)
        assert np.stack(columns, axis=1).tolist() == [list(row) for row in rows]
