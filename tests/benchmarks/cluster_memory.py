"""Largest memory of each process of a run on Dask: program, scheduler and workers.

Run ``python -m tests.benchmarks.cluster_memory READS [--memory 600M] [--workers 2] [--port 8790]``. Memory is
the largest resident set of each process, as Linux reports it.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.harness import parser_of


def started(*command):
    return subprocess.Popen([sys.executable, "-m", *map(str, command)], stderr=subprocess.DEVNULL)


def peak(pid):
    """Return the largest resident set of a process so far, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


def main():
    parser = parser_of(__doc__, memory="600M", workers=2, port=8790)
    parser.add_argument("reads", type=os.path.abspath)
    options = parser.parse_args()
    address = f"tcp://127.0.0.1:{options.port}"
    with tempfile.TemporaryDirectory() as folder:
        scheduler = started(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", options.port, "--no-dashboard"
        )
        worker = ("distributed.cli.dask_worker", address, "--nthreads", 1, "--no-nanny", "--no-dashboard")
        workers = [started(*worker, "--local-directory", folder) for _ in range(options.workers)]
        time.sleep(8)
        peaks = {"program": 0}
        start = time.perf_counter()
        program = started(
            "overlapper", "overlap", options.reads, "-q", "-t", 1, "--memory", options.memory,
            "--scheduler", address, "--workdir", f"{folder}/work", "-o", f"{folder}/out.paf",
        )  # fmt: skip
        while program.poll() is None:
            try:
                peaks["program"] = peak(program.pid)
            except StopIteration:  # it has ended, and nobody asked yet
                break
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        peaks["scheduler"] = peak(scheduler.pid)
        peaks["workers"] = [peak(process.pid) for process in workers]
        tiles = len({path.name.rsplit("-", 1)[0] for path in Path(folder).glob("work/overlaps-*/*-*-*")})
        for process in [*workers, scheduler]:
            process.terminate()
            process.wait()
        print(f"exit {program.wait()}, {tiles} tiles, {seconds:.1f} s; MB: {peaks}")


if __name__ == "__main__":
    main()
