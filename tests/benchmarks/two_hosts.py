"""Two hosts made of network namespaces, the link between them cut and healed while a run goes on.

Run ``python -m tests.benchmarks.two_hosts READS [--memory 300M] [--seconds 25]`` as root, on Linux, with
Dask. Host ``a`` has the scheduler and a worker, host ``b`` a worker. In the first run the program that was
started is on host ``a``, so that the cut takes a worker away; in the second on ``b``, so that it loses the
scheduler, too. Either run must end with the bytes of a single process.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.clusters import (
    SCHEDULER,
    WORKER,
    overlapping,
    running,
    started,
    strips,
    wait_for_strips,
)
from tests.benchmarks.harness import parser_of

HOSTS = {"a": "10.77.0.1", "b": "10.77.0.2"}
ADDRESS = f"tcp://{HOSTS['a']}:8786"
PATIENCE = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "10s",
}
"""Dask waits minutes by default, longer than a benchmark wants to."""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


@contextlib.contextmanager
def two_hosts():
    """Make both hosts and the link; give a function that takes the link up or down."""
    names = {host: f"overlapper-{os.getpid()}-{host}" for host in HOSTS}
    for name in names.values():
        ip("netns", "add", name)
    try:
        link = f"link add end netns {names['a']} type veth peer name end netns {names['b']}"
        ip(*link.split())
        for host, address in HOSTS.items():
            ip("-n", names[host], "address", "add", f"{address}/24", "dev", "end")
            for link in ("lo", "end"):
                ip("-n", names[host], "link", "set", link, "up")
        yield names, lambda state: ip("-n", names["a"], "link", "set", "end", state)
    finally:
        for name in names.values():
            ip("netns", "delete", name)


def on(name):
    """Return how a process is started on a host."""
    return {"within": ("ip", "netns", "exec", name), "env": {**os.environ, **PATIENCE}}


def wait_for_scheduler(name):
    """Wait until the scheduler on a host answers."""
    connect = ["ip", "netns", "exec", name, "bash", "-c", f"exec 3<>/dev/tcp/{HOSTS['a']}/8786"]
    while subprocess.run(connect, stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.2)


def run_cut(names, link, client, reads, memory, seconds, folder):
    """Run with the program on a host, cut the link when some tiles are done; return what it wrote."""
    out, workdir = folder / f"{client}.paf", folder / f"work-{client}"
    worker = (WORKER, ADDRESS, "--nthreads", 1, "--no-dashboard", "--local-directory", folder)
    scheduler = (SCHEDULER, "--host", HOSTS["a"], "--port", 8786, "--no-dashboard")
    program = overlapping(reads, memory, out, workdir, ADDRESS)
    with contextlib.ExitStack() as processes:
        processes.enter_context(running(*scheduler, **on(names["a"])))
        wait_for_scheduler(names["a"])
        for host in HOSTS:
            processes.enter_context(running(*worker, **on(names[host])))
        process = processes.enter_context(running(*program, **on(names[client])))
        before = wait_for_strips(workdir, process)
        link("down")
        time.sleep(seconds)
        during = strips(workdir)
        link("up")
        healed = time.perf_counter()
        assert process.wait() == 0
    waited = time.perf_counter() - healed
    print(
        f"program on host {client}: {before} strips, {during} when the link healed, {strips(workdir)} in all;"
    )
    print(f"ended {waited:.1f} s later")
    return out.read_bytes()


def main():
    parser = parser_of(__doc__, memory="300M", seconds=25.0)
    parser.add_argument("reads", type=os.path.abspath)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("network namespaces need root")
    with tempfile.TemporaryDirectory() as name, two_hosts() as (names, link):
        folder = Path(name)
        alone = folder / "alone.paf"
        assert started(*overlapping(options.reads, options.memory, alone)).wait() == 0
        for client in HOSTS:
            found = run_cut(names, link, client, options.reads, options.memory, options.seconds, folder)
            same = found == alone.read_bytes()
            print(f"same bytes: {same}")
            assert same


if __name__ == "__main__":
    main()
