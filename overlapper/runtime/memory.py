"""The main memory that processes have taken, that the machine has, and that a budget leaves."""

from __future__ import annotations

import os
import sys

from overlapper.errors import ParameterError


def peak_memory() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Linux is asked for the peak of this program alone: `getrusage` would count what the process held before it
    became this program.
    """
    peak = _told("/proc/self/status", b"VmHWM:")
    if peak is not None:
        return peak
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def peak_of_largest_process() -> int:
    """Return the largest resident memory, in bytes, of this process so far, or of one that it waited for."""
    import resource

    of_children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(peak_memory(), of_children if sys.platform == "darwin" else 1024 * of_children)


def free_memory() -> int:
    """Return about how many bytes programs may still take; where the system does not tell, all there are."""
    free = _told("/proc/meminfo", b"MemAvailable:")
    return all_memory() if free is None else free


def all_memory() -> int:
    """Return the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_room(needed: int, room: int | None, what: str) -> None:
    """Raise a `ParameterError` if ``what`` needs more bytes than the memory budget leaves."""
    if room is not None and needed > room:
        missing = -(-(needed - room) // 10**6)
        raise ParameterError(
            f"the memory budget is too small: {what} take {needed / 1e6:,.1f} MB, and "
            f"{max(0, room) / 1e6:,.1f} MB are left for them; expected {missing} MB more"
        )


def _told(table: str, label: bytes) -> int | None:
    """Return the bytes that a line of a table of the Linux kernel tells; None where there is none."""
    try:
        with open(table, "rb") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith(label))
    except (OSError, StopIteration):
        return None
