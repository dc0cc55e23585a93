"""Kill a run at random moments and go on, until it ends; compare its bytes with those of a run left alone.

Run ``python -m tests.benchmarks.kills READS [--times 20] [--memory 1G] [--seed 1]``.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reads")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            sys.executable,
            "-m",
            "overlapper",
            "overlap",
            options.reads,
            "-q",
            "--memory",
            options.memory,
        ]
        start = time.perf_counter()
        subprocess.run([*command, "-o", folder / "alone.paf"], check=True)
        seconds = time.perf_counter() - start
        print(f"left alone: {seconds:.1f} s")
        wanted = (folder / "alone.paf").read_bytes()
        out = folder / "out.paf"
        for number in range(options.times):
            delay = draw.uniform(0, seconds)
            process = subprocess.Popen([*command, "-o", out, "--workdir", folder / f"work-{number}"])
            try:
                process.wait(delay)
                how = "ended before"
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                how = "killed"
                assert not out.exists() or out.read_bytes() == wanted
            start = time.perf_counter()
            subprocess.run([*command, "-o", out, "--workdir", folder / f"work-{number}"], check=True)
            same = out.read_bytes() == wanted
            print(f"{how} at {delay:.1f} s, then {time.perf_counter() - start:.1f} s, same: {same}")
            assert same
            out.unlink()


if __name__ == "__main__":
    main()
