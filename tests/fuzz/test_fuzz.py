"""No damaged file ends a command with a traceback, a signal, a hang or a file left behind.

`OVERLAPPER_FUZZ` is how many damaged files there are of each kind, 200 by default.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.runner import ROOT
from tests.fuzz.targets import TARGETS

CASES = int(os.environ.get("OVERLAPPER_FUZZ", "200"))
PROCESSES = 2
pytestmark = pytest.mark.slow
NAMES = [target.name for target in TARGETS]


def run_batch(folder, names):
    """Do all cases of some targets, in a new process after every one that dies; return what was found."""
    faults = {name: [] for name in names}
    folder.mkdir()
    first, left = 0, list(names)
    while left:
        (folder / "results.jsonl").write_text("")
        words = ("-W", "error::RuntimeWarning", "-m", "tests.fuzz.batch", str(folder))
        ended = subprocess.run([sys.executable, *words, f"{first}-{CASES}", *left], cwd=ROOT, check=False)
        lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
        for name, _, found in lines:
            faults[name] += found or []
        if ended.returncode == 0:
            break
        name, number, _ = lines[-1] if lines else (left[0], CASES, None)
        crash = (folder / "crash.txt").read_text()
        faults[name].append(f"case {number}: the process ended with {ended.returncode}\n{crash[:3000]}")
        left, first = left[left.index(name) :], number + 1
    return faults


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    with ThreadPoolExecutor(PROCESSES) as pool:
        shares = [NAMES[i::PROCESSES] for i in range(PROCESSES)]
        found = list(pool.map(run_batch, [folder / str(i) for i in range(PROCESSES)], shares))
    return {name: of_name for share in found for name, of_name in share.items()}


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_read(faults, name):
    assert not faults[name], "\n\n".join(faults[name][:5])
