"""Tiles on Dask: processes of this machine, or a cluster.

A worker is sent which tile to do and where the packed reads and the seeds are: a folder that every worker
sees under the same path, or has a copy of. It does the tile as a single process does, in a temporary folder
of its own, and returns the files of the strips; this process writes them to the results, where a strip that
is finished already stays as it is. A tile that is done twice, as after a worker was lost, gives the same
bytes. Dask repeats what lost workers did; when this process loses the scheduler, it connects anew and asks
for what is missing.

Processes that are started here accept connections only from each other: TLS by a certificate that is made
for the run and known to them alone, and no pages over HTTP. Terminals send Ctrl-C to all processes; they
leave it to this one, which ends them. How a scheduler that was there is reached, Dask's configuration says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import itertools
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from overlapper.errors import MissingExtraError, ParameterError
from overlapper.io.artifacts import RECORD, finished, finished_artifact, writing
from overlapper.io.folders import ANYTHING, MARK, temporary_folder
from overlapper.overlap.tiles import TileNumber, Tiles
from overlapper.runtime import cleanup
from overlapper.runtime.messages import Report

RETRIES = 5
"""Times that a tile is tried again on another worker."""

CONNECT_SECONDS = 5
RECONNECT_SECONDS = 300
"""How long a connection that was lost is tried to be made again."""
LEAST_SUBMITTED = 16
"""Tiles that are submitted at a time, at least."""

Strip = tuple[int, dict[str, bytes], dict[str, Any]]
"""Number of a strip, its files by name, and its facts."""


class Cluster:
    """A connection to Dask, used as a context manager.

    Parameters
    ----------
    workers : int
        Processes to start on this machine, when there is no scheduler.
    scheduler : str or None
        Address of a scheduler, ``tcp://...``.
    threads : int
        Threads of all started processes together.
    devices : list of str
        Of this machine; where they are GPUs, each started process takes one of its own. Workers of a
        scheduler take those that they see.

    Raises
    ------
    MissingExtraError
        When Dask is not installed, or what it takes to make certificates for processes to start.
    ParameterError
        When the scheduler does not answer, processes cannot be started, or more are asked for than there are
        GPUs.
    """

    def __init__(
        self, workers: int, scheduler: str | None, threads: int, devices: Sequence[str] = ("cpu",)
    ) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("distributed", "Running on several workers") from None
        if not scheduler and importlib.util.find_spec("cryptography") is None:
            raise MissingExtraError("cryptography", "Running on several workers")
        self._dask = distributed
        self._workers, self._scheduler, self._threads = workers, scheduler, threads
        self._devices = [] if scheduler or devices[0] == "cpu" else list(devices)
        if self._devices and workers > len(devices):
            raise ParameterError(
                f"{workers} workers were asked for and there are {len(devices)} GPUs, of which each worker "
                f"takes one. Ask for --workers {len(devices)}, or for --device cpu"
            )

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            self._address: Any = self._scheduler or opened.enter_context(_local_cluster(self._workers))
            self._connect(CONNECT_SECONDS)
            opened.callback(lambda: self.client.close())
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def _connect(self, seconds: int) -> None:
        try:
            self.client = self._dask.Client(self._address, set_as_default=False, timeout=seconds)
        except (OSError, ValueError) as error:  # of the connection, of an address that is none
            raise ParameterError(
                f"scheduler {self._scheduler} does not answer: {error}. Check the address, and that it runs"
            ) from None

    @property
    def size(self) -> int:
        """Tiles that are worked on at the same time: one on each thread of a worker; at least 1."""
        return max(1, sum(self.client.nthreads().values()))

    def run_tiles(self, work: Tiles, tiles: list[TileNumber], report: Report) -> None:
        """Finish the strips of tiles that are not finished; see `overlapper.overlap.tiles.RunTiles`.

        A connection that is lost is made again, and what is missing then is asked for again.
        """
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError

        for trial in range(RETRIES + 1):
            missing = {tile: numbers for tile in tiles if (numbers := work.missing(tile))}
            try:
                for done in self._finished(work, missing):
                    report("overlapping", len(tiles) - len(missing) + done, len(tiles))
                return
            except (CommClosedError, FutureCancelledError):
                if trial == RETRIES:
                    raise
                with contextlib.suppress(OSError, TimeoutError):
                    self.client.close(timeout=CONNECT_SECONDS)
                self._connect(RECONNECT_SECONDS)

    def _finished(self, work: Tiles, missing: dict[TileNumber, list[int]]) -> Iterator[int]:
        """Do strips of tiles and write them to the results; yield how many tiles are finished."""
        threads = 1 if self._scheduler else max(1, self._threads // self._workers)
        waiting = iter(missing.items())
        running = self._dask.as_completed(loop=self.client.loop)
        tile_of: dict[Any, TileNumber] = {}
        done = 0
        while True:
            # What workers have finished stays in their memory until it is fetched: they are given no more
            # than keeps them busy.
            room = max(LEAST_SUBMITTED, 2 * self.size) - len(tile_of)
            for tile, numbers in itertools.islice(waiting, max(0, room)):
                future = self.client.submit(
                    run_remotely, work, tile, numbers, threads, self._devices, pure=False, retries=RETRIES
                )
                tile_of[future] = tile
                running.add(future)
            if not tile_of:
                return
            future = next(running)
            _keep(work.strips(tile_of.pop(future)), future.result())
            future.release()
            done += 1
            yield done


@contextlib.contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start processes on this machine; they end, and their files go, when the context is left."""
    import dask
    from distributed import LocalCluster

    _quiet_tracker()
    with temporary_folder(tempfile.gettempdir(), ANYTHING) as made, cleanup.child(_Workers()) as started:
        folder = str(made)
        settings = {
            "temporary-directory": folder,
            "distributed.nanny.environ.TMPDIR": folder,
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
        }
        with cleanup.temporary_files_in(folder), _interrupts_left_to_others(), dask.config.set(settings):
            try:
                started.cluster = LocalCluster(
                    n_workers=workers, threads_per_worker=1, memory_limit=0, security=True,
                    dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
                )  # fmt: skip
            except RuntimeError as error:  # whatever was scarce
                raise ParameterError(
                    f"{workers} workers cannot be started: {error} Ask for fewer --workers, or raise what "
                    "ulimit -n, -u and -v allow"
                ) from None
        # A connection is made with its certificate in a file.
        with started.cluster, cleanup.temporary_files_in(folder):
            yield started.cluster


