"""The known bases of sequences as kernels read them, and slices of hashes that fit a given memory."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.errors import ParameterError
from overlapper.index.segments import Segments
from overlapper.kernels.seeds import kmer_table
from overlapper.kernels.seeds.kmer_table import Spans
from overlapper.runtime.memory import all_memory
from overlapper.runtime.threads import cut_evenly, even_ranges, map_in_order
from overlapper.sketch.read_parts import cut_out
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of

PROGRAM = 250 << 20
"""Bytes that the program itself takes, with its kernels."""
A_KMER = 24
"""Bytes of a table for each k-mer: rows of 16, of which two of three hold one."""
LEAST = 64 << 20
"""Bytes that tables are given at least."""
_BIN_BITS = 12
_COUNTED_BASES = 1 << 22


@dataclasses.dataclass(frozen=True)
class Slicing:
    """Slices of the hashes of k-mers."""

    shift: int
    """The bin of a hash is ``hash >> shift``."""
    bounds: np.ndarray
    """int64, shape (slices + 1,); bins at which slices start."""
    rows: np.ndarray
    """int64, shape (slices,); rows of the table of each."""

    def __len__(self) -> int:
        return len(self.rows)

    def hashes(self, number: int) -> tuple[np.uint64, np.uint64]:
        """Return the hashes of a slice, half open."""
        low, high = (int(self.bounds[i]) << self.shift for i in (number, number + 1))
        return np.uint64(low), np.uint64(high)

    @property
    def of_bin(self) -> np.ndarray:
        """The slice of each bin (int64)."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))


def spans_of(sequences: Reads) -> Spans:
    """Return the known bases of sequences; bases of each are numbered from 0."""
    known = Segments.of(sequences)
    first_word, stop = sequences.word_offsets[known.reads], known.starts + known.lengths
    return Spans(sequences.words, first_word, known.starts, stop, known.starts, known.reads)


def reference_spans(sequences: Reads, circular: np.ndarray, k: int) -> Spans:
    """Return the known bases of the sequences of a reference, numbered through.

    Of a circle, what lies around its origin comes once more, so that it holds the k-mers across it, too.
    """
    starts = offsets_of(sequences.lengths)
    plain = spans_of(sequences)
    spans = [plain._replace(place=plain.place + starts[plain.sequence])]
    words = [sequences.words]
    circles = np.flatnonzero(circular & (sequences.lengths >= k))
    for number in circles.tolist():
        end = int(sequences.lengths[number])
        first = np.array([end - (k - 1), 0])
        ends = cut_out(sequences, np.full(2, number), first, first + k - 1)
        seam = Reads.from_sequences([""], [ends.sequence(0) + ends.sequence(1)])
        around = spans_of(seam)
        spans.append(
            around._replace(
                first_word=around.first_word + sum(map(len, words)),
                place=around.place + starts[number] + first[0],
                sequence=np.full(len(around.sequence), number),
            )
        )
        words.append(seam.words)
    columns = [np.concatenate([getattr(part, name) for part in spans]) for name in Spans._fields[1:]]
    return Spans(np.concatenate(words) if len(circles) else words[0], *columns)


def plan_slices(spans: Spans, k: int, kept: np.uint64, memory: int, threads: int) -> Slicing:
    """Cut the hashes of the k-mers of a reference into slices, so that the tables of threads fit a memory.

    Parameters
    ----------
    kept : uint64
        As `overlapper.kernels.seeds.counting.canonical_kmers` takes it.
    memory : int
        Bytes for the tables of all threads.
    """
    bits = min(_BIN_BITS, 2 * k)
    shift = 2 * k - bits
    blocks = even_ranges(spans.stop - spans.start, _COUNTED_BASES)

    def count(block: tuple[int, int]) -> np.ndarray:
        counts = np.zeros(1 << bits, np.int64)
        kmer_table.count_bins(spans, *block, k, kept, np.uint64(shift), counts)
        return counts

    counts = np.zeros(1 << bits, np.int64)
    for counted in map_in_order(count, blocks, threads):
        counts += counted
    share = min(memory // (A_KMER * threads), -(-int(counts.sum()) // threads))
    bounds = cut_evenly(counts, max(1, share))
    return Slicing(shift, bounds, np.add.reduceat(counts, bounds[:-1]) * 3 // 2 + 2)


def memory_for_tables(memory: int, held: int) -> int:
    """Return the bytes that are left for tables.

    Parameters
    ----------
    memory : int
        Bytes to stay within; 0 is half of the machine's memory.
    held : int
        Bytes that all else takes, besides the program.

    Raises
    ------
    ParameterError
        When they are too few.
    """
    left = (memory or all_memory() // 2) - PROGRAM - held
    if left < LEAST:
        needed = PROGRAM + held + LEAST
        raise ParameterError(
            f"memory is {memory or all_memory() // 2:,} bytes, expected {needed:,} or more for sequences "
            "as long as these"
        )
    return left
