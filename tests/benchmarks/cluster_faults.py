"""A run on Dask with four workers, one killed and one slow: its bytes are those of a single process.

Run ``python -m tests.benchmarks.cluster_faults READS [--memory 300M] [--port 8791]``. The slow worker is
stopped for three quarters of every second; another one is killed when three strips of tiles are done.
"""

import os
import signal
import tempfile
import threading
from pathlib import Path

from tests.benchmarks.clusters import local_cluster, overlapping, started, strips, wait_for_strips
from tests.benchmarks.harness import parser_of


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
    over = threading.Event()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone, out, work = folder / "alone.paf", folder / "out.paf", folder / "work"
        assert started(*overlapping(options.reads, options.memory, alone)).wait() == 0
        with local_cluster(options.port, 4, folder) as (address, _, workers):
            slow = threading.Thread(target=slow_down, args=(workers[0].pid, over))
            program = started(*overlapping(options.reads, options.memory, out, work, address))
            slow.start()
            before = wait_for_strips(work, program)
            workers[1].kill()
            status = program.wait()
            over.set()
            slow.join()
        same = status == 0 and out.read_bytes() == alone.read_bytes()
        print(f"a worker killed at {before} of {strips(work)} strips, exit {status}, same bytes: {same}")
        assert same


if __name__ == "__main__":
    main()
