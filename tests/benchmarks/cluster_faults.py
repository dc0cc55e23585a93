"""A run on Dask with four workers, one killed and one slow: its bytes are those of a single process.

Run ``python -m tests.benchmarks.cluster_faults READS [--memory 300M] [--port 8791]``. The slow worker is
stopped for three quarters of every second; another one is killed when three strips of tiles are done.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.benchmarks.cluster_memory import started
from tests.benchmarks.harness import parser_of
from tests.benchmarks.two_hosts import overlapping, strips


def slow_down(pid, over):
    """Stop a process for three quarters of every second, until it is over."""
    while not over.wait(0.25):
        os.kill(pid, signal.SIGSTOP)
        over.wait(0.75)
        os.kill(pid, signal.SIGCONT)


def main():
    parser = parser_of(__doc__, memory="300M", port=8791)
    parser.add_argument("reads", type=os.path.abspath)
    options = parser.parse_args()
    address = f"tcp://127.0.0.1:{options.port}"
    over = threading.Event()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone, out, work = folder / "alone.paf", folder / "out.paf", folder / "work"
        subprocess.run([sys.executable, "-m", *overlapping(options.reads, options.memory, alone)], check=True)
        scheduler = started(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", options.port, "--no-dashboard"
        )
        worker = ("distributed.cli.dask_worker", address, "--nthreads", 1, "--no-nanny", "--no-dashboard")
        workers = [started(*worker, "--local-directory", folder) for _ in range(4)]
        slow = threading.Thread(target=slow_down, args=(workers[0].pid, over))
        time.sleep(8)
        cluster = ("--scheduler", address, "--workdir", work)
        program = started(*overlapping(options.reads, options.memory, out), *cluster)
        slow.start()
        while strips(work) < 3:
            assert program.poll() is None, "ended before a worker was killed"
            time.sleep(0.1)
        before = strips(work)
        workers[1].kill()
        status = program.wait()
        over.set()
        slow.join()
        for process in [*workers, scheduler]:
            process.terminate()
            process.wait()
        same = status == 0 and out.read_bytes() == alone.read_bytes()
        print(f"a worker killed at {before} of {strips(work)} strips, exit {status}, same bytes: {same}")
        assert same


if __name__ == "__main__":
    main()
