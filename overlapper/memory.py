"""How much main memory this process took, and how much there is for it."""

from __future__ import annotations

import os
import sys


def peak_memory() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Linux is asked for the peak of this program alone: `getrusage` would count what the process held before it
    became this program.
    """
    try:
        with open("/proc/self/status", "rb") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak


def free_memory() -> int:
    """Return about how many bytes programs may still take; where the system does not tell, all there are."""
    try:
        with open("/proc/meminfo", "rb") as table:
            return next(1024 * int(line.split()[1]) for line in table if line.startswith(b"MemAvailable:"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
