"""Searches on a GPU whose kernels run as Python find what the CPU finds; no driver."""

import contextlib
from random import Random

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from overlapper.errors import DeviceError
from overlapper.index import Index, gpu
from overlapper.kernels.common.cuda import offsets
from overlapper.kernels.index.cuda import matches, mems, smems
from tests.oracle.strands import reverse_complement
from tests.property.test_exact_matches import rows
from tests.read_sets import reads_of
from tests.unit.cuda import PretendedArena, PretendedThreads, run_as_python


@pytest.fixture
def pretended(monkeypatch):
    threads = PretendedThreads()

    def launch(kernel, items, arena, *arguments):
        for threads.number in range(items):
            kernel.py_func(*arguments)

    modules = offsets, matches, mems, smems
    run_as_python(monkeypatch, threads, modules, launch=launch)
    monkeypatch.setattr(matches, "THREADS", 1)
    monkeypatch.setattr(matches, "FEW", 3)
    monkeypatch.setattr(smems, "ENDS", 16)
    monkeypatch.setattr(gpu.driver, "use", contextlib.nullcontext)
    monkeypatch.setattr(gpu, "available_bytes", lambda memory: memory or 1 << 28)
    arena = type("Arena", (PretendedArena,), {"allocate": lambda size: arena(size), "__init__": nothing})
    monkeypatch.setattr(gpu, "Arena", arena)


def nothing(self, *_):
    pass


def case():
    """A text with copies of its pieces and an unknown base; reads of it with errors, on either strand."""
    random = Random(11)
    piece = "".join(random.choices("ACGT", k=150))
    text = [piece + "N" + "ACGT" * 4 + piece[20:90], reverse_complement(piece)[:80] + "TA" * 9]
    reads = [
        piece[5:70],
        reverse_complement(piece[30:120]),
        piece[:40] + "C" + piece[41:75],
        "TA" * 8,
        "",
        "N",
    ]
    return reads_of(text), reads_of(reads)


@pytest.mark.parametrize("length", [6, 13])
def test_searches_find_what_the_cpu_finds(pretended, length):
    text, reads = case()
    index = Index.build(text, sample_rate=4, kmer_length=5, threads=1)
    there = gpu.GpuIndex(index, devices=(0, 0))
    for kind in ("mems", "smems", "nov_smems"):
        expected = getattr(index, kind)(reads, length, threads=1)
        found = getattr(there, kind)(reads, length)
        assert len(expected) > 3
        for read in range(len(reads)):
            here = found.query == read
            assert rows(found.take(here)) == rows(expected.take(expected.query == read))


def test_an_index_that_does_not_fit_is_refused(pretended):
    index = Index.build(case()[0], threads=1)
    with pytest.raises(DeviceError, match=r"the index takes .* Use a GPU with more memory, or the CPU"):
        gpu.GpuIndex(index, memory=1000)
