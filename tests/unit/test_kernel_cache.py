"""Kernels that are kept: found again, compiled anew where they are damaged, never taken from others."""

import os
import runpy
import sys
import threading

import numba
import numpy as np
import pytest
from llvmlite import binding
from numba.core import caching, codegen, dispatcher, event, types

from overlapper.errors import OutputError
from overlapper.kernels.text.paf_formatting import Names
from overlapper.runtime.compile import linking, places
from overlapper.runtime.compile.cache import KernelCache, _spelled, njit
from overlapper.runtime.gpu import cubins
from tests.cli.runner import python

SOURCE = """
from overlapper.runtime.compile.cache import njit

@njit(nogil=True, cache=True)
def twice(x):
    return 2 * x
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Return a function that gives a kernel as a new process has it: nothing of it loaded yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "kernels.py").write_text(SOURCE)
    (tmp_path / "__pycache__").mkdir(mode=0o755)
    places.usable.cache_clear()
    sys.modules["overlapper.runtime.compile.cache"]._source_digest.cache_clear()
    return lambda: runpy.run_path(str(tmp_path / "kernels.py"))["twice"]


LONG = f"""
from overlapper.runtime.compile.cache import njit

@njit(nogil=True, cache=True)
def long(x):
    for i in range(9):
{"".join(f"        x += (x >> {i % 60 + 1}) ^ (i * {2 * i + 1}){chr(10)}" for i in range(15))}
    return x

@njit(nogil=True, cache=True)
def short(x):
    return 2 * x

@njit(nogil=True, cache=True)
def both(x):
    return short(long(x)) + long(x + 1)
"""


@pytest.mark.parametrize("is_kept", [False, True])
def test_long_functions_are_called_and_short_ones_copied(is_kept, kernel, tmp_path):
    (tmp_path / "kernels.py").write_text(LONG)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport kernels\n"
        "from overlapper.runtime.compile import linking; linking.LONGEST_COPIED = 40\n"
        "both, long = kernels.both, kernels.long.py_func\n"
        "assert [both(3), both(7)] == [2 * long(3) + long(4), 2 * long(7) + long(8)]\n"
        "(compiled,) = both.overloads.values()\n"
        "print([library.name for library in compiled.library.called.values()], both.stats.cache_hits.total())"
    )
    if is_kept:
        python("-c", script, check=True)
        for path in kept(tmp_path):
            if not path.name.startswith("kernels.both"):
                path.unlink()  # a kernel has with it what it calls
    done = python("-c", script, text=True)
    assert (done.stdout, done.stderr) == (f"['long'] {int(is_kept)}\n", "")


def test_a_kernel_that_kernels_and_python_call_is_compiled_for_each(kernel, tmp_path):
    (tmp_path / "kernels.py").write_text(LONG)
    kernels = runpy.run_path(str(tmp_path / "kernels.py"))

    def callers():
        return {tuple(path.name.split("-")[i].split(".")[1] for i in (0, 1)) for path in kept(tmp_path)}

    kernels["both"](3)
    for_both = {("both", "python"), ("long", "kernels"), ("short", "kernels")}
    assert callers() == for_both
    assert kernels["short"](3) == 6
    assert callers() == for_both | {("short", "python")}


@pytest.mark.parametrize("called", ["long", "short"])
def test_what_kernels_call_is_taken_from_the_process_that_compiled_it(called, kernel, tmp_path):
    (tmp_path / "kernels.py").write_text(LONG)
    loaded = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport kernels\nfrom numba import types\n"
    python("-c", f"{loaded}kernels.{called}.for_kernels().compile((types.int64,))", check=True)
    (path,) = kept(tmp_path)
    before = path.stat().st_mtime_ns
    hits = f"kernels.{called}.for_kernels().stats.cache_hits.total()"
    done = python("-c", f"{loaded}print(kernels.both(3), {hits})", text=True, check=True)
    long = runpy.run_path(str(tmp_path / "kernels.py"))["long"].py_func
    assert done.stdout == f"{2 * long(3) + long(4)} 1\n"
    assert path.stat().st_mtime_ns == before
    assert len(kept(tmp_path)) == 3


LITERALS = """
from numba.extending import overload
from overlapper.runtime.compile.cache import njit

def larger(a, b):
    return max(a, b)

@overload(larger)  # as numba has its own
def of_numbers(a, b):
    def larger_number(a, b):
        return a if a > b else b
    return larger_number

@njit(nogil=True, cache=True)
def three_at_least(x, is_doubled):
    return larger(x, 3) * (2 if is_doubled else 1)

@njit(nogil=True, cache=True)
def total_of(n):
    total = 0
    for i in range(n):
        total = three_at_least(total, False) + three_at_least(i, True) + three_at_least(5, n > 3)
        total += larger(total, n)
    return total
