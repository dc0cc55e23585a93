"""Change each fitted number by a tenth, and see which results and tests notice.

Run ``python -m tests.benchmarks.mutations [--kernels] [--only TEXT] [--part 1/4] [--processes 4]``.

The numbers are those that docs/notes/fitted-numbers.md names with their files. A number becomes a tenth
larger (a whole one larger by one at least), and a tenth smaller if nothing notices that. What may notice are
the digests of `tests.golden.test_results`, and tests of files that import its module. A line of the table
tells a number, its value, what it became, and what noticed first, if anything did.

Everything is loaded once. Each change is made in a fork, in the module and in those that import the number;
kernels whose sources name its module are compiled anew there, so that numbers of kernels, which ``--kernels``
takes, need minutes each. What was computed of a number when modules were
loaded stays as it was.
"""

import ast
import contextlib
import importlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.benchmarks.harness import parser_of
from tests.cli import forks, within
from tests.cli.runner import ROOT
from tests.golden import test_results as golden
from tests.unit.test_fitted_numbers import named_files

OF_NO_TEST = ("test_fitted_numbers.py", "test_package.py", "test_cuda")
"""Files that name modules for other reasons than to test them, or need more packages."""
LINES = golden.OVERLAPS | golden.CONSENSUS | golden.MAPPED
SHOWN_BY = {"assemble": "assemble", "graph": "assemble", "correct": "correct assemble",
            "consensus": "correct assemble", "mapping": "map"}  # fmt: skip
"""Which commands show what a package does, by the last folder of a module; those of others all do."""


class Number(NamedTuple):
    """A number, or several together: its file, its module, its name and value."""

    path: Path
    module: str
    name: str
    value: object

    def become(self, value):
        """Give it another value in this process."""
        change = re.compile(rf"from {self.module} import (?:\([^)]*|[^\n(]*)\b{self.name}\b(?: as (\w+))?")
        for name, module in list(sys.modules.items()):
            if name == self.module:
                setattr(module, self.name, value)
            elif name.startswith("overlapper.") and getattr(module, "__file__", None):
                for imported in change.finditer(Path(module.__file__).read_text()):
                    setattr(module, imported[1] or self.name, value)
        if ".kernels." in self.module:
            forget_kernels(self.path)


def forget_kernels(path):
    """Have all kernels that are made of a source file be compiled when they are called."""
    from numba.core.caching import NullCache

    from overlapper.runtime.compile.cache import KernelCache, _imported

    for module in [module for name, module in sys.modules.items() if name.startswith("overlapper.")]:
        for kernel in vars(module).values():
            if hasattr(kernel, "py_func") and hasattr(kernel, "_reset_overloads"):
                found, left = set(), [Path(kernel.py_func.__code__.co_filename)]
                while left:
                    found.add(left[-1])
                    left += _imported(left.pop()) - found
                if path in found:
                    kernel._make_finalizer()()
                    kernel._reset_overloads()
                    if isinstance(kernel._cache, KernelCache):
                        kernel._cache = NullCache()


def fitted_numbers():
    """Return all numbers of the page, each once."""
    paths = [path for top in ("overlapper", "graph") for path in sorted((ROOT / top).rglob("*.py"))]
    found = {}
    for name, constants in named_files():
        for path in (path for path in paths if f"/{path}".endswith(f"/{name}")):
            found |= {(n.module, n.name): n for n in constants_of(path, constants)}
    return [n for n in found.values() if isinstance(n.value, (int, float, tuple, dict))]


def constants_of(path, names):
    """Yield the constants of a module that have these names."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = ".".join(parts if parts[0] == "overlapper" else ("overlapper", *parts))
    for statement in ast.parse(path.read_bytes()).body if names else ():
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and node.id in names:
                    yield Number(path, module, node.id, getattr(importlib.import_module(module), node.id))


def by_a_tenth(value, sign):
    """Return a value with all numbers in it a tenth larger or smaller."""
    if isinstance(value, tuple):
        return tuple(by_a_tenth(item, sign) for item in value)
    if isinstance(value, dict):
        return {key: by_a_tenth(item, sign) for key, item in value.items()}
    if isinstance(value, float):
        return value * (1 + sign / 10)
    return value + sign * max(1, round(value / 10)) if type(value) is int else value


def tests_of(module):
    """Return the files of tests that import a module."""
    package, _, stem = module.rpartition(".")
    imports = re.compile(rf"{module}\b|from {package} import [^)]*?\b{stem}\b")
    folders = ("unit", "property", "contract")
    files = [str(path) for folder in folders for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))]
    return [
        file
        for file in files
        if imports.search(Path(file).read_text()) and not any(name in file for name in OF_NO_TEST)
    ]


def first_to_notice(number, value, reads):
    """Change a number in this process; return the first line or test that gives something else."""
    number.become(value)
    shown_by = SHOWN_BY.get(number.module.split(".")[-2], "").split()
    digests = json.loads(golden.DIGESTS.read_text())
    for name, line in LINES.items():
        if not shown_by or line.split()[0] in shown_by:
            with contextlib.suppress(AssertionError):
                if golden.digest_of(line, reads, "-t", "1", run=within.main) == digests[name]:
                    continue
            return name
    failed = []

    class Noted:
        def pytest_runtest_logreport(self, report):
            if report.failed:
                failed.append(report.nodeid)

    pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests_of(number.module)], [Noted()])
    return failed[0] if failed else ""


def in_a_fork(function, *arguments):
    """Call a function in a fork, which says nothing; return the text that it returns."""
    read_end, write_end = os.pipe()
    if not (child := os.fork()):
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        try:
            os.write(write_end, function(*arguments).encode())
        except BaseException as error:
            os.write(write_end, repr(error).encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end) as file:
        result = file.read()
    os.waitpid(child, 0)
    return result


def row_of(number, reads):
    """Return the line of the table for a number."""
    for sign in (1, -1):
        value = by_a_tenth(number.value, sign)
        if noticed := in_a_fork(first_to_notice, number, value, reads):
            break
    return "\t".join(map(str, (number.module, number.name, number.value, value, noticed or "nothing")))


def main():
    options = parser_of(__doc__, processes=2, kernels=False, only="", part="1/1").parse_args()
    part, parts = map(int, options.part.split("/"))
    with tempfile.TemporaryDirectory() as reads:
        golden.write_reads(reads)
        forks._load()
        numbers = [n for n in fitted_numbers() if (".kernels." in n.module) == options.kernels]
        numbers = [n for n in numbers if options.only in f"{n.module} {n.name}"]
        print("module", "number", "value", "became", "noticed by", sep="\t", flush=True)
        running = 0
        for number in numbers[part - 1 :: parts]:
            if running == options.processes:
                os.wait()
                running -= 1
            if not os.fork():
                os.write(1, f"{row_of(number, reads)}\n".encode())
                os._exit(0)
            running += 1
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()


if __name__ == "__main__":
    main()
