"""Parts of a run on Dask: processes of this machine, or a cluster.

A worker is sent a function and a part of the work: a tile of overlaps, or targets to vote on. A part names
the artifacts that it takes (packed reads, seeds) by their folders. Where a worker does not see these under
the same path with the same content, parts are sent with all that they take. A worker keeps nothing: what the
function returns is sent back, and this process writes it to its folder, where what is finished stays as it
is. A part that is done twice, as after a worker was lost, gives the same bytes. Dask repeats what lost
workers did; when this process loses the scheduler, it connects anew and asks again for what is not finished.

Processes that are started here accept connections only from each other: TLS by a certificate that is made
for the run and known to them alone, and no pages over HTTP. Terminals send Ctrl-C to all processes; they
leave it to this one, which ends them. How a scheduler that was there is reached, Dask's configuration says.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from overlapper.errors import MissingExtraError, OutOfMemoryError, ParameterError
from overlapper.io.artifacts import RECORD, digest_of
from overlapper.io.folders import ANYTHING, temporary_folder
from overlapper.runtime import cleanup
from overlapper.tiled.stages import code_digest

RETRIES = 5
"""Times that a part is tried again on another worker."""

CONNECT_SECONDS = 5
RECONNECT_SECONDS = 300
"""How long a connection that was lost is tried to be made again."""
SUBMITTED = 2
"""Parts that are submitted at a time for each that is worked on: what workers have finished stays in their
memory until it is fetched."""
AHEAD = 4
"""Parts, for each that is worked on, by which the last one submitted is ahead of the first one not finished,
at most: results wait for those before them."""


class Part(Protocol):
    """A part of the work, as it is sent to a worker."""

    @property
    def folders(self) -> Sequence[Path]:
        """Artifacts that are opened where it is worked on; an empty path for one in memory."""

    def whole(self) -> Self:
        """Return the same with all that it takes, so that no folder is opened."""


SomePart = TypeVar("SomePart", bound=Part)
Result = TypeVar("Result")
Numbered = tuple[int, Result]


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
    client : dask.distributed.Client, optional
        A connection that is there, in place of ``workers`` and ``scheduler``; no context is needed then.

    Attributes
    ----------
    devices : list of str
        As given, if processes are started here that take GPUs; else empty.

    Raises
    ------
    OutOfMemoryError
        When workers end again and again on the same part.
    MissingExtraError
        When Dask is not installed, or what it takes to make certificates for processes to start.
    ParameterError
        When the scheduler does not answer, processes cannot be started, more are asked for than there are
        GPUs, or a worker has another program.
    """

    def __init__(
        self,
        workers: int,
        scheduler: str | None,
        threads: int,
        devices: Sequence[str] = ("cpu",),
        *,
        client: Any = None,
    ) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("distributed", "Running on several workers") from None
        elsewhere = scheduler or client is not None
        if not elsewhere and importlib.util.find_spec("cryptography") is None:
            raise MissingExtraError("cryptography", "Running on several workers")
        self._dask = distributed
        self._workers, self._scheduler = workers, scheduler
        self._given, self._seen = client is not None, dict[Path, bool]()
        self.client = client
        self._threads_of_part = 1 if elsewhere else max(1, threads // workers)
        self.devices = [] if elsewhere or devices[0] == "cpu" else list(devices)
        if self.devices and workers > len(devices):
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

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _connect(self, seconds: int) -> None:
        try:
            self.client = self._dask.Client(
                self._address, set_as_default=False, timeout=seconds, direct_to_workers=not self._scheduler
            )
        except (OSError, ValueError) as error:  # of the connection, of an address that is none
            raise ParameterError(
                f"scheduler {self._scheduler} does not answer: {error}. Check the address, and that it runs"
            ) from None

    @property
    def size(self) -> int:
        """Parts that are worked on at the same time: one on each thread of a worker; at least 1."""
        return max(1, sum(self.client.nthreads().values()))

    def in_order(
        self, function: Callable[[SomePart, int], Result], parts: Iterable[SomePart]
    ) -> Iterator[Result]:
        """Yield what a function returns for every part, in the order of the parts.

        Parameters
        ----------
        function : callable
            ``function(part, threads)``, called by a worker; can be pickled.
        parts : iterable of Part
            Taken as they are wanted.
        """
        early, wanted = dict[int, Result](), 0
        for number, result in self.completed(function, parts):
            early[number] = result
            while wanted in early:
                yield early.pop(wanted)
                wanted += 1

    def completed(
        self, function: Callable[[SomePart, int], Result], parts: Iterable[SomePart]
    ) -> Iterator[Numbered[Result]]:
        """Yield the number of each part and what `in_order` yields for it, as they are finished.

        A connection that is lost is made again, and what is not finished then is asked for again.
        """
        from distributed.client import FutureCancelledError
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        coming, begun = enumerate(parts), dict[int, SomePart]()
        for trial in range(RETRIES + 1):
            try:
                yield from self._completed(function, coming, begun)
                return
            except KilledWorker as error:
                raise OutOfMemoryError(
                    "workers ended again and again on the same part of the work, the last one at "
                    f"{error.last_worker.address}. Most likely they lack memory: give a smaller --memory, "
                    "which is that of each worker, or start fewer workers on a machine"
                ) from None
            except (CommClosedError, FutureCancelledError):
                if trial == RETRIES or self._given:
                    raise
                with contextlib.suppress(OSError, TimeoutError):
                    self.client.close(timeout=CONNECT_SECONDS)
                self._connect(RECONNECT_SECONDS)

    def _completed(
        self,
        function: Callable[[SomePart, int], Result],
        coming: Iterator[tuple[int, SomePart]],
        begun: dict[int, SomePart],
    ) -> Iterator[Numbered[Result]]:
        """Yield as `completed` does, what was begun and is not finished first; note there what is."""
        running = self._dask.as_completed(loop=self.client.loop)
        number_of, again = dict[Any, int](), list(begun.items())
        while True:
            size = self.size
            while len(number_of) < SUBMITTED * size and (
                again or not begun or max(begun) - min(begun) < AHEAD * size
            ):
                number, part = again.pop(0) if again else next(coming, (-1, None))
                if part is None:
                    break
                begun[number] = part
                future = self._submit(function, part)
                number_of[future] = number
                running.add(future)
            if not number_of:
                return
            future = next(running)
            result, number = future.result(), number_of.pop(future)
            future.release()
            del begun[number]
            yield number, result

    def _submit(self, function: Callable[[SomePart, int], Result], part: SomePart) -> Any:
        if not all(map(self._sees, part.folders)):
            part = part.whole()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # there is no other way to the workers
            return self.client.submit(
                _done, function, part, self._threads_of_part, code_digest(), pure=False, retries=RETRIES
            )

    def _sees(self, folder: Path) -> bool:
        """Tell whether all workers have an artifact under its path."""
        if folder not in self._seen:
            record = folder.absolute() / RECORD
            self.client.wait_for_workers(1)
            found = self.client.run(_digest, record).values()
            self._seen[folder] = bool(folder.name) and {*found} == {_digest(record)}
        return self._seen[folder]


def _done(function: Callable[[SomePart, int], Result], part: SomePart, threads: int, code: str) -> Result:
    """Call a function on the worker, if its program is that of the run: others give other results."""
    if code_digest() != code:
        raise ParameterError(
            f"a worker on {socket.gethostname()} has another overlapper, {Path(__file__).parents[1]}: "
            "install there what runs here"
        )
    return function(part, threads)


def _digest(path: Path) -> str | None:
    """Return the digest of a file; None if there is none."""
    try:
        return digest_of(path)
    except OSError:
        return None


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
                    silence_logs=logging.ERROR,
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
