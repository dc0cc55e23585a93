r"""Lines of text, names and whole numbers, as all readers of text take them.

- A line ends at a line feed alone, ``\n``, or with a carriage return before it; no other character ends one.
- A line is UTF-8 and holds no control characters but tabs.
- A name is one character or more, none of them blank or a control character. It is kept as it is, byte for
  byte: names that look alike may differ.
- A whole number is decimal digits and nothing else.

`overlapper.kernels.text.packing` and `paf_parsing` keep to the same, where time matters.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable

from overlapper.errors import MOST, FormatError, shortened
from overlapper.io.sources import line_blocks

LONGEST = MOST
"""Most bases of a sequence: positions are 32-bit."""
_CONTROL = re.compile(rb"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_NO_NAME = re.compile(r"[\0- \x7f]")
_DIGITS = re.compile(r"[0-9]{1,18}")
_REPAIR = "Repair the line or leave it out."


def text_lines(path: str) -> Generator[str]:
    """Yield the lines of a file, plain or gzip, without their ends; ``-`` is standard input.

    Who may stop before the last line closes it (`contextlib.closing`), and with it the file.
    """
    return lines_of(line_blocks(path), path)


def lines_of(blocks: Iterable[bytes], path: str) -> Generator[str]:
    """Yield the lines of blocks of whole lines, without their ends.

    Parameters
    ----------
    blocks : iterable of bytes
        Every line with its line feed.
    path : str
        What errors call the file.

    Raises
    ------
    FormatError
        When a line is not UTF-8, or has control characters.
    """
    before = 0
    for block in blocks:
        try:
            if _CONTROL.search(block):
                raise ValueError
            lines = block.decode().replace("\r\n", "\n").split("\n")[:-1]
        except ValueError:
            raise _first_fault(block, path, before) from None
        before += len(lines)
        yield from lines


def _first_fault(block: bytes, path: str, before: int) -> FormatError:
    """Return the error of the first line that is no text, of which there is one."""
    for number, line in enumerate(block.split(b"\n"), before + 1):
        found = _CONTROL.search(line + b"\n")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            problem = f"has byte {line[error.start]} in place {error.start + 1}, which is not UTF-8 text"
        else:
            if not found:
                continue
            problem = f"has byte {found.group()[0]} in place {found.start() + 1}, a control character"
        return FormatError(problem, file=path, record=f"on line {number}", remedy=_REPAIR)
    raise AssertionError("no bad line found")


def name_problem(name: str) -> str:
    """Return what is wrong with a name; nothing where it is one."""
    if not name:
        return "has no name"
    if _NO_NAME.search(name):
        return f"has the name {shortened(name)}, but names have neither blanks nor control characters"
    return ""


def whole(text: str, most: int = LONGEST) -> int | None:
    """Return the number that a text is, or None where it is no whole number from 0 to ``most``."""
    if not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    return number if number <= most else None
