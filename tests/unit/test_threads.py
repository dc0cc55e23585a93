"""Threads: results in order, blocks by weight."""

import gc
import itertools
import os
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapper.runtime.threads import (
    BackgroundCalls,
    cut_evenly,
    cut_falling,
    map_in_order,
    share_of_block,
)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("tasks", [0, 1, 30])
def test_results_come_in_order(threads, tasks):
    def work(task):
        time.sleep(0.002 * (task % 3))
        return task * task

    assert list(map_in_order(work, range(tasks), threads)) == [task * task for task in range(tasks)]


@pytest.mark.parametrize("threads", [1, 3])
def test_few_tasks_run_ahead_of_the_reader(threads):
    begun = itertools.count()
    results = map_in_order(lambda task: next(begun), range(100), threads)
    next(results)
    time.sleep(0.05)
    assert next(begun) <= 2 * threads + 1
    assert len(list(results)) == 99


@pytest.mark.parametrize("threads", [1, 3])
def test_no_more_calls_at_a_time_than_threads(threads):
    running, most, lock = 0, 0, threading.Lock()

    def work(task):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1

    list(map_in_order(work, range(30), threads))
    assert most <= threads


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_come_through(threads):
    def work(task):
        if task == 5:
            raise KeyError("five")
        return task

    results = map_in_order(work, range(10), threads)
    with pytest.raises(KeyError, match="five"):
        list(results)


def call_at_once(calls):
    """Call a function from so many threads at a time."""
    together = threading.Barrier(calls)
    list(map_in_order(lambda _: together.wait(10), range(calls), calls))
    time.sleep(0.05)  # until the threads wait again


def test_threads_are_used_again():
    call_at_once(4)
    before = set(threading.enumerate())
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda task: 1 // task, range(10), 3))
    call_at_once(4)
    call_at_once(2)
    assert set(threading.enumerate()) == before


def test_calls_within_calls_have_threads_of_their_own():
    list(map_in_order(lambda _: call_at_once(3), range(3), 3))


def test_results_are_not_kept():
    class Result:
        pass

    results = map_in_order(lambda _: Result(), range(2), 2)
    kept = weakref.ref(next(results))
    time.sleep(0.05)  # until the threads wait for more tasks
    gc.collect()
    assert kept() is None
    results.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_child_process_has_threads_of_its_own():
    call_at_once(3)
    child = os.fork()
    if not child:
        call_at_once(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_call_begins_after_an_interrupt():
    begun = []

    def work(task):
        begun.append(task)
        time.sleep(0.1)
        if task == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(map_in_order(work, range(100), 2))
    assert len(begun) <= 4, "of five that were submitted, those that ran, and what their threads took next"


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 60))
def test_blocks_are_as_long_as_their_share_allows(weights, share):
    bounds = cut_evenly(np.array(weights, np.int64), share)
    expected, start = [0], 0
    while start < len(weights):
        stop = start + 1
        while stop < len(weights) and sum(weights[start : stop + 1]) <= share:
            stop += 1
        expected.append(stop)
        start = stop
    assert bounds.tolist() == expected
    assert bounds.dtype == np.int64


@pytest.mark.parametrize(("total", "share"), [(0, 1), (7, 1), (80, 10), (799, 99), (10**6, 100)])
def test_little_work_is_shared_by_all_threads(total, share):
    assert share_of_block(total, 100, threads=2) == share


@pytest.mark.parametrize(("n", "share", "threads"), [(0, 10, 2), (1, 10, 2), (100, 16, 2), (1000, 40, 7)])
def test_falling_blocks_end_small(n, share, threads):
    bounds = cut_falling(np.ones(n, np.int64), share, threads)
    sizes = np.diff(bounds)
    assert (bounds[0], bounds[-1]) == (0, n)
    assert (sizes > 0).all() and (np.diff(sizes[:-1]) <= 0).all()
    if n >= 100:
        assert sizes[0] == share
        assert sizes[-2] == share // 8
        assert all(
            size <= max(share // 8, (n - start) // (2 * threads))
            for start, size in zip(bounds, sizes, strict=False)
        )


def test_weights_may_pass_32_bits():
    weights = np.full(5, 2**31 - 1, np.int32)
    assert cut_evenly(weights, 2**32).tolist() == [0, 2, 4, 5]


def test_calls_behind_come_one_after_the_other_and_are_over_in_the_end():
    order = []

    def call(number):
        order.append(("begin", number, threading.get_ident() == here))
        time.sleep(0.01)
        order.append(("end", number, threading.get_ident() == here))

    here = threading.get_ident()
    with BackgroundCalls() as behind:
        for number in range(3):
            behind.call(partial(call, number))
    assert order == [(what, number, False) for number in range(3) for what in ("begin", "end")]


def test_an_error_behind_is_raised_once_by_what_follows():
    def fail():
        raise KeyError("behind")

    done = []
    behind = BackgroundCalls()
    behind.call(fail)
    with pytest.raises(KeyError, match="behind"):
        behind.call(lambda: done.append(1))
    behind.call(lambda: done.append(2))
    behind.wait()
    assert done == [2]
    with pytest.raises(KeyError, match="behind"), BackgroundCalls() as behind:
        behind.call(fail)
