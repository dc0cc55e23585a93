"""Kernels by name: what they are compiled for, what is kept of them, and how their arguments are passed."""

import re
import struct
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import cuda, types
from numba.cuda import dispatcher

from overlapper.kernels.chain.end_walks import EndScheme
from overlapper.kernels.common.cuda import walk_bases
from overlapper.kernels.gact.cuda import gact_path
from overlapper.runtime.gpu import cubins, driver, launch
from overlapper.runtime.gpu.launch import Kernel
from overlapper.runtime.gpu.memory import Arena
from tests.pretended_gpu import pretend

MARK = cubins.Source("common.walk_bases", "mark_unknown", ())
MARK_TYPES = "i1 i1 l1 l1 I1"


@pytest.fixture
def without_gpu(monkeypatch):
    # Device functions ask the current device what to compile for.
    device = SimpleNamespace(compute_capability=(9, 0))
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)


def test_parameters_lie_as_the_compiled_kernel_expects_them(without_gpu):
    words = "?1 b l2 B i ? I3 L h xdrop.cuda.xdrop.Needs(i1,?1) chain.chain.Chaining(l,l,l,l) l"

    @cuda.jit
    def kernel(a, b, c, d, e, f, g, h, i, needs, chaining, j):
        if a[0] and f and needs.likely[0]:
            c[0, 0] = b + d + e + g[0, 0, 0] + h + i + j + needs.least[0] + chaining.max_gap

    ptx, _ = cuda.compile(
        kernel.py_func, types.void(*map(cubins.numba_type, words.split())),
        cc=(9, 0), device=False, abi="numba", output="ptx",
    )  # fmt: skip
    head = re.search(r"\.entry[^)]*\)", ptx.decode() if isinstance(ptx, bytes) else ptx)[0]
    end = 0
    for bits in re.findall(r"\.param \.[a-z](\d+)", head):
        size = int(bits) // 8
        end = -(-end // size) * size + size
    assert launch.layout_of(words).size == end


def test_a_kernel_becomes_code_for_the_device(without_gpu):
    entry, cubin = cubins.compile_kernel(MARK, MARK_TYPES, (9, 0))
    assert "mark_unknown" in entry
    assert cubin.startswith(b"\x7fELF")
    assert entry.encode() in cubin


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """Keep kernels in a folder; count what is compiled."""
    calls = []

    def compile_kernel(source, words, capability):
        calls.append((source, words, capability))
        return "entry", b"code\n" * len(calls)

    monkeypatch.setattr(cubins, "compile_kernel", compile_kernel)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return calls


def test_a_kernel_is_compiled_once(compiler):
    first = cubins.compiled(MARK, MARK_TYPES, (9, 0))
    assert first == ("entry", b"code\n")
    assert cubins.compiled(MARK, MARK_TYPES, (9, 0)) == first
    assert len(compiler) == 1


def test_other_types_constants_and_devices_are_other_kernels(compiler, tmp_path):
    asked = [
        (MARK, MARK_TYPES, (9, 0)),
        (MARK, MARK_TYPES, (8, 0)),
        (MARK, "i1 i1 l1 l1 L1", (9, 0)),
        (MARK._replace(constants=(1,)), MARK_TYPES, (9, 0)),
        (MARK._replace(constants=(1, 1)), MARK_TYPES, (9, 0)),
    ]
    for _ in range(2):
        for one in asked:
            cubins.compiled(*one)
    assert compiler == asked
    assert len(list(tmp_path.rglob("*.cubin"))) == len(asked)


def test_other_sources_take_the_place_of_a_kernel(compiler, tmp_path, monkeypatch):
    cubins.compiled(MARK, MARK_TYPES, (9, 0))
    cubins.compiled(MARK, "i1", (9, 0))
    monkeypatch.setattr(cubins, "_sources_digest", lambda: "another")
    cubins.compiled(MARK, MARK_TYPES, (9, 0))
    assert len(compiler) == 3
    assert sum("another" in path.name for path in tmp_path.rglob("*.cubin")) == 1
    assert len(list(tmp_path.rglob("*"))) == 3, "the folder and two files: nothing else is left behind"


def test_where_nothing_can_be_written_kernels_are_compiled_all_the_same(compiler, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(cubins.places, "_folders", lambda: (tmp_path / "file",))
    for number in (1, 2):
        assert cubins.compiled(MARK, MARK_TYPES, (9, 0))[1] == b"code\n" * number


def test_what_is_kept_is_found_by_the_begin_of_its_file(compiler, monkeypatch):
    other = cubins.Source("common.walks", "mark", (3, 1))
    asked = [(MARK, MARK_TYPES, (9, 0)), (MARK, "i1 l", (9, 0)), (other, "", (9, 0)), (MARK, "l", (8, 0))]
    made = {
        (source, types): cubins.compiled(source, types, capability) for source, types, capability in asked
    }
    for begin, expected in (("common.walk", asked[:3]), ("common.walk_", asked[:2]), ("gact", [])):
        found = {
            (source, types): (entry, cubin) for source, types, entry, cubin in cubins.kept(begin, (9, 0))
        }
        assert found == {key: made[key] for *key, _ in expected for key in [tuple(key)]}


def test_kernels_that_are_kept_are_loaded_before_they_are_launched(compiler, monkeypatch):
    pretend(monkeypatch)
    loaded = []
    monkeypatch.setattr(driver, "load_kernel", lambda cubin, entry: loaded.append(cubin) or entry)
    monkeypatch.setattr(driver, "launch_kernel", lambda *told: None)
    cubins.compiled(cubins.Source("kept_module", "name", (7,)), "l", (9, 0))
    launch.load_kept("kept")
    assert loaded == [b"code\n"]
    launch.named("kept_module", "name", 7).launch(1, 1, None, 5)
    assert (len(loaded), len(compiler)) == (1, 1)
    launch.named("kept_module", "name", 7).launch(1, 1, None, True)
    assert (len(loaded), len(compiler)) == (2, 2)


def test_arguments_reach_the_kernel(compiler, monkeypatch):
    pretend(monkeypatch)
    launched = []
    monkeypatch.setattr(driver, "load_kernel", lambda cubin, entry: entry)
    monkeypatch.setattr(driver, "launch_kernel", lambda *told: launched.append(told))
    arena = Arena(1 << 12)
    table = arena.upload(np.arange(6, dtype=np.uint32).reshape(2, 3))
    kernel = Kernel("module", "name", 7, True)
    for number in (-5, 6):
        scheme = EndScheme(np.int32(3), -1)
        kernel.launch(3, 64, arena.stream, np.int32(number), table, True, 1 << 40, scheme)
    types = "i I2 ? l chain.end_walks.EndScheme(i,l)"
    assert compiler == [(cubins.Source("module", "name", (7, 1)), types, (9, 0))]
    assert [told[:4] for told in launched] == [("entry", 3, 64, arena.stream)] * 2
    fields = struct.unpack("@i9q?qiq", launched[0][4].raw)
    assert fields == (-5, 0, 0, 6, 4, table.address, 2, 3, 12, 4, True, 1 << 40, 3, -1)


def test_a_launch_for_items_has_a_thread_each(compiler, monkeypatch):
    pretend(monkeypatch)
    launched = []
    monkeypatch.setattr(driver, "load_kernel", lambda cubin, entry: entry)
    monkeypatch.setattr(driver, "launch_kernel", lambda *told: launched.append(told[1:3]))
    arena = Arena(1 << 12)
    for items in (0, 1, launch.THREADS, launch.THREADS + 1):
        launch.launch(walk_bases.mark_unknown, items, arena, 1)
    assert launched == [(blocks, launch.THREADS) for blocks in (1, 1, 1, 2)]
    assert compiler == [(MARK, "l", (9, 0))]


def test_a_function_that_depends_on_constants_is_not_its_name(without_gpu):
    with pytest.raises(ValueError, match="depends on more than its name"):
        launch.kernel_of(gact_path.extension_kernel(2, False))
    assert launch.named("m", "n", 1) is launch.named("m", "n", 1)
    assert launch.named("m", "n", 1) is not launch.named("m", "n", 2)
