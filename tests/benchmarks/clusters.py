"""Runs of overlap on Dask clusters, whose processes benchmarks start, stop and look at."""

import contextlib
import subprocess
import sys
import time

SCHEDULER = "distributed.cli.dask_scheduler"
WORKER = "distributed.cli.dask_worker"


def started(*command, within=(), **options):
    """Start a Python module, perhaps by another program; what Dask tells of itself is not shown."""
    words = [*within, sys.executable, "-m", *map(str, command)]
    quiet = None if command[0] == "overlapper" else subprocess.DEVNULL
    return subprocess.Popen(words, stderr=quiet, **options)


@contextlib.contextmanager
def running(*command, **options):
    """Run a Python module until the context is left."""
    process = started(*command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def local_cluster(port, workers, folder):
    """Give the address, the scheduler and the workers of a cluster on this machine."""
    address = f"tcp://127.0.0.1:{port}"
    worker = (WORKER, address, "--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", folder)
    with contextlib.ExitStack() as processes:
        scheduler = processes.enter_context(
            running(SCHEDULER, "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        )
        found = [processes.enter_context(running(*worker)) for _ in range(workers)]
        time.sleep(8)
        yield address, scheduler, found


def overlapping(reads, memory, out, workdir=None, address=None):
    """Return the command that finds overlaps, in a folder of work with a cluster, or alone."""
    command = ["overlapper", "overlap", reads, "-q", "-t", 1, "--memory", memory, "-o", out]
    return command if workdir is None else [*command, "--workdir", workdir, "--scheduler", address]


def strips(workdir):
    """Return how many strips of tiles are done."""
    return len(list(workdir.glob("overlaps-*/*/done.json")))


def wait_for_strips(workdir, program, number=3):
    """Wait until so many strips are done, while the program runs; return how many are."""
    while strips(workdir) < number:
        assert program.poll() is None, "ended too early"
        time.sleep(0.1)
    return strips(workdir)