class _Workers:
    """The processes of a `LocalCluster`, as `overlapper.runtime.cleanup` ends them."""

    cluster: Any = None

    def terminate(self) -> None:
        for nanny in self.cluster.workers.values() if self.cluster else ():
            nanny.close_gracefully()  # it starts no other in the place of one that ends
        self.kill()

    def kill(self) -> None:
        for process in multiprocessing.active_children():
            process.kill()

    def wait(self, timeout: float | None = None) -> None:
        for process in multiprocessing.active_children():
            process.join(timeout)


@contextlib.contextmanager
def _interrupts_left_to_others() -> Iterator[None]:
    """Keep Ctrl-C from threads and processes that are started within this context."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _quiet_tracker() -> None:
    """Start Python's process that removes leaked semaphores, so that it does not warn of them."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def run_remotely(
    work: Tiles, tile: TileNumber, numbers: list[int], threads: int, devices: list[str]
) -> list[Strip]:
    """Do strips of a tile in a temporary folder, and return their files; on the worker's own device.

    Parameters
    ----------
    work : Tiles
    tile : tuple of int
    numbers : list of int
        Of the strips.
    threads : int
    devices : list of str
        Of the machine, one for each started process; empty where a worker takes what it sees.
    """
    from distributed import get_worker

    if devices:
        # Processes that a LocalCluster starts are numbered, one that takes the place of another like it.
        work = dataclasses.replace(work, device=devices[int(get_worker().name)])
    with temporary_folder(get_worker().local_directory) as folder:
        local = dataclasses.replace(work, results=folder)
        local.run(tile, threads, numbers)
        paths = local.strips(tile)
        return [(number, *_content(paths[number])) for number in numbers]


def _content(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    files = {file.name: file.read_bytes() for file in path.iterdir() if file.name not in (RECORD, MARK)}
    return files, finished_artifact(path).facts


def _keep(paths: list[Path], strips: list[Strip]) -> None:
    """Write the files of strips to the results, unless they are there."""
    for number, files, facts in strips:
        if finished(paths[number]) is not None:
            continue
        with writing(paths[number]) as artifact:
            for name, content in files.items():
                artifact.save(name, np.frombuffer(content, np.uint8))
            artifact.facts |= facts
