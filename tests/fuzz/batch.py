"""Run commands on damaged files, many in one process, and say which ended as none should.

``python -m tests.fuzz.batch FOLDER CASES TARGET...`` does cases ``[0, CASES)`` of the first target and of
all others; CASES may be ``FIRST-LAST``, which holds for the first target alone. Results are lines of JSON in
``FOLDER/results.jsonl``; a process that dies is the fault of the case that the last line names. The damaged
files of cases that fail are kept in FOLDER.
"""

import contextlib
import faulthandler
import filecmp
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

from tests.cli import within
from tests.fuzz.mutations import HUGE, damage_folder
from tests.fuzz.targets import BY_NAME, write_valid

SECONDS, ADDRESS_SPACE = 120, 12 << 30
"""What a case may take; the first one of its kind may have to compile a kernel."""


class Runner:
    """Runs commands within this process and keeps what they say.

    Standard output and error are those of the process, so that what libraries in C write is seen, too.
    """

    def __init__(self):
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        for number in (1, 2):
            os.dup2(self._said.fileno(), number)

    def __call__(self, words):
        """Run a command and return its exit code and what it said."""
        self._said.seek(0)
        self._said.truncate()
        try:
            code = within.main(words)
        except BaseException:
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        self._said.seek(0)
        return code, self._said.read().decode(errors="replace")


def faults_of(code, said, left):
    """Return what is wrong with how a command on a damaged file ended; nothing most of the time."""
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if "Traceback (most recent call last)" in said or "Warning:" in said:
        yield "a traceback or a warning"
    lines = said.strip().split("\n")
    if code == 1 and not lines[-1].startswith("overlapper: error: "):
        yield "no error in the last line"
    if code and left and not is_empty(lines[-1]):
        yield f"left behind: {', '.join(sorted(left))}"


def is_empty(line):
    """Tell whether the last line is that of an assembly without contigs, whose files are whole."""
    return line.startswith("overlapper: error: no unitigs: ")


def listing():
    """Return all files below the working directory."""
    return {os.path.join(folder, file) for folder, _, files in os.walk(".") for file in files}


def remove_outputs():
    """Remove what commands wrote."""
    for path in Path().glob("out*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def words_of(target, number, value, file=None):
    """Return the words of a command of a target, on its own file if no other is given."""
    command = target.commands[number % len(target.commands)]
    return command.replace("{}", file or target.file).replace("{n}", value).split()


def run_folder_case(runner, target, number):
    """Do the same with a copy of a folder, in which a file of somebody else may lie."""
    rng, copy = random.Random(f"{target.name} {number}"), Path("out.copy")
    shutil.copytree(target.file, copy)
    places = sorted(path for path in copy.rglob("*") if path.is_dir())
    theirs = rng.choice([copy, *places]) / "theirs" if rng.random() < 0.3 else None
    damage_folder(copy, rng)
    there = theirs is not None and theirs.parent.is_dir()
    if there:
        theirs.write_text("theirs")
    words = words_of(target, number, "", str(copy))
    before = listing()
    code, said = runner(words)
    left = {path for path in listing() - before if not path.startswith(f"./{copy}/")}
    faults = list(faults_of(code, said, left))
    if there and not theirs.is_file():
        faults.append("somebody else's file is gone")
    for made, valid in target.expected.items():
        if code == 0 and not (Path(made).is_file() and filecmp.cmp(made, valid, shallow=False)):
            faults.append(f"{made} is another one, or missing")
    if faults:
        with contextlib.suppress(shutil.Error):  # pipes are not copied
            shutil.copytree(copy, Path("..", f"{target.name.replace(' ', '-')}-{number}"), symlinks=True)
    remove_outputs()
    return [f"{' '.join(words)}: {'; '.join(faults)}\n{said[-1500:]}"] if faults else []


def run_case(runner, target, number):
    """Damage the file of a target, run a command on it, and return what is wrong with how that ended."""
    if Path(target.file).is_dir():
        return run_folder_case(runner, target, number)
    rng = random.Random(f"{target.name} {number}")
    words = words_of(target, number, rng.choice(HUGE).decode().strip() or "-")
    valid = Path(target.file).read_bytes()
    damaged = target.mutate(valid, rng)
    before = listing()
    Path(target.file).write_bytes(damaged)
    try:
        code, said = runner(words)
    finally:
        Path(target.file).write_bytes(valid)
    faults = list(faults_of(code, said, listing() - before))
    if faults:
        kept = Path(
            "..", f"{target.name.replace(' ', '-').replace(',', '')}-{number}{Path(target.file).suffix}"
        )
        kept.write_bytes(damaged)
    remove_outputs()
    return [f"{' '.join(words)}: {'; '.join(faults)}\n{said[-1500:]}"] if faults else []


def main(folder, cases, *names):
    """Do the cases of some targets."""
    first, _, last = cases.rpartition("-")
    folder = Path(folder).resolve()
    results = open(folder / "results.jsonl", "a", buffering=1)  # noqa: SIM115 - as long as the process
    crash = open(folder / "crash.txt", "w")  # noqa: SIM115 - as long as the process
    work = folder / f"work{os.getpid()}"
    work.mkdir()
    os.chdir(work)
    runner = Runner()
    faulthandler.enable(crash)
    write_valid(runner)
    for target in map(BY_NAME.get, names):
        for number in range(len(target.commands)):  # compiles what is not yet, which takes long
            words = words_of(target, number, "8")
            code, said = runner(words)
            remove_outputs()
            if code and "{n}" not in target.commands[number] and not is_empty(said.strip().split("\n")[-1]):
                results.write(
                    json.dumps([target.name, number, [f"{words} on the valid file: {said}"]]) + "\n"
                )
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    start = int(first or 0)
    for target in map(BY_NAME.get, names):
        for number in range(start, int(last)):
            results.write(json.dumps([target.name, number, None]) + "\n")
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=crash)
            faults = run_case(runner, target, number)
            faulthandler.cancel_dump_traceback_later()
            if faults:
                results.write(json.dumps([target.name, number, faults]) + "\n")
        start = 0


if __name__ == "__main__":
    main(*sys.argv[1:])
