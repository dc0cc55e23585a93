"""The bar of a run's progress on a terminal; rich is loaded with this module alone."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text


class _Times(ProgressColumn):
    """How long a step has taken, and, once that can be told, how long it will take."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        told = "" if left is None or task.finished else f", {_clock(left)} left"
        return Text(f"{_clock(task.elapsed or 0.0)}{told}")


def open_bar(stream: TextIO, description: str) -> Progress:
    """Return a bar with one task, number 0, started."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        _Times(Column(no_wrap=True)),
        TextColumn("{task.fields[compiling]}", markup=False),
        console=Console(file=stream, highlight=False),
        transient=True, redirect_stdout=False, redirect_stderr=False, refresh_per_second=4,
    )  # fmt: skip
    bar.add_task(description, total=None, compiling="")
    bar.start()
    return bar


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
