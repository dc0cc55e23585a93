"""GACT alignments of seeds on a CUDA device; the twin of ../gact.py.

Both compute the integers that docs/algorithms/gact.md defines. Here a thread works on an extension at a time
(`gact_path`), its tiles 32 rows at once (`gact_tile`), and both extensions of a seed are joined to one CIGAR
when all are done (`gact_runs`).
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import DeviceError
from overlapper.kernels.common.cuda.walks import DeviceReads, upload_seeds
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.gact.cuda import gact_layout
from overlapper.runtime.gpu import driver
from overlapper.runtime.gpu.launch import Kernel, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly

THREADS_AT_ONCE = 1024
"""Threads that a multiprocessor works on at a time."""
BITS = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
"""Bits of numbers for which there is a kernel; scores take the first that holds them."""
_LENGTHS = 1 << 12
"""Lengths of extensions that an order tells apart."""
_BYTES_EACH = 17 + 2 * (8 + 8 + 8 + 4) + 7 * 8 + 2 * 8 + 8
"""Device memory of a seed, of its two extensions, and of its alignment without operations and CIGAR."""


class Scheme(NamedTuple):
    """Scores, and what `GactParams` says besides; the same names."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    tile: int
    overlap: int
    min_identity: int
    give_up: int


class Extended(NamedTuple):
    """Alignments."""

    rows: np.ndarray
    """int64, shape (n, 7); query start and end, target start and end (on the query's strand), score, equal
    pairs, columns."""
    cigar: np.ndarray
    """uint32; runs along the query, in BAM's packing."""
    cigar_offsets: np.ndarray
    """int64, shape (n + 1,); where the runs of each alignment start."""
    tiles: int
    """Tiles that they took."""


def extend_seeds(reads: DeviceReads, seeds: Seeds, scheme: Scheme, arena: Arena) -> Extended:
    """Align every seed's reads, through the corner before its first base on the query's strand.

    Parameters
    ----------
    reads : DeviceReads
    seeds : Seeds
        In host memory, each within its reads.
    scheme : Scheme
        Within the limits of `GactParams`; no score may exceed 32 bits.
    arena : Arena
        Of the device that the reads are on; what it holds is kept.

    Returns
    -------
    Extended
        Does not depend on the device, nor on its memory.

    Raises
    ------
    DeviceError
        When the arena is too small even for one seed.
    """
    anchors = _anchors(seeds)
    q_steps, t_steps = _steps_of(reads.host.lengths, anchors)
    room_each = _room_each(scheme)
    slots = _slots(2 * len(seeds.query), room_each, arena.free)
    # No path has more columns than bases before it.
    columns = (q_steps + t_steps).reshape(-1, 2).sum(axis=1)
    bytes_each = _BYTES_EACH + columns // 4 + 8
    bounds = cut_evenly(bytes_each, arena.free - slots * room_each)
    mark, parts = arena.mark(), []
    for begin, end in itertools.pairwise(bounds.tolist()):
        parts.append(_extend_batch(reads, anchors, q_steps, t_steps, scheme, slots, begin, end, arena))
        arena.release(mark)
    return _concatenated(parts)


def _concatenated(parts: list[Extended]) -> Extended:
    if len(parts) == 1:
        return parts[0]
    runs = [np.diff(part.cigar_offsets) for part in parts]
    return Extended(
        np.concatenate([np.empty((0, 7), np.int64), *(part.rows for part in parts)]),
        np.concatenate([np.empty(0, np.uint32), *(part.cigar for part in parts)]),
        np.concatenate([[0], *runs]).cumsum(),
        sum(part.tiles for part in parts),
    )


def _anchors(seeds: Seeds) -> Seeds:
    """Return seeds of no length where alignments start: before a seed, as the query reads."""
    target_pos = np.where(seeds.reverse, seeds.target_pos + np.int32(seeds.length), seeds.target_pos)
    return seeds._replace(target_pos=target_pos.astype(np.int32), length=0)


def _steps_of(lengths: np.ndarray, anchors: Seeds) -> tuple[np.ndarray, np.ndarray]:
    """Return how many query and target bases each extension has before it, two for each anchor."""
    q_before, below = anchors.query_pos.astype(np.int64), anchors.target_pos.astype(np.int64)
    q_after, above = lengths[anchors.query] - q_before, lengths[anchors.target] - below
    t_before, t_after = np.where(anchors.reverse, above, below), np.where(anchors.reverse, below, above)
    return np.stack([q_before, q_after], axis=1).ravel(), np.stack([t_before, t_after], axis=1).ravel()


def _longest_first(steps: np.ndarray) -> np.ndarray:
    """Return extensions with the longest first, so that none is left alone at the end."""
    ranks = (_LENGTHS - 1) * (1 - steps / max(1, steps.max(initial=1)))
    return np.argsort(ranks.astype(np.uint16), kind="stable")


def _room_each(scheme: Scheme) -> int:
    """Return the bytes of device memory that a thread needs for its tile."""
    columns, borders, directions = _room_words(scheme)
    return 4 * columns + 4 * borders + 8 * directions


def _room_words(scheme: Scheme) -> tuple[int, int, int]:
    """Return the words a thread needs: 32-bit ones for columns and borders, 64-bit ones for directions."""
    affine = scheme.gap_open != 0
    blocks = (scheme.tile + 62) // 32
    planes = gact_layout.border_planes(_bits(scheme), affine)
    stripes, stored = gact_layout.stored_part(scheme.tile, scheme.tile - scheme.overlap, affine)
    steps = 32 * stripes * stored
    return (
        gact_layout.BASE_PLANES * blocks,
        planes * (blocks + 1),
        gact_layout.direction_words(affine) * steps,
    )


