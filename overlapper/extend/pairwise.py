"""Plain pairwise alignment in batches: local, global, semi-global; scores, ends, starts, CIGARs.

docs/algorithms/pairwise.md has the definition. `align` takes a batch and waits for it; an `Aligner` takes
many and works on them while the caller goes on.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Self

import numpy as np

from overlapper.errors import ParameterError, shortened
from overlapper.extend.pairwise_gpu import GpuPairs, joined
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.pairwise import pairwise as cpu
from overlapper.params.scoring import Scoring
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.threads import available_threads, even_ranges
from overlapper.tables import Alignments, Pairs, Reads

MODES = ("local", "global", "semi-global")
ENDS = ("query-start", "query-end", "target-start", "target-end")
"""Ends that semi-global alignment may leave free, in the order of the kernels' bits."""
REPORTS = ("end", "start", "cigar")
"""Each of them includes those before it."""

_BLOCK_CELLS = 1 << 26
"""Cells of a block of pairs: about ten milliseconds."""
_PAIR_CELLS = 1 << 13
"""What a pair costs besides its cells, in cells."""
_WIDEST_BAND = 1_000_000_000


@dataclasses.dataclass(frozen=True)
class Batch:
    """Pairs of sequences to align."""

    queries: Reads
    targets: Reads
    pairs: Pairs
    """Numbers of queries and targets."""

    def __post_init__(self) -> None:
        for name, reads in (("query", self.queries), ("target", self.targets)):
            number = getattr(self.pairs, name)
            # As unsigned numbers, those below 0 are the highest.
            if len(number) and number.view(np.uint32).max() >= len(reads):
                wrong = np.flatnonzero((number < 0) | (number >= len(reads)))
                raise ParameterError(
                    f"pair {wrong[0]}: {name} is {number[wrong[0]]}, expected 0 to {len(reads) - 1}"
                )
            flags = getattr(self.pairs, f"{name[0]}_flags")
            if len(flags) and flags.max() > 3:
                raise ParameterError(f"{name[0]}_flags holds {flags.max()}, expected 0 to 3")


