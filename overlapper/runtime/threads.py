"""Threads that run kernels, which release Python's lock."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Generic, Self, TypeVar

import numpy as np

Task = TypeVar("Task")
Result = TypeVar("Result")
_LEAST_BLOCKS = 4
"""Least blocks of work for each thread, for small sets."""
_LARGEST_SHARE = 8
"""Most times the usual weight of a block, with many threads."""
_SMALLEST_SHARE = 8
"""The last blocks of `cut_falling` have one in this many parts of the weight of the first ones."""


def available_threads() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_order(function: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    """Yield ``function(task)`` for every task, in the order of the tasks.

    At most ``threads`` calls run and at most twice as many results wait, so that memory stays bounded. After
    an error, or Ctrl-C, calls that run are waited for and no others begin.

    Parameters
    ----------
    function : callable
        Should spend its time in code that releases the lock.
    tasks : iterable
    threads : int
        1 calls the function from this thread.
    """
    if threads == 1:
        yield from map(function, tasks)
        return
    team, waiting = _Team(function, threads), deque[Future[Result]]()
    try:
        for task in tasks:
            waiting.append(team.begin(task))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        team.end()


class _Team(Generic[Task, Result]):
    """At most so many threads that call a function with tasks, in the order in which these come."""

    def __init__(self, function: Callable[[Task], Result], threads: int) -> None:
        self._function, self._threads = function, threads
        self._tasks = SimpleQueue[tuple[Future[Result], Task] | None]()
        self._at_work: list[Future[None]] = []

    def begin(self, task: Task) -> Future[Result]:
        """Have the function called with a task, unless its future is cancelled before."""
        future = Future[Result]()
        self._tasks.put((future, task))
        if len(self._at_work) < self._threads:
            self._at_work.append(_waiting.submit(self._work))
        return future

    def end(self) -> None:
        """Wait until no call runs; `begin` is not called any more."""
        for _ in self._at_work:
            self._tasks.put(None)
        wait(self._at_work)

    def _work(self) -> None:
        while item := self._tasks.get():
            future, task = item
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._function(task))
                except BaseException as error:
                    future.set_exception(error)
            del item, future, task  # or they are kept until there is another task


def for_each(function: Callable[[Task], object], tasks: Iterable[Task], threads: int) -> None:
    """Call a function for every task, as `map_in_order` does, without results."""
    deque(map_in_order(function, tasks, threads), maxlen=0)


_MOST_THREADS = 1 << 16
"""More than run at any time: each call bounds its own."""
_waiting = ThreadPoolExecutor(_MOST_THREADS)
"""Threads that wait for the next call: to start them anew takes longer than much of the work that they do."""


def _forget_threads() -> None:
    global _waiting
    _waiting = ThreadPoolExecutor(_MOST_THREADS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)  # a child process has no thread but its first


def start(function: Callable[[], Result]) -> Future[Result]:
    """Call a function in a daemon thread; return its future."""
    future: Future[Result] = Future()

    def call() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return future


class BackgroundCalls:
    """Calls functions in another thread, one after the other, while this one goes on.

    Used as a context manager: all calls are over when it is left. The error of a call is raised by the next
    one, by `wait`, or where the context is left.
    """

    def __init__(self) -> None:
        self._last: Future[object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function as soon as the call before is over, which is waited for."""
        self.wait()
        self._last = start(function)

    def wait(self) -> None:
        """Wait for the call that runs, if any does; raise its error if there was one."""
        if self._last is not None:
            last, self._last = self._last, None
            last.result()


def share_of_block(total: int, most: int, threads: int) -> int:
    """Return the weight of a block: ``most``, or less, so that each thread has `_LEAST_BLOCKS`.

    Blocks of little work take turns on the threads, so that none waits long for the last one.
    """
    return max(1, min(most, total // (_LEAST_BLOCKS * threads)))


def share_for_threads(total: int, share: int, threads: int) -> int:
    """Return the weight of a block: more than usual for large sets and many threads, less for small sets.

    What a block takes of Python, whose lock one thread has at a time, hardly depends on its size, and many
    threads wait long where they hand the lock on.

    Parameters
    ----------
    total : int
        Weight of all work.
    share : int
        Weight of a block on a few threads; on more, up to `_LARGEST_SHARE` times as much, if that leaves two
        blocks to each.
    threads : int
    """
    larger = min(share * min(max(1, threads // 4), _LARGEST_SHARE), total // (2 * threads))
    return larger if larger > share else share_of_block(total, share, threads)


def cut_evenly(weights: np.ndarray, share: int) -> np.ndarray:
    """Cut a sequence of weighted items into blocks of about the same weight.

    Parameters
    ----------
    weights : ndarray of int, shape (n,)
    share : int
        Weight that a block may reach; a single item may exceed it.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
        Where blocks start: block ``i`` is ``[bounds[i], bounds[i + 1])``.
    """
    return _cut(weights, lambda left: share)


def cut_falling(weights: np.ndarray, share: int, threads: int) -> np.ndarray:
    """Cut as `cut_evenly` does, but into smaller blocks towards the end, so that all threads end together.

    Parameters
    ----------
    weights, share
        As for `cut_evenly`.
    threads : int
        No block is more than half of what each of so many threads has left to do, down to a share of
        `_SMALLEST_SHARE`.

    Returns
    -------
    ndarray of int64, shape (blocks + 1,)
    """
    least = share // _SMALLEST_SHARE
    return _cut(weights, lambda left: min(share, max(left // (2 * threads), least)))


def _cut(weights: np.ndarray, share_of: Callable[[int], int]) -> np.ndarray:
    """Cut as `cut_evenly` does; ``share_of(left)`` is the weight of the next block, of what is left."""
    ends = np.cumsum(weights, dtype=np.int64)
    bounds = [0]
    while bounds[-1] < len(ends):
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        share = share_of(int(ends[-1]) - before)
        bounds.append(max(start + 1, int(np.searchsorted(ends, before + share, side="right"))))
    return np.array(bounds, np.int64)


def even_ranges(weights: np.ndarray, share: int) -> list[tuple[int, int]]:
    """Return the first item of each block that `cut_evenly` cuts, and the one behind its last."""
    return list(itertools.pairwise(cut_evenly(weights, share).tolist()))
