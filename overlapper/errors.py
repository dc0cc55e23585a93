"""The exceptions of overlapper.

::

    OverlapperError                 anything a user can mend; the command line prints it and exits 1
    ├── InputError                  a file or record is not what it should be
    │   ├── FormatError             a record breaks its format
    │   ├── TruncatedError          the file ends in the middle of something
    │   ├── DuplicateNameError      two reads share a name
    │   └── EmptyInputError         nothing to work on
    ├── ParameterError              a parameter is out of range or contradicts another
    ├── EmptyResultError            the result is complete, and there is nothing in it
    ├── OutputError                 a result cannot be written (full disk, no permission)
    ├── OutOfMemoryError            the machine has less memory than the work takes
    ├── DeviceError                 the device asked for is missing or failed
    └── MissingExtraError           an optional package is not installed

Every message says what was found, what was expected and what to do about it.
"""

from __future__ import annotations

MOST = 2**31 - 1
"""Largest number that parameters and positions may be."""


class OverlapperError(Exception):
    """Base of all errors that the user can do something about."""


class InputError(OverlapperError):
    """A file or a record in it is not what it should be.

    Parameters
    ----------
    problem : str
        What was found and what was expected.
    file : str, optional
        The file it was found in; ``-`` is standard input.
    record : str, optional
        The record, by name or by number.
    remedy : str, optional
        What the user can do.
    """

    def __init__(
        self, problem: str, *, file: str | None = None, record: str | None = None, remedy: str | None = None
    ) -> None:
        self.problem, self.file, self.record, self.remedy = problem, file, record, remedy
        where = ", ".join(part for part in (file and f"file {file}", record and f"record {record}") if part)
        message = f"{where}: {problem}" if where else problem
        super().__init__(f"{message}. {remedy}" if remedy else message)


class FormatError(InputError):
    """A record breaks its format."""


class TruncatedError(InputError):
    """The file ends in the middle of a record or of a compressed block."""


class DuplicateNameError(InputError):
    """Two reads share a name."""


class EmptyInputError(InputError):
    """There is nothing to work on."""


class ParameterError(OverlapperError, ValueError):
    """A parameter is out of range or contradicts another one."""


class EmptyResultError(OverlapperError):
    """The result is complete, and there is nothing in it."""


class OutputError(OverlapperError):
    """A result cannot be written."""


class OutOfMemoryError(OverlapperError, MemoryError):
    """The machine has less memory than the work takes."""


class DeviceError(OverlapperError):
    """The device that was asked for is missing or failed."""


class MissingExtraError(OverlapperError, ImportError):
    """An optional package is not installed.

    Parameters
    ----------
    package : str
        The package that could not be imported, one of `EXTRAS`.
    purpose : str
        What it is needed for.
    """

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed. "
            f"Run: pip install '{EXTRAS[package]}'"
        )


EXTRAS = {
    "numba-cuda": "numba-cuda[cu13]>=0.30,<0.31",
    "distributed": "distributed>=2024.8",
    "cryptography": "cryptography>=42",
    "pyarrow": "pyarrow>=16",
    "pandas": "pandas>=2.2",
    "polars": "polars>=1",
    "backports.zstd": "backports.zstd>=1",
}
"""What pip is to install of each optional package; it finds these wherever overlapper itself came from."""


def shortened(value: object, most: int = 60) -> str:
    """Return a value as messages show it, the middle of a long one left out.

    Examples
    --------
    >>> shortened("1" * 400)
    "'11111111111111111111111111111 ... 11111111111111'"
    """
    try:
        said = repr(value)
    except (ValueError, RecursionError):  # of more digits than Python writes, or nested without end
        return f"a {type(value).__name__} too large to show"
    return said if len(said) <= most else f"{said[: most // 2]} ... {said[-most // 4 :]}"


def require(condition: bool, name: str, value: object, expected: str) -> None:
    """Raise a `ParameterError` that names a parameter, unless its value fits.

    Whole numbers must be within 32 bits, too, as kernels take them.

    Parameters
    ----------
    condition : bool
        Whether the value fits.
    name : str
    value : object
    expected : str
        What fits, in words: ``1 or more``.

    Raises
    ------
    ParameterError
    """
    if not condition:
        said = value if isinstance(value, str) else shortened(value)
        raise ParameterError(f"{name} is {said}, expected {expected}")
    if isinstance(value, int) and abs(value) > MOST:
        raise ParameterError(f"{name} is {shortened(value)}, expected {expected}, but at most {MOST}")
