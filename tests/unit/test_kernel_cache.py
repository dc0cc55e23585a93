"""Kernels that are kept: found again, compiled anew where they are damaged, never taken from others."""

import os
import runpy
import sys
import threading
from types import SimpleNamespace

import pytest
from numba.core import types

from overlapper.kernels.text.paf_formatting import Names
from overlapper.runtime.compile import cache, places
from overlapper.runtime.compile.cache import _spelled
from overlapper.runtime.compile.processor import common_processor, spelled
from overlapper.runtime.gpu import cubins
from tests.cli.runner import python

SOURCE = """
from overlapper.runtime.compile.cache import njit

@njit(nogil=True, cache=True)
def twice(x):
    return 2 * x
"""


CALLING = """
from overlapper.runtime.compile.cache import njit
from overlapper.called import thrice

@njit(nogil=True, cache=True)
def twice(x):
    return thrice(x) - x + 0 * thrice(1)
"""
CALLED = """
from overlapper.runtime.compile.cache import njit

@njit(nogil=True, cache=True)
def thrice(x):
    return 3 * x
"""


def forget_sources():
    for function in (cache._digest_of_sources, cache._content, cache._imported):
        function.cache_clear()


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Return a function that gives a kernel as a new process has it: nothing of it loaded yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(places, "SHIPPED", tmp_path / "shipped")
    (tmp_path / "kernels.py").write_text(SOURCE)
    places.usable.cache_clear()
    forget_sources()
    yield lambda: runpy.run_path(str(tmp_path / "kernels.py"))["twice"]
    places.usable.cache_clear()


@pytest.fixture
def package(tmp_path, kernel, monkeypatch):
    """Return a function that gives a kernel of a package, which calls one of another file."""
    folder = tmp_path / "overlapper"
    folder.mkdir()
    (folder / "calling.py").write_text(CALLING)
    (folder / "called.py").write_text(CALLED)
    monkeypatch.setattr(cache, "_PACKAGE", folder)

    def fresh():
        forget_sources()
        called = runpy.run_path(str(folder / "called.py"))
        monkeypatch.setitem(sys.modules, "overlapper.called", SimpleNamespace(**called))
        return runpy.run_path(str(folder / "calling.py"))["twice"], called["thrice"]

    return fresh


def test_a_kernel_is_compiled_anew_when_what_it_calls_elsewhere_changes(package, tmp_path):
    assert package()[0](4) == 8
    again, _ = package()
    assert (again(4), hits(again)) == (8, 1)
    (tmp_path / "overlapper" / "called.py").write_text(CALLED.replace("3 * x", "4 * x"))
    other, _ = package()
    assert (other(4), hits(other)) == (12, 0)


def test_what_kernels_call_is_compiled_once_and_kept_only_when_python_calls_it(package, tmp_path):
    calling, called = package()
    assert calling(4) == 8
    assert [path.name.split("-")[0] for path in kept(tmp_path)] == ["calling.twice"]
    assert len(called.signatures) == 1, "of a number that is written out, too"
    assert called(4) == 12
    fresh_called = package()[1]
    assert fresh_called(4) == 12
    assert [path.name.split("-")[0] for path in kept(tmp_path)] == ["called.thrice", "calling.twice"]


def test_shipped_kernels_are_for_all_processors_of_a_kind(kernel, tmp_path, monkeypatch):
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from overlapper.runtime.compile.startup import load_numba; load_numba()\n"
        "from kernels import twice; assert twice(2) == 4"
    )
    python("-c", script, check=True)
    (path,) = kept(tmp_path)
    path.parent.rename(tmp_path / "shipped")
    places.usable.cache_clear()
    fresh = kernel()
    assert cache._processor_of(fresh.targetctx.codegen()) != spelled(common_processor())
    assert (fresh(2), hits(fresh)) == (4, 1)
    assert kept(tmp_path) == [tmp_path / "shipped" / path.name], "what is shipped is not copied"


def test_a_kernel_from_a_place_behind_is_copied_to_where_they_are_written(kernel, tmp_path, monkeypatch):
    kernel()(2)
    (path,) = kept(tmp_path)
    folder = tmp_path / "caches" / "overlapper" / "kernels"
    folder.mkdir(parents=True, mode=0o755)
    path.rename(folder / path.name)
    places.usable.cache_clear()
    fresh = kernel()
    assert (fresh(2), hits(fresh)) == (4, 1)
    assert kept(tmp_path) == [folder / path.name, path]


def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path):
    lock, order = places.CompileLock(tmp_path, "x"), []

    def lock_too():
        places.CompileLock(tmp_path, "x").release()
        order.append("other")

    other = threading.Thread(target=lock_too)
    other.start()
    other.join(0.3)
    order.append("this")
    lock.release()
    other.join()
    assert order == ["this", "other"]
    assert not list(tmp_path.iterdir())


def kept(tmp_path):
    return sorted(path for path in tmp_path.rglob("*.nbc"))


def hits(kernel):
    return kernel.stats.cache_hits.total()


def test_a_kernel_is_compiled_once_for_each_type(kernel, tmp_path):
    for expected in (0, 1):
        fresh = kernel()
        assert [fresh(2), fresh(0.5)] == [4, 1.0]
        assert hits(fresh) == 2 * expected
    assert len(kept(tmp_path)) == 2
    assert not [path for path in kept(tmp_path)[0].parent.iterdir() if path.name.startswith(".")]


