"""Messages for lack of memory, of address space and of open files."""

from __future__ import annotations

import errno

from overlapper.errors import OutOfMemoryError

_LEAST_ADDRESS_SPACE = 1_500_000_000
_SIGNS = ("can't start new thread", "failed to map segment", "cannot allocate memory", "libllvmlite")
"""What the C library, Python and llvmlite say, in exceptions of several kinds, when memory is short."""


def lack_of_memory(error: BaseException) -> str:
    """Return the message for an error caused by lack of memory; nothing for other errors."""
    if not (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(sign in str(error) for sign in _SIGNS)
    ):
        return ""
    limit = _address_space()
    allowed = f": ulimit -v allows {limit / 1e6:,.0f} MB of address space" if limit else ""
    return (
        f"there is not enough memory{allowed}. Fewer --threads take less, and --memory, where a command has "
        "it, bounds what it takes"
    )


def lack_of_files(error: BaseException | None) -> str:
    """Return the message for an error caused by too many open files; nothing for other errors."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return (
                f"too many files are open at a time: ulimit -n allows {_open_files():,}. Raise it; fewer "
                "--threads or --workers, where a command has them, open fewer"
            )
        error = error.__cause__ or error.__context__
    return ""


def check_address_space() -> None:
    """Refuse to start where ulimit -v allows too little for libraries in C, which abort or hang then.

    Raises
    ------
    OutOfMemoryError
    """
    limit = _address_space()
    if 0 < limit < _LEAST_ADDRESS_SPACE:
        raise OutOfMemoryError(
            f"ulimit -v allows {limit / 1e6:,.0f} MB of address space, expected "
            f"{_LEAST_ADDRESS_SPACE / 1e6:,.0f} MB or more. Raise it; --memory, where a command has it, "
            "bounds the memory that is taken"
        )


def _address_space() -> int:
    """Return the limit on the address space of the process, in bytes; 0 where there is none."""
    try:
        import resource
    except ImportError:
        return 0
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return 0 if limit == resource.RLIM_INFINITY else limit


def _open_files() -> int:
    """Return how many files the process may have open."""
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
