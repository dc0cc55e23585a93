"""Largest memory of each process of a run on Dask: program, scheduler and workers.

Run ``python -m tests.benchmarks.cluster_memory READS [--memory 600M] [--workers 2] [--port 8790]``. Memory is
the largest resident set of each process, as Linux reports it.
"""

import os
import tempfile
import time
from pathlib import Path

from tests.benchmarks.clusters import local_cluster, overlapping, started
from tests.benchmarks.harness import parser_of


def peak(pid):
    """Return the largest resident set of a process so far, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024


def main():
    parser = parser_of(__doc__, memory="600M", workers=2, port=8790)
    parser.add_argument("reads", type=os.path.abspath)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        local_cluster(options.port, options.workers, name) as (address, scheduler, workers),
    ):
        folder = Path(name)
        peaks = {"program": 0}
        start = time.perf_counter()
        work = folder / "work"
        program = started(*overlapping(options.reads, options.memory, folder / "out.paf", work, address))
        while program.poll() is None:
            try:
                peaks["program"] = peak(program.pid)
            except StopIteration:  # it has ended, and nobody asked yet
                break
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        peaks["scheduler"] = peak(scheduler.pid)
        peaks["workers"] = [peak(process.pid) for process in workers]
        tiles = len({path.name.rsplit("-", 1)[0] for path in work.glob("overlaps-*/*-*-*")})
        print(f"exit {program.wait()}, {tiles} tiles, {seconds:.1f} s; MB: {peaks}")


if __name__ == "__main__":
    main()