class Aligner:
    """Aligns batches of pairs in the background; a context manager.

    Parameters
    ----------
    mode : str
        ``local``, ``global`` or ``semi-global``.
    scoring : Scoring, optional
    free : collection of str, optional
        Which of `ENDS` are free in semi-global alignment; all by default.
    report : str
        ``end``: score and end; ``start``: the start, too; ``cigar``: the alignment, too.
    band : int, optional
        Diagonals on either side that paths may use; all by default.
    device : str
        ``cpu``, or a GPU: ``cuda:0``.
    threads : int, optional
        Of the CPU, all by default; no result depends on it. With a GPU they pack and collect, at most 16.

    Raises
    ------
    ParameterError
        When an argument is none of the above.

    Examples
    --------
    >>> from overlapper import Aligner, Reads
    >>> from overlapper.extend.pairwise import Batch
    >>> from overlapper.tables import Pairs
    >>> reads = Reads.from_sequences(["a", "b"], ["ACGTACGT", "ACGTTACGT"])
    >>> with Aligner("global", report="cigar") as aligner:
    ...     future = aligner.submit(Batch(reads, reads, Pairs.numbered([0], [1])))
    ...     alignments = future.result()
    >>> alignments.score, alignments.cigar_text(0)
    (array([1], dtype=int32), '3=1D5=')
    """

    def __init__(
        self,
        mode: str = "global",
        scoring: Scoring | None = None,
        *,
        free: Collection[str] | None = None,
        report: str = "cigar",
        band: int | None = None,
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        scoring = scoring or Scoring()
        _check_one_of("mode", mode, MODES)
        _check_one_of("report", report, REPORTS)
        if free is not None and mode != "semi-global":
            raise ParameterError(f"free ends are given, but the mode is {mode}; use semi-global")
        for end in free or ():
            _check_one_of("free end", end, ENDS)
        if band is not None and not 0 <= band <= _WIDEST_BAND:
            raise ParameterError(f"band is {band}, expected 0 to {_WIDEST_BAND:,}")
        wanted_free = (ENDS if free is None else free) if mode == "semi-global" else ()
        self._scheme = cpu.Scheme(
            np.array(scoring.pair_scores(), np.int64), scoring.gap_open, scoring.gap_extend,
            mode == "local", sum(1 << ENDS.index(end) for end in set(wanted_free)),
            -1 if band is None else band,
        )  # fmt: skip
        self._wanted = REPORTS.index(report)
        chosen = select_devices(device)
        if len(chosen) > 1:
            raise ParameterError(
                f"device {device!r} names {len(chosen)} GPUs, expected one: name it, as in cuda:0, and give "
                "each GPU an aligner and batches of its own"
            )
        threads = threads or available_threads()
        self._gpu: GpuPairs | None = None
        if chosen[0].name != "cpu":
            self._gpu = GpuPairs(chosen[0].number, self._scheme, self._wanted, threads)
        self._pool = self._gpu.pool if self._gpu else ThreadPoolExecutor(threads)
        self._own = threading.local()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._pool.shutdown(cancel_futures=kind is not None)

    def submit(self, batch: Batch) -> Future[Alignments]:
        """Take a batch and return at once.

        Returns
        -------
        concurrent.futures.Future of Alignments
            One row a pair, in the order of the pairs.

        Raises
        ------
        ParameterError
            When scores of a pair may exceed 32 bits.
        """
        pairs = batch.pairs
        queries, targets = PackedReads.of(batch.queries), PackedReads.of(batch.targets)
        if self._gpu is not None:
            columns = cpu.Pairs(*(getattr(pairs, name) for name in cpu.Pairs._fields))
            return self._gpu.submit(
                queries, targets, columns,
                lambda found: self._alignments(pairs, found.fields, found.cigar(), found.cigar_offsets),
            )  # fmt: skip
        q_lengths = batch.queries.lengths[pairs.query]
        t_lengths = batch.targets.lengths[pairs.target]
        _check_range(q_lengths, t_lengths, self._scheme)
        narrow = cpu.fits_cells(16, q_lengths, t_lengths, self._scheme)

        def align_block(block: tuple[int, int]) -> Alignments:
            rows = np.arange(*block)
            if not len(rows):
                nothing = np.empty((cpu.FIELDS, 0), np.int64), np.empty(0, np.uint32), np.zeros(1, np.int64)
                return self._alignments(pairs, *nothing)
            parts = []
            for bits, chosen in ((16, rows[narrow[rows]]), (32, rows[~narrow[rows]])):
                if len(chosen):
                    numbers = cpu.Pairs(*(getattr(pairs, name)[chosen] for name in cpu.Pairs._fields))
                    found, cigar, offsets = cpu.align_pairs(
                        queries, targets, numbers, self._scheme, bits, self._wanted, self._room()
                    )
                    parts.append(self._alignments(pairs.take(chosen), found.T, cigar, offsets))
            if len(parts) == 1:
                return parts[0]
            place = np.argsort(np.concatenate([rows[narrow[rows]], rows[~narrow[rows]]]))
            return Alignments.concat(parts).take(place)

        blocks = even_ranges(q_lengths * t_lengths + _PAIR_CELLS, _BLOCK_CELLS) or [(0, 0)]
        return joined(self._pool, [partial(align_block, block) for block in blocks], Alignments.concat)

    def _room(self) -> np.ndarray:
        """Return this thread's room for directions: memory that was used before is the faster one."""
        if not hasattr(self._own, "room"):
            self._own.room = np.empty(cpu.DIRECTION_WORDS, np.uint32)
        return self._own.room

    def _alignments(
        self,
        pairs: Pairs,
        fields: Sequence[np.ndarray] | np.ndarray,
        cigar: np.ndarray,
        cigar_offsets: np.ndarray,
    ) -> Alignments:
        """Return the table of what a kernel found, with the columns that were asked for."""
        columns = {"score": fields[0], "q_end": fields[2], "t_end": fields[4]}
        if self._wanted >= cpu.STARTS:
            columns |= {"q_start": fields[1], "t_start": fields[3]}
            columns |= {"matches": fields[5], "block_length": fields[6]}
        if self._wanted == cpu.PATHS:
            columns |= {"cigar": cigar, "cigar_offsets": cigar_offsets}
        return Alignments(pairs.query, pairs.target, pairs.q_flags, pairs.t_flags, **columns)


def align(
    queries: Reads | str | Sequence[str],
    targets: Reads | str | Sequence[str],
    *,
    pairs: str | Pairs = "one-to-one",
    mode: str = "global",
    scoring: Scoring | None = None,
    free: Collection[str] | None = None,
    report: str = "cigar",
    band: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
) -> Alignments:
    """Align pairs of sequences.

    Parameters
    ----------
    queries, targets : Reads, str, or sequence of str
        Sequences; a single text is one sequence.
    pairs : str or Pairs
        ``one-to-one``, ``one-to-all``, ``all-to-all``, or which with which.
    mode, scoring, free, report, band, device, threads
        As in `Aligner`.

    Returns
    -------
    Alignments
        One row a pair, in the order of the pairs.

    Raises
    ------
    ParameterError
        When an argument is out of range, or scores may exceed 32 bits.

    Examples
    --------
    >>> import overlapper
    >>> overlapper.align("ACGT", "ACGA").cigar_text(0)
    '3=1X'
    >>> found = overlapper.align(["ACGTTT"], ["GGACGTAA"], mode="local", report="start")
    >>> found.score, found.t_start, found.t_end
    (array([4], dtype=int32), array([2], dtype=int32), array([6], dtype=int32))
    """
    queries, targets = _reads(queries), _reads(targets)
    if isinstance(pairs, str):
        pairs = Pairs.of(len(queries), len(targets), pairs)
    with Aligner(
        mode, scoring, free=free, report=report, band=band, device=device, threads=threads
    ) as aligner:  # fmt: skip
        return aligner.submit(Batch(queries, targets, pairs)).result()


def _reads(sequences: Reads | str | Sequence[str]) -> Reads:
    if isinstance(sequences, Reads):
        return sequences
    if isinstance(sequences, str):
        sequences = [sequences]
    if not isinstance(sequences, Sequence) or not all(isinstance(one, str) for one in sequences):
        raise ParameterError(
            f"{shortened(sequences)} is given, expected a sequence, a list of them, or Reads"
        )
    return Reads.from_sequences(map(str, range(len(sequences))), sequences)


def _check_one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ParameterError(f"{name} is {value!r}, expected one of {', '.join(allowed)}")


def _check_range(q_lengths: np.ndarray, t_lengths: np.ndarray, scheme: cpu.Scheme) -> None:
    too_much = np.flatnonzero(~cpu.fits_cells(32, q_lengths, t_lengths, scheme))
    if len(too_much):
        pair = too_much[0]
        raise ParameterError(
            f"pair {pair}: sequences of {q_lengths[pair]} and {t_lengths[pair]} bases may score more than 32 "
            "bits hold; use smaller scores"
        )
