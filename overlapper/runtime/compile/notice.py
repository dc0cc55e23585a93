"""The first call of a library function may compile kernels, which takes a while: a log line says so."""

from __future__ import annotations

import logging

from numba.core import event

SAID = (
    "overlapper compiles kernels for this machine. This happens once, and may take some minutes; "
    "'overlapper compile' compiles all of them beforehand"
)


def leave_to_command() -> None:
    """Say nothing in this process: a command runs in it, which says itself when it compiles."""
    _FirstCompile.said = True


class _FirstCompile(event.Listener):
    said = False

    def on_start(self, event: event.Event) -> None:
        if not _FirstCompile.said:
            _FirstCompile.said = True
            logging.getLogger("overlapper").warning(SAID)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _FirstCompile())
