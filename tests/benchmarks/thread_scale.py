"""The whole program on more and more threads, file to file.

Run ``python -m tests.benchmarks.thread_scale READS [--threads 4 16 32 64] [--rounds 2] --preset clr``: what
it does not know goes to ``overlapper overlap``. After a run that compiles, each number of threads takes its
turn; times by stage are printed, and the files must be equal.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def timed(reads, folder, threads, options):
    """Run the program; return its seconds, those of its stages, and a digest of what it wrote."""
    out, stats = folder / "out.paf", folder / "stats.json"
    # Taking the place of a file waits for the disk.
    out.unlink(missing_ok=True)
    start = time.perf_counter()
    command = [sys.executable, "-m", "overlapper", "overlap", reads, "-t", str(threads), *options]
    subprocess.run([*command, "-o", out, "--stats", stats, "-q"], check=True)
    seconds = time.perf_counter() - start
    with open(out, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return seconds, json.loads(stats.read_text())["seconds"], digest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reads", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 16, 32, 64])
    parser.add_argument("--rounds", type=int, default=2)
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        written = {timed(arguments.reads, Path(name), arguments.threads[-1], options)[2]}
        for _ in range(arguments.rounds):
            for threads in arguments.threads:
                seconds, stages, digest = timed(arguments.reads, Path(name), threads, options)
                print(f"{threads} threads: {seconds:.2f} s, {stages}", flush=True)
                written.add(digest)
    assert len(written) == 1, "the bytes differ"


if __name__ == "__main__":
    main()
