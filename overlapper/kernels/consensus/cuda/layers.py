"""Layers of the pileups of a batch, unpacked from reads on the device; the twin of ../layers.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64, uint32

from overlapper.kernels.common.cuda.walks import MARGIN, DeviceReads
from overlapper.kernels.common.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.consensus.cuda.votes import Draft, Layers
from overlapper.kernels.consensus.layers import Rows, Settings, Windows
from overlapper.runtime.gpu.launch import kernel_of
from overlapper.runtime.gpu.memory import Arena

THREADS = 128
OWN = -1
"""Interval of the window that a target's own row has."""


class DeviceQualities(NamedTuple):
    """Phred qualities of reads in device memory, those of read ``i`` from ``offsets[i]`` on.

    Attributes
    ----------
    values : device array of uint8
    offsets : device array of int64, shape (n + 1,)
    """

    values: Any
    offsets: Any


class DeviceSequences(NamedTuple):
    """Reads in device memory, with their qualities."""

    reads: DeviceReads
    qualities: DeviceQualities


def bytes_of_qualities(qualities: Any) -> int:
    """Return the device memory that qualities take."""
    return qualities.values.nbytes + qualities.offsets.nbytes + MARGIN


def upload_qualities(qualities: Any, arena: Arena) -> DeviceQualities:
    """Copy qualities, arrays ``values`` and ``offsets`` on the host, to the device."""
    uploaded = DeviceQualities(arena.upload(qualities.values), arena.upload(qualities.offsets))
    arena.stream.synchronize()
    return uploaded


def gather_layers(
    targets: DeviceSequences,
    reads: DeviceSequences,
    windows: Windows,
    rows: Rows,
    settings: Settings,
    arena: Arena,
) -> tuple[Draft, Layers]:
    """Unpack all layers of windows, none of which has a path yet, and the first drafts.

    Parameters
    ----------
    targets, reads : DeviceSequences
    windows : Windows
    rows : Rows
    settings : Settings
    arena : Arena
    """
    n = len(windows.target)
    window_of_row = np.repeat(np.arange(n), np.diff(windows.first))
    # Behind the rows of a window comes its target.
    of_row, of_target = np.arange(len(rows.read)) + window_of_row, windows.first[1:] + np.arange(n)
    total = len(of_row) + n
    layer_first = np.append(windows.first[:-1] + np.arange(n), total).astype(np.int64)

    def merged(row_values: np.ndarray, target_values: Any, dtype: type) -> np.ndarray:
        both = np.empty(total, dtype)
        both[of_row], both[of_target] = row_values, target_values
        return both

    lengths = windows.end - windows.start
    t_start, t_end = merged(rows.t_start, OWN, np.int32), merged(rows.t_end, OWN, np.int32)
    size = merged(rows.r_end - rows.r_start, lengths, np.int64)
    path_rows = merged(rows.t_end - rows.t_start, lengths, np.int64) + 1
    first = np.concatenate([[0], np.cumsum(size)])
    layers = Layers(
        arena.upload(layer_first),
        arena.upload(merged(window_of_row, np.arange(n), np.int32)),
        arena.upload(t_start),
        arena.upload(t_end),
        arena.upload(merged(rows.reverse, False, np.uint8)),
        arena.upload(first),
        arena.array(int(first[-1]), np.uint8),
        arena.array(int(first[-1]), np.uint8),
        arena.zeros(total, np.int32),
        arena.zeros(total, np.int32),
        arena.upload(np.cumsum(path_rows) - path_rows - np.maximum(t_start, 0)),
        arena.zeros(total, np.uint8),
        arena.upload(merged(rows.agreeing, 0, np.int32)),
        arena.upload(merged(rows.differing, 0, np.int32)),
    )
    sequence = arena.upload(merged(rows.read, windows.target, np.int32))
    begin = arena.upload(merged(rows.r_start, windows.start, np.int64))
    for own, source in ((False, reads), (True, targets)):
        kernel_of(unpack).launch(
            total, THREADS, arena.stream,
            source.reads.words, source.reads.unknown, source.reads.word_offsets,
            *source.qualities, settings.weight, settings.most_weight,
            sequence, begin, layers.reverse, layers.t_start, own,
            layers.first, layers.bases, layers.weights,
        )  # fmt: skip
    target_first = arena.upload(np.concatenate([[0], np.cumsum(lengths)]))
    codes = arena.array(int(lengths.sum()), np.uint8)
    kernel_of(copy_targets).launch(
        n, THREADS, arena.stream, layers.layer_first, layers.first, layers.bases, target_first, codes
    )
    return Draft(target_first, codes), layers


@cuda.jit
def unpack(
    words, unknown, word_offsets, qualities, quality_offsets, plain_weight, most_weight,
    sequence, begin, reverse, t_start, own, first, bases, weights,
):  # fmt: skip
    """Unpack the bases and weights of layers, those of reads or those of targets; a block a layer.

    Parameters
    ----------
    words, unknown, word_offsets
        As in `DeviceReads`.
    qualities, quality_offsets
        As in `DeviceQualities`.
    plain_weight, most_weight : int
        Of a base without a quality, and of the best.
    sequence : device array of int32
        Of each layer.
    begin : device array of int64
        First base of its interval, on the forward strand.
    reverse, t_start, first
        As in `Layers`.
    own : bool
        Whether to unpack targets.
    bases, weights : device array of uint8
    """
    m = cuda.blockIdx.x
    if m >= len(sequence) or (t_start[m] == OWN) != own:
        return
    number, turned, to = sequence[m], reverse[m] != 0, first[m]
    length, word = first[m + 1] - to, word_offsets[number]
    quality, weighted = quality_offsets[number], quality_offsets[number + 1] > quality_offsets[number]
    for x in range(cuda.threadIdx.x, length, cuda.blockDim.x):
        position = begin[m] + (length - 1 - x if turned else int64(x))
        code = uint32(words[2 * word + (position >> 4)] >> uint32(2 * (position & 15))) & uint32(3)
        if turned:
            code = uint32(3) - code
        if (unknown[word + (position >> 5)] >> uint32(position & 31)) & uint32(1):
            code = uint32(READ_UNKNOWN)
        bases[to + x] = code
        weight = int64(plain_weight)
        if weighted:
            weight = min(max(int64(qualities[quality + position]), int64(1)), int64(most_weight))
        weights[to + x] = weight


@cuda.jit
def copy_targets(layer_first, first, bases, target_first, codes):
    """Copy the bases of targets to the first drafts; a block a window."""
    p = cuda.blockIdx.x
    if p >= len(target_first) - 1:
        return
    low, own = target_first[p], first[layer_first[p + 1] - 1]
    for x in range(cuda.threadIdx.x, target_first[p + 1] - low, cuda.blockDim.x):
        base = bases[own + x]
        codes[low + x] = TARGET_UNKNOWN if base == READ_UNKNOWN else base
