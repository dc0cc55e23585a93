"""Consensus of windows on GPUs, in batches that fit their memory.

The memory of a batch is estimated from the bases of its layers. A batch that does not fit is halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapper.correct.voting_rows import Chosen
from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Gpus, Qualities, Slot, qualities_of
from overlapper.kernels.common.read_subsets import take_ragged, take_reads
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.consensus.layers import Rows, Settings, Windows
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

if TYPE_CHECKING:
    from overlapper.kernels.consensus.cuda.layers import DeviceSequences

SHARE_FOR_WINDOWS = 0.5
"""Share of a slot's memory for windows; the rest is for matrices, and for reads that the GPU does not
hold."""


def correct_windows(
    gpus: Gpus, targets: Reads, reads: Reads, windows: Windows, rows: Rows, settings: Settings
) -> tuple[np.ndarray, ...]:
    """Find the consensus of windows on whichever GPU is free first.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads and their qualities.
    targets, reads : Reads
    windows : Windows
    rows : Rows
    settings : Settings

    Returns
    -------
    tuple of ndarray
        What `overlapper.kernels.consensus.consensus.correct_windows` returns.

    Raises
    ------
    DeviceError
        When there is too little memory for a single window.
    """
    from overlapper.kernels.consensus.cuda.consensus import bytes_of_windows

    sizes = bytes_of_windows(windows, rows, len(settings.thresholds) + 1)
    with gpus.slot() as slot, slot.working():
        return _joined(
            [
                _batch(slot, targets, reads, *_part(windows, rows, *batch), settings)
                for batch in even_ranges(sizes, int(SHARE_FOR_WINDOWS * slot.arena.free))
            ]
        )


def as_one(blocks: list[Chosen]) -> Chosen:
    """Concatenate blocks of windows with their rows."""
    number, windows, rows, crowded, elsewhere = zip(*blocks, strict=True)
    target, start, end = (np.concatenate(column) for column in zip(*(p[:3] for p in windows), strict=True))
    rows_of_each = np.concatenate([np.diff(p.first) for p in windows])
    before = offsets_of(np.array([len(block) for block in number]))
    left_out = [some + np.array([n, 0, 0]) for some, n in zip(elsewhere, before, strict=False)]
    return Chosen(
        np.concatenate(number),
        Windows(target, start, end, offsets_of(rows_of_each)),
        Rows(*(np.concatenate(column) for column in zip(*rows, strict=True))),
        np.concatenate(crowded),
        np.concatenate(left_out),
    )


def _batch(
    slot: Slot, targets: Reads, reads: Reads, windows: Windows, rows: Rows, settings: Settings
) -> tuple[np.ndarray, ...]:
    """Find the consensus of a batch, or of its halves if it does not fit."""
    from overlapper.kernels.consensus.cuda.consensus import correct_windows
    from overlapper.kernels.consensus.cuda.layers import DeviceSequences

    n = len(windows.target)
    try:
        with slot.working():
            on_device, numbers = _upload(slot, targets, windows.target)
            windows_there = windows._replace(target=numbers)
            if slot.reads is not None and slot.qualities is not None:
                there = DeviceSequences(slot.reads, slot.qualities)
                return correct_windows(on_device, there, windows_there, rows, settings, arena=slot.arena)
            there, numbers = _upload(slot, reads, rows.read)
            rows_there = rows._replace(read=numbers)
            return correct_windows(on_device, there, windows_there, rows_there, settings, arena=slot.arena)
    except DeviceError:
        if n == 1:
            raise
    halves = ((0, n // 2), (n // 2, n))
    return _joined([_batch(slot, targets, reads, *_part(windows, rows, *half), settings) for half in halves])


def _upload(slot: Slot, reads: Reads, chosen: np.ndarray) -> tuple[DeviceSequences, np.ndarray]:
    """Copy chosen reads to a slot's GPU; return them, and the numbers of ``chosen`` among them."""
    from overlapper.kernels.common.cuda.walks import upload_reads
    from overlapper.kernels.consensus.cuda.layers import DeviceSequences, upload_qualities

    unique, numbers = np.unique(chosen, return_inverse=True)
    qualities = qualities_of(reads)
    there = DeviceSequences(
        upload_reads(take_reads(PackedReads.of(reads), unique), slot.arena),
        upload_qualities(Qualities(*take_ragged(qualities.values, qualities.offsets, unique)), slot.arena),
    )
    return there, numbers


def _part(windows: Windows, rows: Rows, begin: int, end: int) -> tuple[Windows, Rows]:
    """Return windows ``[begin, end)`` and their rows."""
    first, last = int(windows.first[begin]), int(windows.first[end])
    some = Windows(
        windows.target[begin:end], windows.start[begin:end], windows.end[begin:end],
        windows.first[begin : end + 1] - first,
    )  # fmt: skip
    return some, Rows(*(column[first:last] for column in rows))


def _joined(parts: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Concatenate the consensus of batches."""
    if len(parts) == 1:
        return parts[0]
    lengths, *columns = (
        np.concatenate(values)
        for values in zip(*((np.diff(offsets), *rest) for offsets, *rest in parts), strict=True)
    )
    return offsets_of(lengths), *columns
