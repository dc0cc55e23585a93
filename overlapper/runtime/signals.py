"""How signals end a command.

What a signal does
------------------
SIGINT (Ctrl-C), SIGTERM and SIGHUP end a command at any moment: one line on stderr, exit code 128 + the
number of the signal (130, 143, 129), no temporary file left, no process left that the command started. A
signal that the caller had ignored (``nohup``, jobs in the background of a script) stays ignored.

How
---
Python would raise `KeyboardInterrupt` in the main thread, wherever that is: inside numba's C code, which
makes a `SystemError` of it, or in code that takes it for something else; and only once native code returns.
Then the interpreter would be taken down while other threads still run kernels, whose code it frees. So
nothing is raised here, and the main thread is not asked. Python's own handler, in C, writes the number of
a signal into a pipe at once, whatever any thread does. A thread that waits at the other end

1. takes the lock of `overlapper.runtime.cleanup`, for good: what is to be done undisturbed is finished
   first, and no other thread notes or renames a file any more,
2. puts the null device in the place of stderr, so that no thread tells of what it finds missing,
3. says the line, ends child processes and removes what is temporary
   (`overlapper.runtime.cleanup.leave_nothing`),
4. ends the process by ``_exit``, without taking down anything.

System calls go on after a signal (SA_RESTART), so libraries in C see nothing of it. A second signal changes
nothing. A command that comes to its end, or to an error, ends in the same way, by ``_exit`` under the lock,
after all others have had their turn at exit: threads that still compute do not crash it.

All this belongs to the process of a command. ``import overlapper`` installs nothing: in other programs
`KeyboardInterrupt` comes as ever.

This module imports only what takes hardly any time: before its handlers are there, Python answers signals.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading

from overlapper.runtime import cleanup

ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
_CLEAR_LINE = b"\r\x1b[K\x1b[?25h"  # and the cursor, which a bar hides
_WRITE_SECONDS = 1.0


def end_on_signals(*, quiet: bool = False) -> None:
    """End this process in good order when a signal comes; to be called by the main thread of a command.

    Parameters
    ----------
    quiet : bool
        Say nothing then.
    """
    cleanup.owns_process = True
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave_it_to_the_thread)
            signal.siginterrupt(number, False)
    # What came since waits in the pipe.
    threading.Thread(target=_wait_for_signal, args=(heard, quiet), daemon=True).start()


def _leave_it_to_the_thread(number: int, frame: object) -> None:
    """Do nothing: that there is a handler makes Python write to the pipe."""


def _wait_for_signal(heard: int, quiet: bool) -> None:
    number = os.read(heard, 1)[0]
    cleanup.hold()
    try:
        with contextlib.suppress(OSError):
            _say_the_last_word("" if quiet else _last_word())
        cleanup.leave_nothing()
    finally:
        os._exit(128 + number)


def _last_word() -> str:
    goes_on = "; the same command goes on where it stopped" if cleanup.is_resumable() else ""
    return f"overlapper: interrupted{goes_on}\n"


def _say_the_last_word(text: str) -> None:
    """Write the last line to stderr; whatever is written there later is dropped."""
    stderr = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    head = _CLEAR_LINE if text and os.isatty(stderr) else b""
    if select.select([], [stderr], [], _WRITE_SECONDS)[1]:  # a pipe that nobody reads may be full
        os.write(stderr, head + text.encode())
