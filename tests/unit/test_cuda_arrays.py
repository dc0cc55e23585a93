"""Arrays of an arena are as numpy's where they are cut, viewed and copied; on a GPU that is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.candidates import dsoft_gpu
from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Slot
from overlapper.params.stages import SketchParams
from overlapper.runtime.gpu import memory
from overlapper.runtime.gpu.memory import Arena
from overlapper.sketch.seed_index import SeedIndex
from tests.pretended_gpu import pretend
from tests.read_sets import reads_of, texts_of


@pytest.fixture
def arena(monkeypatch):
    pretend(monkeypatch)
    # So little that copies go in pieces, by several threads.
    monkeypatch.setattr(memory, "_PINNED", 1000)
    monkeypatch.setattr(memory, "_CHUNK", 100)
    return Arena(1 << 20)


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("shape", [(0,), (1,), (999,), (30, 7), (3, 0)])
def test_arrays_come_back_as_they_went(arena, dtype, shape):
    sent = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    there, behind = arena.upload(sent), arena.zeros(10, np.int32)
    if sent.size:
        assert (there.shape, there.dtype, there.size, there.nbytes) == (
            sent.shape, sent.dtype, sent.size, sent.nbytes
        )  # fmt: skip
        assert np.array_equal(arena.download(there), sent)
    else:
        assert there.size == 1
    assert not arena.download(behind).any()
    arena.fill(behind, 0xFF)
    assert (arena.download(behind) == -1).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize("length", [0, 1, 124, 999])
def test_arrays_that_are_written_in_parts_come_as_a_whole(arena, dtype, length):
    whole, written = np.random.default_rng(3).integers(0, 200, length).astype(dtype), []

    def write(first, part):
        assert first == sum(written)
        part[:] = whole[first : first + len(part)]
        written.append(len(part))

    there = arena.written(length, dtype, write)
    assert np.array_equal(arena.download(there)[:length], whole)
    assert sum(written) == length and len(written) == -(-length * whole.itemsize // 1000)


@pytest.mark.parametrize("texts", [["ACGTTGCATTA"], texts_of(5, genome=3000, reads=40)])
def test_an_index_goes_to_a_gpu_widened_and_listed_a_part_at_a_time(arena, texts):
    reads = reads_of(texts)
    index = SeedIndex.build(reads, SketchParams(kmer_length=11, window=2), 2)
    slot = Slot(0, None, arena, spare=1 << 20)
    there, n = dsoft_gpu._on_gpus(index).on(slot), int(index.list_starts[-1])
    if not n:
        assert there is None
        return
    words = np.empty(index.lists.occurrences.room, np.uint64)
    index.lists.occurrences.widen(0, words)
    sent = arena.download(there.occurrences)
    for start, stop in index.lists.occurrences.stretches:
        assert np.array_equal(sent[start:stop], words[start:stop])
    assert np.array_equal(arena.download(there.by_read), index.lists.numbers(0, n)) and n > 1000
    assert np.array_equal(arena.download(there.marks), index.seeding.marks)
    assert np.array_equal(arena.download(there.ranks), index.seeding.ranks)
    assert np.array_equal(arena.download(there.starts), index.seeding.starts)


@pytest.mark.parametrize("length", [1000, 1001])
def test_arrays_are_fetched_whether_pinned_memory_holds_them_or_not(arena, length):
    sent = np.random.default_rng(2).integers(0, 256, length).astype(np.uint8)
    fetched = arena.fetch(arena.upload(sent))
    assert np.array_equal(fetched, sent)
    assert np.shares_memory(fetched, arena.pinned) == (length == 1000)


@settings(deadline=None)
@given(st.data())
def test_cuts_are_those_of_numpy(data):
    rows, columns = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 5))
    here = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    cut = data.draw(st.slices(rows).filter(lambda cut: cut.step in (None, 1)))
    row = data.draw(st.integers(-rows, rows - 1))
    with pytest.MonkeyPatch.context() as monkeypatch:
        pretend(monkeypatch)
        arena = Arena(1 << 16)
        there = arena.upload(here)
        assert np.array_equal(arena.download(there[cut]), here[cut])
        assert np.array_equal(arena.download(there[row]), here[row])
        assert np.array_equal(arena.download(there[row].view(np.int32)), here[row].view(np.int32))
        again = there.reshape(columns, rows)
        assert np.array_equal(arena.download(again), here.reshape(columns, rows))
        assert again.fields[-4:] == (columns, rows, 8 * rows, 8)


def test_what_cannot_be_cut_is_an_error(arena):
    there = arena.upload(np.arange(12))
    with pytest.raises(IndexError):
        there[::2]
    with pytest.raises(IndexError):
        there[12]
    with pytest.raises(ValueError, match="12 items"):
        there.reshape(5, 2)
    with pytest.raises(DeviceError, match="bytes of GPU memory are needed at once"):
        arena.array(1 << 20, np.int64)


def test_memory_stays_while_an_array_uses_it(monkeypatch):
    pretend(monkeypatch)
    there = Arena(1 << 12).upload(np.arange(10))[3:]
    reader = Arena(1 << 12)
    assert reader.download(there).tolist() == list(range(3, 10))