DAMAGES = {
    "emptied": lambda content, other: b"",
    "cut": lambda content, other: content[:-1],
    "one bit": lambda content, other: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "its digest": lambda content, other: bytes([content[0] ^ 1]) + content[1:],
    "zeros": lambda content, other: bytes(len(content)),
    "code for another type": lambda content, other: other,
    "text": lambda content, other: b"cos\nsystem\n(S'exit 7'\ntR.",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_what_is_damaged_is_compiled_again_and_replaced(how, kernel, tmp_path):
    fresh = kernel()
    fresh(2)
    (path,) = kept(tmp_path)
    whole = path.read_bytes()
    fresh(0.5)
    (other,) = (path_.read_bytes() for path_ in kept(tmp_path) if path_ != path)
    path.write_bytes(DAMAGES[how](whole, other))
    mended = kernel()
    assert (mended(2), hits(mended)) == (4, 0)
    again = kernel()
    assert (again(2), hits(again)) == (4, 1)


def test_a_pipe_in_place_of_a_kernel_is_not_waited_for(kernel, tmp_path):
    kernel()(2)
    (path,) = kept(tmp_path)
    path.unlink()
    os.mkfifo(path)
    fresh = kernel()
    assert (fresh(2), hits(fresh)) == (4, 0)
    assert path.is_file()


def test_a_folder_of_another_user_is_not_safe(tmp_path, monkeypatch):
    assert places.is_safe(tmp_path)
    if os.geteuid() == 0:
        os.chown(tmp_path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not places.is_safe(tmp_path)


def test_a_file_or_nothing_is_no_safe_folder(tmp_path):
    (tmp_path / "file").touch()
    assert not places.is_safe(tmp_path / "file")
    assert not places.is_safe(tmp_path / "nothing")


def test_folders_are_made_so_that_nobody_else_can_write(tmp_path):
    before = os.umask(0)
    try:
        folder = places.usable((tmp_path / "a" / "b",)).write
    finally:
        os.umask(before)
    assert folder == tmp_path / "a" / "b"
    assert folder.stat().st_mode & 0o777 == 0o755


def test_settings_of_numba_in_the_working_directory_are_not_read(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: here\nopt: 0\n")
    script = (
        "from overlapper.runtime.compile.startup import load_numba; load_numba()\n"
        "from numba.core import config\n"
        "config.reload_config(); print(repr(config.CACHE_DIR), config.OPT)"
    )
    done = python("-c", script, cwd=tmp_path, text=True)
    assert (done.stdout, done.stderr) == ("'' _OptLevel(3)\n", "")


def test_named_tuples_of_one_name_are_told_apart_by_their_modules():
    def of(module):
        made_by = type("Names", (Names,), {"__module__": module})
        return _spelled([types.NamedTuple([types.int64, types.float64, types.int64], made_by)])

    assert of("one") != of("two")
    assert of("one") == of("one")


def test_a_damaged_kernel_for_gpus_is_compiled_again(tmp_path, monkeypatch):
    calls = []

    def compile_kernel(*asked):
        calls.append(asked)
        return "entry", b"code"

    monkeypatch.setattr(cubins, "compile_kernel", compile_kernel)
    monkeypatch.setattr(cubins, "_sources_digest", lambda: "sources")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    asked = cubins.Source("module", "name", ()), "l", (9, 0)
    for expected in (1, 1):
        assert cubins.compiled(*asked) == ("entry", b"code")
        assert len(calls) == expected
    (path,) = tmp_path.rglob("*.cubin")
    for number, content in enumerate((b"", path.read_bytes()[:-1], b"entry l\ncode"), 2):
        path.write_bytes(content)
        assert list(cubins.kept("module", (9, 0))) == []
        assert cubins.compiled(*asked) == ("entry", b"code")
        assert len(calls) == number
    assert [entry for *_, entry, _ in cubins.kept("module", (9, 0))] == ["entry"]


def test_other_source_is_compiled_anew(kernel, tmp_path):
    kernel()(2)
    (tmp_path / "kernels.py").write_text(SOURCE.replace("2 * x", "3 * x"))
    forget_sources()
    other = kernel()
    assert (other(2), hits(other)) == (6, 0)
    assert len(kept(tmp_path)) == 1, "it takes the place of the former"


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_folder_that_others_can_write_is_not_used(mode, kernel, tmp_path):
    kernel()(2)
    (tmp_path / "named" / f"overlapper-{os.geteuid()}").chmod(mode)
    places.usable.cache_clear()
    fresh = kernel()
    assert (fresh(2), hits(fresh)) == (4, 0)
    assert [path.relative_to(tmp_path).parts[0] for path in kept(tmp_path)] == ["caches", "named"]


def test_the_named_folder_goes_first_and_what_root_keeps_there_counts(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/named")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert list(map(str, places._folders())) == [
        "/named/overlapper-0",
        "/named/overlapper-1000",
        "/caches/overlapper/kernels",
    ]


def test_kernels_are_read_from_all_places_and_written_to_the_first_that_can_be(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "SHIPPED", tmp_path / "nothing")
    folders = tuple(tmp_path / name for name in ("unsafe", "fixed", "own", "behind"))
    for folder in folders:
        folder.mkdir(mode=0o755)
    folders[0].chmod(0o777)
    monkeypatch.setattr(os, "access", lambda path, mode: path not in folders[:2])
    assert places.usable(folders) == (folders[1:], folders[2])
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    places.usable.cache_clear()
    assert places.usable(folders) == (folders[1:], None)


def test_without_any_place_kernels_are_compiled_and_not_kept(kernel, monkeypatch, tmp_path):
    monkeypatch.setattr(places, "_folders", lambda: ())
    fresh = kernel()
    assert (fresh(2), hits(fresh)) == (4, 0)
    assert not kept(tmp_path)
