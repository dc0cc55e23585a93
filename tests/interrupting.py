"""Send a signal to a command at some moment, and look at what it leaves."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from overlapper.io.folders import MARK
from tests.cli.runner import ROOT, overlapper

SECONDS = 60
"""How long a command may take to end."""
_LAST_SECONDS = 2
COMMANDS = {
    "overlap": "overlap reads.fq -o out.paf",
    "overlap --extender gact": "overlap reads.fq --extender gact --device cpu -o out.paf.gz",
    "overlap --memory": "overlap reads.fq --memory 2G -o out.paf",
    "overlap --workdir": "overlap reads.fq --workdir work -o out.paf",
    "overlap --workers": "overlap reads.fq --workers 2 -o out.paf",
    "correct": "correct reads.fq --device cpu -o out.fq",
    "correct --workdir": "correct reads.fq --device cpu --workdir work -o out.fq",
    "polish": "polish unitigs.fa reads.fq -o out.fa",
    "assemble": "assemble reads.fq --device cpu --correct always -o out",
    "layout": "layout reads.fq overlaps.paf -o out.gfa --fasta out.fa",
    "map": "map genome.fa reads.fq -o out.paf",
    "map --sort": "map genome.fa reads.fq --sort --index -o out.bam",
    "seeds": "seeds genome.fa reads.fq --device cpu -o out.tsv",
    "align": "align reads.fq reads.fq --pairs pairs.tsv --device cpu -o out.paf",
}
"""Command lines by name; all write to ``out`` something, and work in ``work`` if anywhere."""
ON_GPUS = {
    "gpu overlap": "overlap reads.fq --extender xdrop --device cuda -o out.paf",
    "gpu overlap --memory": "overlap reads.fq --extender gact --device cuda --memory 2G -o out.paf",
    "gpu correct": "correct reads.fq --device cuda -o out.fq",
    "gpu correct --memory": "correct reads.fq --device cuda --memory 1G -o out.fq",
    "gpu assemble": "assemble reads.fq --device cuda --correct always -o out",
    "gpu seeds": "seeds genome.fa reads.fq --device cuda -o out.tsv",
}
"""The same where there is a GPU."""
_GO_ON = {"overlap --workdir", "correct --workdir", "assemble", "gpu assemble"}


def write_reads(folder, genome_size="30k"):
    """Write a genome, and reads of it."""
    simulated = f"simulate --genome-size {genome_size} --coverage 12 -p ont-r9 -o reads.fq"
    overlapper(*simulated.split(), "--reference-out", "genome.fa", "-q", cwd=folder, check=True)


def write_inputs(folder, genome_size="30k"):
    """Write what the commands read."""
    write_reads(folder, genome_size)
    overlapper("overlap", "reads.fq", "-o", "overlaps.paf", "-q", cwd=folder, check=True)
    overlapper(
        "layout", "reads.fq", "overlaps.paf", "-o", "u.gfa", "--min-overlap", "500", "--fasta", "unitigs.fa",
        cwd=folder, check=True,
    )  # fmt: skip
    names = [line[1:].split()[0] for line in (folder / "reads.fq").read_text().splitlines()[::4]]
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in itertools.pairwise(names)))


class Interrupted:
    """A command that was sent a signal.

    Attributes
    ----------
    code : int
        With which it ended.
    said : str
        On stderr.
    seconds : float
        From the signal to its end.
    faults : list of str
        What should not be; empty if all is well.
    before_first_line : bool
        Whether the signal came while Python itself was starting: it ended at once, or its traceback names
        none of our files.
    """

    def __init__(self, name, inputs, folder, number, delay, *, environment=None, wait_for="", again=False):
        """Run a command in a folder of its own; send it a signal after some seconds.

        Parameters
        ----------
        name : str
            One of `COMMANDS` or `ON_GPUS`.
        inputs, folder : Path
            Where `write_inputs` wrote, and where to run; this is made.
        number : signal.Signals
        delay : float
            Seconds.
        environment : dict of str to str, optional
            Variables to add.
        wait_for : str
            What the command says when the delay begins.
        again : bool
            Send the signal twice.
        """
        self.faults = []
        before = _prepare(inputs, folder)
        with open(folder / "said", "wb") as said:
            process = _start(name, folder, environment, said)
            while wait_for not in (folder / "said").read_text() and process.poll() is None:
                time.sleep(0.005)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
            process.send_signal(number)
            start = time.perf_counter()
            if again:
                process.send_signal(number)
            try:
                self.code = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.faults.append(f"runs on for {SECONDS} s")
                process.kill()
                self.code = process.wait()
        self.seconds = time.perf_counter() - start
        while _of_session(process.pid) and time.perf_counter() - start < self.seconds + _LAST_SECONDS:
            time.sleep(
                0.01
            )  # Python's own process that removes semaphores ends when it sees that others have
        self.faults += [f"leaves the process {words}" for words in _of_session(process.pid)]
        self.said = (folder / "said").read_text()
        interrupted = "KeyboardInterrupt" in self.said and str(ROOT / "overlapper") not in self.said
        self.before_first_line = self.code == -number or interrupted
        self._look(name, number, sorted(set(_files(folder)) - before))

    def _look(self, name, number, made):
        lines = self.said.splitlines()
        if self.code not in (0, 128 + number):
            self.faults.append(f"exits with {self.code}")
        elif self.code:
            goes_on = "; the same command goes on where it stopped"
            wanted = {
                "overlapper: interrupted" + goes for goes in (("", goes_on) if name in _GO_ON else ("",))
            }
            if not lines or lines[-1] not in wanted:
                self.faults.append("says something else in the end")
            if sum("overlapper: " in line for line in lines) != 1:
                self.faults.append("says more than it should")
        if "Traceback" in self.said or "Error" in self.said or "Warning" in self.said:
            self.faults.append("shows what went wrong")
        for path in made:
            parts = Path(path).parts
            kept = parts[0] in ("out", "work") or (len(parts) == 1 and path.startswith("out"))
            parts = parts[: -1 if parts[-1] == MARK else None]  # folders that are kept are marked
            if not kept or any(part.startswith(".") or part.endswith((".part", ".tmp")) for part in parts):
                self.faults.append(f"leaves the file {path}")


def _prepare(inputs, folder):
    """Make a folder of inputs; return what lies in it."""
    shutil.copytree(inputs, folder)
    (folder / "tmp").mkdir()
    (folder / "said").touch()
    return set(_files(folder))


def _start(name, folder, environment, said):
    """Start a command in a session of its own."""
    return start(
        (COMMANDS | ON_GPUS)[name].split(), cwd=folder, stdout=subprocess.DEVNULL, stderr=said,
        env={"TMPDIR": str(folder / "tmp"), **(environment or {})},
    )  # fmt: skip


def start(words, *, env=None, **options):
    """Start a command in a session of its own, which hears of Ctrl-C even if these tests ignore it."""
    return subprocess.Popen(
        [sys.executable, "-m", "overlapper", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def _files(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*")]


def _of_session(session):
    """Return the commands of the processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = path.read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(path.with_name("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


SIGNALS = signal.SIGINT, signal.SIGTERM
