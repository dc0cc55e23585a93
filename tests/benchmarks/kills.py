"""Kill commands at random moments and run them again; compare the bytes with those of a run left alone.

Run ``python -m tests.benchmarks.kills READS [--times 30] [--memory 1G] [--seed 1] [--commands overlap,map]``.

Each command is killed so many times, at moments drawn from the time that it takes, each time in a new folder.
The run after it must end well, give the same bytes and leave nothing over: neither beside its output nor in
its work folder, where a run left alone leaves nothing.
"""

import random
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.benchmarks.harness import OVERLAPPER, overlapper, parser_of

COMMANDS = {
    "overlap": ("overlap READS -q -o out.paf", "out.paf"),
    "budget": ("overlap READS -q -o out.paf --memory MEMORY", "out.paf"),
    "tiles": ("overlap READS -q -o out.paf --memory MEMORY --workdir work", "out.paf"),
    "correct": ("correct READS -q -o out.fq.gz --workdir work", "out.fq.gz"),
    "assemble": ("assemble READS -q -o out --min-overlap 500", "out/contigs.fasta"),
    "polish": ("polish draft.fasta READS -q -o out.fq --workdir work", "out.fq"),
    "correct in a budget": ("correct READS -q -o out.fq.gz --memory MEMORY --workdir work", "out.fq.gz"),
    "assemble in a budget": (
        "assemble READS -q -o out --memory MEMORY --min-overlap 500",
        "out/contigs.fasta",
    ),
    "polish in a budget": ("polish draft.fasta READS -q -o out.fq --memory MEMORY --workdir work", "out.fq"),
    "map": ("map draft.fasta READS -q -o out.bam --sort --index", "out.bam"),
    "parquet": ("overlap READS -q -o out.parquet/", "out.parquet/first_target=0/overlaps.parquet"),
}
"""What is run, and the file that is compared."""


def main():
    parser = parser_of(__doc__, "reads", times=30, memory="1G", seed=1)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    options = parser.parse_args()
    draw = random.Random(options.seed)
    reads = Path(options.reads).resolve()
    with tempfile.TemporaryDirectory() as name:
        draft = Path(name, "draft")
        overlapper("assemble", reads, "-o", draft, "-q", "--min-overlap", "500", cwd=name)
        for command in options.commands.split(","):
            words, output = COMMANDS[command]
            words = [{"READS": reads, "MEMORY": options.memory}.get(word, word) for word in words.split()]
            alone = new_folder(Path(name, "alone"), draft)
            overlapper(*words, cwd=alone)
            seconds = overlapper(*words, cwd=new_folder(alone, draft)).wall
            wanted, left = (alone / output).read_bytes(), content(alone)
            for _ in range(options.times):
                delay = draw.uniform(0, seconds)
                folder = new_folder(Path(name, "killed"), draft)
                how = kill(words, folder, delay)
                assert not (folder / output).exists() or (folder / output).read_bytes() == wanted
                after = overlapper(*words, cwd=folder).wall
                print(f"{command} {how} at {delay:.2f} of {seconds:.2f} s, then {after:.2f} s", flush=True)
                assert (folder / output).read_bytes() == wanted
                assert content(folder) == left, set(content(folder)) ^ set(left)


def new_folder(folder, draft):
    """Return a folder with contigs alone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(draft / "contigs.fasta", folder / "draft.fasta")
    return folder


def content(folder):
    """Return the names of all that is in a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def kill(words, folder, delay):
    """Run a command and kill it after so many seconds."""
    process = subprocess.Popen([*OVERLAPPER, *map(str, words)], cwd=folder)
    try:
        process.wait(delay)
        return "ended before"
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return "killed"


if __name__ == "__main__":
    main()
