"""Change each fitted number by a tenth, and see which test notices.

Run ``python -m tests.benchmarks.mutations [--only TEXT] [--part 1/4] [--processes 4]``.

The numbers are those that docs/notes/fitted-numbers.md names with their files, and the defaults of classes
that it names. A number becomes a tenth larger (a whole one larger by one at least), and a tenth smaller if
nothing notices that. Tests are those of files that import its module, and the digests of `tests.golden`.
A line of the table tells a number, its value, what it became, and the first test that failed, if any.
"""

import ast
import importlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from overlapper.runtime.compile import places as kernel_places
from tests.benchmarks.harness import parser_of
from tests.cli.runner import ROOT
from tests.unit.test_fitted_numbers import CLASS, places

GOLDEN = "tests/golden/test_results.py"
TOLD = ("test_fitted_numbers.py", "test_package.py", "test_cuda")
"""Files that name modules for other reasons than to test them, or need more packages."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::\S+)", re.MULTILINE)


class Number(NamedTuple):
    """A number, or several together: its file, its name, where its text begins and ends, its value."""

    path: Path
    name: str
    start: int
    end: int
    value: object

    def changed_to(self, value):
        """Return the text of its file with another value."""
        text = self.path.read_bytes()
        return text[: self.start] + repr(value).encode() + text[self.end :]


def fitted_numbers():
    """Return all numbers of the page, each once."""
    paths = [path for top in ("overlapper", "graph") for path in sorted((ROOT / top).rglob("*.py"))]
    found = {}
    for _, names in places():
        waiting = []
        for name in names:
            if CLASS.fullmatch(name):
                found |= {(n.path, n.name): n for path in paths for n in defaults_of(path, name)}
            elif not name.endswith(".py"):
                waiting.append(name)
            else:
                there = [path for path in paths if f"/{path}".endswith(f"/{name}")]
                found |= {(n.path, n.name): n for path in there for n in constants_of(path, waiting)}
                waiting = []
    return [n for n in found.values() if isinstance(n.value, (int, float, tuple, dict))]


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "overlapper" else ("overlapper", *parts))


def number_at(path, name, node, value):
    """Return a number whose text is that of a node of the syntax tree of its file."""
    begins = [0]
    for line in path.read_bytes().splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    start, end = begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset
    return Number(path, name, start, end, value)


def constants_of(path, names):
    """Yield the constants of a module that have these names."""
    for statement in ast.parse(path.read_bytes()).body if names else ():
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            pairs = [(target, statement.value)]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = zip(target.elts, statement.value.elts, strict=True)
            for left, right in pairs:
                if isinstance(left, ast.Name) and left.id in names:
                    value = getattr(importlib.import_module(module_of(path)), left.id)
                    yield number_at(path, left.id, right, value)


def defaults_of(path, name):
    """Yield the numbers that are defaults of a class, where a module defines it."""
    for node in ast.parse(path.read_bytes()).body:
        for field in node.body if isinstance(node, ast.ClassDef) and node.name == name else ():
            given = getattr(field, "value", None) if isinstance(field, ast.AnnAssign) else None
            if isinstance(given, ast.Call):
                given = next((word.value for word in given.keywords if word.arg == "default"), None)
            if given is not None:
                value = getattr(getattr(importlib.import_module(module_of(path)), name), field.target.id)
                yield number_at(path, f"{name}.{field.target.id}", given, value)


def by_a_tenth(value, sign):
    """Return a value with all numbers in it a tenth larger or smaller."""
    if isinstance(value, tuple):
        return tuple(by_a_tenth(item, sign) for item in value)
    if isinstance(value, dict):
        return {key: by_a_tenth(item, sign) for key, item in value.items()}
    if isinstance(value, float):
        return value * (1 + sign / 10)
    return value + sign * max(1, round(value / 10)) if type(value) is int else value


def tests_of(path):
    """Return the files of tests that import a module, fast ones first, and the digests."""
    module = module_of(path)
    package, _, stem = module.rpartition(".")
    imports = re.compile(rf"{module}\b|from {package} import [^)]*?\b{stem}\b")
    folders = ("unit", "property", "contract")
    files = [file for folder in folders for file in sorted((ROOT / "tests" / folder).glob("test_*.py"))]
    names = [str(file.relative_to(ROOT)) for file in files if imports.search(file.read_text())]
    return [*(name for name in names if not any(word in name for word in TOLD)), GOLDEN]


def copy_of_the_tree(folder):
    """Copy the source, and kernels compiled from it, so that a run compiles what the change touches alone."""
    for name in ("overlapper", "graph", "tests", "docs", "examples"):
        shutil.copytree(
            ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    kept = folder / "cache" / "overlapper" / "kernels"
    kept.mkdir(parents=True)
    for place in reversed(kernel_places.of_kernels().read):
        shutil.copytree(place, kept, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
    return folder


def first_failure(tree, number, value):
    """Return the name of the first test that fails in a tree with another value, None if none does."""
    path = tree / number.path.relative_to(ROOT)
    before = path.read_bytes()
    path.write_bytes(number.changed_to(value))
    paths = os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(tree / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    words = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests_of(number.path)]
    try:
        done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True)
    finally:
        path.write_bytes(before)
    return None if done.returncode == 0 else (FAILED.findall(done.stdout) or [f"exit {done.returncode}"])[0]


def main():
    parser = parser_of(__doc__, processes=2, only="", part="1/1")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    numbers = [n for n in fitted_numbers() if options.only in f"{n.path.relative_to(ROOT)} {n.name}"]
    print("file", "number", "value", "became", "noticed by", sep="\t")
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.processes) as pool:
        trees = queue.SimpleQueue()
        for i in range(options.processes):
            trees.put(copy_of_the_tree(Path(work, str(i))))

        def tell(number):
            tree = trees.get()
            for sign in (1, -1):
                value = by_a_tenth(number.value, sign)
                failed = value != number.value and first_failure(tree, number, value)
                if failed:
                    break
            trees.put(tree)
            where = number.path.relative_to(ROOT)
            print(where, number.name, number.value, value, failed or "nothing", sep="\t", flush=True)

        list(pool.map(tell, numbers[part - 1 :: parts]))


if __name__ == "__main__":
    main()