def kernel_of(scheme: Scheme) -> Kernel:
    """Return the kernel of extensions for these scores."""
    return named("gact.gact_path", "extension_kernel", _bits(scheme), scheme.gap_open != 0)


def _bits(scheme: Scheme) -> int:
    bits = gact_layout.tile_scores(*scheme[:4]).equal.bit_length()
    return next(width for width in BITS if width >= bits)


def _slots(extensions: int, room_each: int, available: int) -> int:
    """Return how many threads may work at once: half of the memory is left to what they work on.

    Raises
    ------
    DeviceError
        When there is not even memory for one.
    """
    blocks, threads = _launch_shape()
    slots = min(blocks * threads, extensions, available // 2 // room_each)
    if extensions and slots < 1:
        raise DeviceError(
            f"a tile takes {room_each / 1e6:.2f} MB of GPU memory, and {available / 2e6:.2f} MB are there. "
            "Use smaller tiles, more memory, or the CPU"
        )
    return slots if slots < 32 else slots // 32 * 32


def _launch_shape() -> tuple[int, int]:
    """Return blocks and threads that fill the device; those that find no work end at once."""
    threads = THREADS_AT_ONCE * driver.properties(driver.current()).multiprocessors
    return threads // gact_layout.THREADS, gact_layout.THREADS


def _extend_batch(
    reads: DeviceReads, anchors: Seeds, q_steps: np.ndarray, t_steps: np.ndarray, scheme: Scheme,
    slots: int, begin: int, end: int, arena: Arena,
) -> Extended:  # fmt: skip
    rows, sides = slice(begin, end), slice(2 * begin, 2 * end)
    some = Seeds(
        anchors.query[rows], anchors.target[rows], anchors.reverse[rows],
        anchors.query_pos[rows], anchors.target_pos[rows], 0,
    )  # fmt: skip
    on_device = upload_seeds(some, arena)
    bases = q_steps[sides] + t_steps[sides]
    words = (bases + gact_layout.OPERATIONS - 1) // gact_layout.OPERATIONS
    path_offsets = arena.upload(np.cumsum(words) - words)
    items = _longest_first(np.minimum(q_steps[sides], t_steps[sides]))
    paths = arena.array(int(words.sum()), np.uint32)
    kept, tiles = arena.zeros(len(items), np.int64), arena.zeros(len(items), np.int32)
    mark = arena.mark()
    arguments = arguments_of(reads, on_device, scheme, slots, items, paths, path_offsets, kept, tiles, arena)
    kernel_of(scheme).launch(*_launch_shape(), arena.stream, *arguments)
    taken = int(arena.download(tiles).sum())
    arena.release(mark)
    return _joined(reads, on_device, scheme, end - begin, paths, path_offsets, kept, taken, arena)


def arguments_of(
    reads: DeviceReads, anchors: Seeds, scheme: Scheme, slots: int, items: np.ndarray,
    paths: Any, path_offsets: Any, kept: Any, tiles: Any, arena: Arena,
) -> tuple:  # fmt: skip
    """Return what the kernel of extensions takes."""
    step = scheme.tile - scheme.overlap
    stored_blocks = gact_layout.stored_part(scheme.tile, step, scheme.gap_open != 0)[1]
    lanes = min(slots, 32)
    columns, borders, directions = _room_words(scheme)
    return (
        reads.columns, anchors, arena.upload(items),
        gact_layout.TileScores._make(map(np.uint32, gact_layout.tile_scores(*scheme[:4]))),
        np.int32(scheme.tile), np.int32(step),
        np.int64(100 - scheme.min_identity), np.int64(scheme.min_identity), np.int64(scheme.give_up),
        np.uint32(stored_blocks), np.uint32(lanes), arena.zeros(1, np.int32),
        arena.array((slots // lanes, columns * lanes), np.uint32),
        arena.array((slots // lanes, borders * lanes), np.uint32),
        arena.array((slots // lanes, directions * lanes), np.uint64),
        paths, path_offsets, kept, tiles,
    )  # fmt: skip


def _joined(
    reads: DeviceReads, anchors: Seeds, scheme: Scheme, count: int, paths: Any, path_offsets: Any, kept: Any,
    tiles: int, arena: Arena,
) -> Extended:  # fmt: skip
    rows, columns = arena.array((count, 7), np.int64), arena.array((count, 2), np.int64)
    runs = arena.array(count, np.int64)
    named("gact.gact_runs", "measure").launch(
        *_launch_shape(), arena.stream,
        paths, path_offsets, kept, anchors, reads.lengths, *(np.int64(score) for score in scheme[:4]),
        rows, columns, runs,
    )  # fmt: skip
    cigar_offsets = np.concatenate([[0], arena.download(runs).cumsum()])
    cigar = np.empty(cigar_offsets[-1], np.uint32)
    mark = arena.mark()
    bounds = cut_evenly(4 * np.diff(cigar_offsets) + 8, arena.free)
    for begin, end in itertools.pairwise(bounds.tolist()):
        here = cigar[cigar_offsets[begin] : cigar_offsets[end]]
        there = arena.array(len(here), np.uint32)
        starts = arena.upload(cigar_offsets[begin:end] - cigar_offsets[begin])
        sides = slice(2 * begin, 2 * end)
        named("gact.gact_runs", "write_runs").launch(
            *_launch_shape(), arena.stream,
            paths, path_offsets[sides], kept[sides], columns[begin:end], starts, there,
        )  # fmt: skip
        arena.download_to(here, there)
        arena.release(mark)
    return Extended(arena.download(rows), cigar, cigar_offsets, tiles)
