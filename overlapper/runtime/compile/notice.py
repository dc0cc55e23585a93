"""Kernels that are compiled, which takes a while: a command tells so itself, the library in a log line."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator

from numba.core import event

SAID = (
    "overlapper compiles kernels for this machine. This happens once, and may take some minutes; "
    "'overlapper compile' compiles all of them beforehand"
)


class _Compiling(event.Listener):
    """Tells the name of each kernel that is compiled, and nothing ("") when it is done."""

    def __init__(self) -> None:
        self._tell: Callable[[str], None] | None = self._log_once

    def on_start(self, event: event.Event) -> None:
        if self._tell:
            self._tell(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        if self._tell:
            self._tell("")

    @contextlib.contextmanager
    def told_to(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Tell it to a command within this context, and nobody in its process afterwards."""
        self._tell = tell
        try:
            yield
        finally:
            self._tell = None

    def _log_once(self, kernel: str) -> None:
        self._tell = None
        logging.getLogger("overlapper").warning(SAID)


COMPILING = _Compiling()
event.register("numba:compile", COMPILING)
