"""Walks along packed reads in device memory; the twin of ../walks.py.

Reads lie in device memory as they do in `Reads`, words cut in halves of 16 bases, and beside them one bit a
base that tells the unknown ones. An extension is (read, position, strand) twice; its bases are cut out of the
reads 16 at a time, when it gets there (`walk_bases`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.runtime.gpu.launch import named
from overlapper.runtime.gpu.memory import Arena

MARGIN = 1 << 15
"""Bytes that the arrays of reads may take beyond their items."""


class DeviceColumns(NamedTuple):
    """The columns of `DeviceReads`, as kernels take them."""

    words: Any
    unknown: Any
    word_offsets: Any
    lengths: Any


class DeviceReads(NamedTuple):
    """Reads in device memory."""

    host: PackedReads
    """The same reads, where they came from."""
    words: Any
    """Device array of uint32; bases packed two bits each, 16 to a word; each read starts on an even word."""
    unknown: Any
    """Device array of uint32; one bit a base, 32 to a word, set where the base is not ACGT."""
    word_offsets: Any
    """Device array of int64, shape (n + 1,); where reads start, in words of 32 bases."""
    lengths: Any
    """device array of int64, shape (n,)."""

    @property
    def columns(self) -> DeviceColumns:
        """What kernels take."""
        return DeviceColumns._make(self[1:])


def bytes_of_reads(words: int, reads: int, runs: int) -> int:
    """Return the device memory of packed reads, by their words, number and runs of unknown bases."""
    return 12 * words + 24 * reads + 8 * runs + MARGIN


def upload_reads(reads: PackedReads, arena: Arena) -> DeviceReads:
    """Copy reads to the device; the bits of unknown bases are set there.

    Parameters
    ----------
    reads : PackedReads
    arena : Arena
        Where to.

    Raises
    ------
    DeviceError
        When they do not fit it.
    """
    device = DeviceReads(
        reads,
        arena.upload(reads.words.view(np.uint32)),
        arena.zeros(len(reads.words), np.uint32),
        arena.upload(reads.word_offsets),
        arena.upload(reads.lengths),
    )
    if len(reads.unknown_start):
        runs = [
            arena.upload(runs) for runs in (reads.unknown_start, reads.unknown_end, reads.unknown_offsets)
        ]
        named("common.walk_bases", "mark_unknown").launch(
            1024, 128, arena.stream, *runs, device.word_offsets, device.unknown
        )
    arena.stream.synchronize()
    return device


def upload_seeds(seeds: Seeds, arena: Arena) -> Seeds:
    """Copy seeds to the device."""
    return Seeds._make([*(arena.upload(column) for column in seeds[:-1]), seeds.length])
