"""Minimizers of packed reads on a CUDA device; the twin of ../minimizers.py, which defines them.

A thread hashes the k-mer at a base, and another one decides whether it is a minimizer: it is when the stretch
around it in which no hash is smaller has a whole window, and the thread looks no farther than that takes.
Bases are numbered through the words of all reads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.tables.reads import BASES_PER_WORD

BYTES_OF_BASE = 12
"""Device memory of a base of `find_minimizers`."""
THREADS = 128
_kernel = partial(named, "seeds.minimizer_kernels")


def read_of_words(reads: DeviceReads, arena: Arena) -> Any:
    """Return the read that each word belongs to (device array of int32)."""
    found = arena.array(len(reads.words) // 2, np.int32)
    _kernel("mark_reads").launch(1024, THREADS, arena.stream, reads.word_offsets, found)
    return found


def find_minimizers(
    reads: DeviceReads, owners: Any, first_word: int, words: int, k: int, w: int, arena: Arena
) -> tuple[Any, Any]:
    """Find the minimizers of whole reads that follow each other.

    Parameters
    ----------
    reads : DeviceReads
    owners : device array of int32
        What `read_of_words` returns.
    first_word, words : int
        Words of the reads.
    k, w : int
    arena : Arena

    Returns
    -------
    hashes : device array of uint64, shape (bases,)
        Of the k-mer that starts at each base, ``hash << 1 | strand``; all bits are set where there is none.
    flags : device array of int32, shape (bases,)
        1 for minimizers, else 0.
    """
    bases = words * BASES_PER_WORD
    hashes, flags = arena.array(bases, np.uint64), arena.array(bases, np.int32)
    place = reads.word_offsets, reads.lengths, owners, first_word
    launch(_kernel("hash_kmers"), bases, arena, reads.words.view(np.uint64), reads.unknown, *place, k, hashes)
    launch(_kernel("flag_minimizers"), bases, arena, hashes, *place, k, w, flags)
    return hashes, flags