"""


def test_functions_are_compiled_once_for_all_literals_and_numbas_own_once_for_all_kernels(kernel, tmp_path):
    (tmp_path / "kernels.py").write_text(LITERALS)
    called = runpy.run_path(str(tmp_path / "kernels.py"))["total_of"]
    compiled, translated = [], []
    finalize = codegen.JITCodeLibrary._finalize_specific

    class Compiled(event.Listener):
        def on_start(self, happened):
            compiled.append(happened.data["dispatcher"].py_func.__name__)

        def on_end(self, happened):
            pass

    def finalize_noted(library):
        translated.append(library.name)
        finalize(library)

    with pytest.MonkeyPatch.context() as patch, event.install_listener("numba:compile", Compiled()):
        patch.setattr(codegen.JITCodeLibrary, "_finalize_specific", finalize_noted)
        assert called(5) == 1092
    assert sorted(compiled) == ["larger_number", "three_at_least", "total_of"]
    assert translated == ["total_of"], "what is only copied needs no machine code"


def test_an_array_of_another_size_is_an_error_in_kernels_and_numbas_own_elsewhere():
    def put(array, part):
        array[1:3] = part

    def refuse(decorate):
        with pytest.raises(ValueError) as error:
            decorate(put)(np.zeros(5), np.ones(3))
        return str(error.value)

    assert refuse(njit(cache=False)) == "an array is assigned to a slice of another size"
    assert "(2,)" in refuse(numba.njit)


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
    assert not [path for path in (tmp_path / "__pycache__").iterdir() if path.name.startswith(".")]


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


def test_other_source_is_compiled_anew(kernel, tmp_path):
    kernel()(2)
    (tmp_path / "kernels.py").write_text(SOURCE.replace("2 * x", "3 * x"))
    sys.modules["overlapper.runtime.compile.cache"]._source_digest.cache_clear()
    other = kernel()
    assert (other(2), hits(other)) == (6, 0)
    assert len(kept(tmp_path)) == 1, "it takes the place of the former"


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_a_folder_that_others_can_write_is_not_used(mode, kernel, tmp_path):
    kernel()(2)
    (tmp_path / "__pycache__").chmod(mode)
    places.usable.cache_clear()
    fresh = kernel()
    assert (fresh(2), hits(fresh)) == (4, 0)
    assert [path.relative_to(tmp_path).parts[0] for path in kept(tmp_path)] == ["__pycache__", "caches"]


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


def test_the_named_folder_goes_first_and_what_root_keeps_there_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/named")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    of_root, of_user, *_ = map(str, places.folders(tmp_path, "x"))
    assert (of_root, of_user) == ("/named/overlapper-0/x", "/named/overlapper-1000/x")


def test_kernels_are_read_up_to_the_first_place_that_can_be_written(tmp_path, monkeypatch):
    folders = tuple(tmp_path / name for name in ("unsafe", "fixed", "own", "behind"))
    for folder in folders:
        folder.mkdir(mode=0o755)
    folders[0].chmod(0o777)
    monkeypatch.setattr(os, "access", lambda path, mode: path not in folders[:2])
    assert places.usable(folders) == (folders[1:3], folders[2])
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    places.usable.cache_clear()
    assert places.usable(folders) == (folders[1:], None)


def test_without_any_place_an_error_says_so(kernel, monkeypatch):
    monkeypatch.setattr(places, "folders", lambda *_: ())
    with pytest.raises(OutputError, match="NUMBA_CACHE_DIR"):
        kernel()(2)


def test_settings_of_numba_in_the_working_directory_are_not_read(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: here\nopt: 0\n")
    script = (
        "from overlapper.runtime.compile.startup import load_numba; load_numba()\n"
        "from numba.core import config\n"
        "config.reload_config(); print(repr(config.CACHE_DIR), config.OPT)"
    )
    done = python("-c", script, cwd=tmp_path, text=True)
    assert (done.stdout, done.stderr) == ("'' _OptLevel(3)\n", "")


def test_numba_is_left_as_it_is_for_others():
    assert dispatcher.FunctionCache is caching.FunctionCache
    assert caching.IndexDataCacheFile.save.__module__ == "numba.core.caching"


def test_named_tuples_of_one_name_are_told_apart_by_their_modules():
    def of(module):
        made_by = type("Names", (Names,), {"__module__": module})
        return _spelled([types.NamedTuple([types.int64, types.float64, types.int64], made_by)])

    assert of("one") != of("two")
    assert of("one") == of("one")


def test_the_cache_is_what_numba_asks_for():
    assert not KernelCache.__abstractmethods__


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


def test_arrays_go_through_the_cache_too(kernel):
    assert kernel()(np.arange(3)).tolist() == kernel()(np.arange(3)).tolist() == [0, 2, 4]


def test_instructions_are_counted_without_labels_and_cases():
    module = binding.parse_assembly("""
        define i64 @f(i64 %x) {
          switch i64 %x, label %rest [
            i64 1, label %one
            i64 2, label %rest
          ]
        one:
          %y = add i64 %x, 1
          br label %rest
        rest:
          %z = phi i64 [ %x, %0 ], [ %x, %0 ], [ %y, %one ]
          ret i64 %z
        }
        declare void @g()
    """)
    assert linking._count_instructions(module) == 5
