"""Tiles on worker processes, killed, slow and cut off; the overlaps are those of one process."""

import json

import pytest

from overlapper.errors import ParameterError
from overlapper.overlap.distributed import Cluster
from overlapper.runtime.threads import available_threads
from tests.cli.runner import overlapper, python
from tests.property.test_tiles import simulated
from tests.read_sets import fasta_of

SCRIPT = """
import dataclasses, os, signal, sys, time
from distributed.comm import CommClosedError
from overlapper.overlap import distributed, pipeline, tiles
from overlapper.overlap.tiles import Folder
from overlapper.tiled import plan
from overlapper.tiled.reads import store_reads
from overlapper.io import read_fastx, write_overlaps
from overlapper.runtime.threads import cut_evenly
from overlapper.tiled.workdir import Workdir

def slow_down():
    write = tiles.write_strip
    def slowly(*arguments, **named):
        time.sleep(1)
        write(*arguments, **named)
    tiles.write_strip = slowly

if __name__ == "__main__":
    tiles.cut_blocks = lambda lengths, *_: cut_evenly(lengths, int(lengths.sum()) // 5)
    workdir = Workdir("work")
    store = store_reads(workdir, [read_fastx("reads.fa")])
    with distributed.Cluster(4, None, 4) as cluster:
        pids = cluster.client.run(os.getpid)
        doomed, slow, *_ = pids
        cluster.client.run(slow_down, workers=[doomed, slow])
        reported = []
        def report(step, done, total):
            if (step, done) == ("overlapping", 1):
                os.kill(pids[doomed], signal.SIGKILL)
            reported.append((step, done, total))
        finish = cluster._completed
        def lose_the_connection_once(*arguments):
            for number, done in enumerate(finish(*arguments)):
                yield done
                if number == 14 and cluster.client is before:
                    raise CommClosedError("the link is cut")
        cluster._completed = lose_the_connection_once
        before = cluster.client
        folder = Folder(workdir, plan.Budget(1 << 34, 4), workers=cluster)
        run = pipeline.find(store, threads=4, folder=folder, report=report)
        alive = set(cluster.client.run(os.getpid).values())
    assert pids[doomed] not in alive
    assert before is not cluster.client
    assert reported[-1] == ("overlapping", 21, 21), reported
    write_overlaps(run.overlaps, store.names(), "tiled.paf")
"""


@pytest.fixture
def folder(tmp_path):
    return with_overlaps(tmp_path)


def with_overlaps(folder):
    """Write reads and their overlaps, found in memory, to a folder; return it."""
    (folder / "reads.fa").write_text(fasta_of(simulated("ont-r9")))
    overlapper("overlap", "reads.fa", "-o", "whole.paf", "-q", cwd=folder, check=True)
    return folder


@pytest.mark.slow
def test_killed_and_slow_workers_and_a_lost_connection_do_not_change_the_bytes(folder):
    (folder / "script.py").write_text(SCRIPT)
    python("script.py", cwd=folder, check=True)
    assert (folder / "tiled.paf").read_bytes() == (folder / "whole.paf").read_bytes()


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    """The folder of a run on two workers."""
    folder = with_overlaps(tmp_path_factory.mktemp("tiled"))
    (folder / "tmp").mkdir()
    words = ("overlap", "reads.fa", "-o", "tiled.paf", "--workers", "2", "--stats", "s.json")
    python("-m", "overlapper", *words, cwd=folder, env={"TMPDIR": str(folder / "tmp")}, check=True)
    return folder


def test_workers_from_the_command_line(tiled):
    assert (tiled / "tiled.paf").read_bytes() == (tiled / "whole.paf").read_bytes()
    assert json.loads((tiled / "s.json").read_text())["funnel"]["overlaps"] > 100


@pytest.mark.slow
def test_no_more_workers_are_started_than_there_are_processors(folder):
    words = ("overlap", "reads.fa", "-o", "tiled.paf", "--workers", "100000")
    done = python("-m", "overlapper", *words, cwd=folder, check=True)
    expected = f"starting {available_threads()} workers, one for each processor that may be used, not 100000"
    assert expected in done.stderr.decode()
    assert (folder / "tiled.paf").read_bytes() == (folder / "whole.paf").read_bytes()


def test_workers_that_do_not_start_are_told(monkeypatch):
    def scarce(**_):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", scarce)
    with pytest.raises(ParameterError, match="3 workers cannot be started: Nanny failed to start"):
        Cluster(3, None, 3).__enter__()


def test_more_workers_than_gpus_are_refused():
    with pytest.raises(ParameterError, match="3 workers were asked for and there are 2 GPUs"):
        Cluster(3, None, 3, ["cuda:0", "cuda:1"])


def test_a_scheduler_that_is_not_there_is_told(folder):
    done = overlapper("overlap", "reads.fa", "-o", "out.paf", "--scheduler", "tcp://127.0.0.1:9", cwd=folder)
    assert done.returncode == 1
    assert b"scheduler tcp://127.0.0.1:9 does not answer" in done.stderr
    assert not (folder / "out.paf").exists()


STRANGER = """
import asyncio, urllib.request
from urllib.error import HTTPError
import pytest
from distributed.comm import connect
from overlapper.overlap.distributed import Cluster

if __name__ == "__main__":
    with Cluster(1, None, 1) as cluster:
        def listens(dask_worker):
            return dask_worker.address, dask_worker.http_server.port
        (worker,) = cluster.client.run(listens).values()
        pages = [cluster.client.cluster.scheduler.http_server.port, worker[1]]
        for address in (cluster.client.scheduler.address, worker[0]):
            assert address.startswith("tls://127.0.0.1:"), address
            for scheme in ("tcp", "tls"):
                with pytest.raises((OSError, TypeError)):
                    asyncio.run(connect(f"{scheme}://{address[6:]}", timeout=2))
        for port in pages:
            for page in ("info/main/workers.html", "info/logs", "metrics", "json/counts.json", "health"):
                with pytest.raises(HTTPError, match="404"):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}")
        print("refused")
"""


def test_started_processes_accept_nobody_else(tmp_path):
    (tmp_path / "script.py").write_text(STRANGER)
    done = python("script.py", cwd=tmp_path)
    assert done.stdout == b"refused\n", done.stderr.decode()


def test_started_processes_leave_no_files(tiled):
    assert list((tiled / "tmp").iterdir()) == []


TROUBLE = """
import os
from typing import NamedTuple
import pytest
from overlapper.errors import OutOfMemoryError, ParameterError
from overlapper.overlap import distributed

class Part(NamedTuple):
    folders: tuple = ()

def die(part, threads):
    os._exit(1)

if __name__ == "__main__":
    with distributed.Cluster(1, None, 1) as cluster:
        cluster.client.cluster.scheduler.allowed_failures = 0
        with pytest.raises(OutOfMemoryError, match="ended again and again on the same part"):
            list(cluster.in_order(die, [Part()]))
        distributed.code_digest = lambda: "that of another version"
        with pytest.raises(ParameterError, match="has another overlapper"):
            list(cluster.in_order(lambda part, threads: 1, [Part()]))
        print("told")
"""


def test_workers_that_die_and_workers_with_another_program_are_told(tmp_path):
    (tmp_path / "script.py").write_text(TROUBLE)
    done = python("script.py", cwd=tmp_path)
    assert done.stdout == b"told\n", done.stderr.decode()
