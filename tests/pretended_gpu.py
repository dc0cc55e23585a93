"""A GPU that is none: its memory is that of the host, its streams do all at once, it has no kernels."""

import ctypes

import numpy as np

from overlapper.runtime.gpu import driver


class Arena:
    """An arena of which only the budget counts.

    Attributes
    ----------
    free : int
        Bytes that it says are left.
    released : list of int
        The marks that were given back.
    """

    MARK = 7

    def __init__(self, free):
        self.free, self.released = free, []

    def mark(self):
        return self.MARK

    def release(self, mark):
        self.released.append(mark)


class Block:
    """Memory of the host."""

    def __init__(self, size):
        self._bytes = np.full(size, 0xA5, np.uint8)
        self.address, self.size = self._bytes.ctypes.data, size


class Stream:
    """Does everything at once."""

    def synchronize(self):
        pass

    def write(self, address, host):
        ctypes.memmove(address, host.ctypes.data, host.nbytes)

    def read(self, host, address):
        ctypes.memmove(host.ctypes.data, address, host.nbytes)

    def fill(self, address, size, byte):
        ctypes.memset(address, byte, size)


class Event:
    """A moment that has passed."""

    def __init__(self, stream):
        pass

    def wait(self):
        pass


def pretend(monkeypatch):
    """Replace the driver by one that needs no GPU."""
    monkeypatch.setattr(driver, "current", lambda: 0)
    monkeypatch.setattr(driver, "properties", lambda number: driver.Properties("none", (9, 0), 1 << 30, 4))
    monkeypatch.setattr(driver, "Block", Block)
    monkeypatch.setattr(driver, "Stream", Stream)
    monkeypatch.setattr(driver, "Event", Event)
    monkeypatch.setattr(driver, "pinned_array", lambda size: np.zeros(size, np.uint8))
