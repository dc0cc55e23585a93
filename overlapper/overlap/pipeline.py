"""From reads to overlaps: the stages of a run, in order.

A run in memory is a run of one tile.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Never, Protocol

import numpy as np

from overlapper.errors import OutOfMemoryError
from overlapper.extend import chain
from overlapper.extend.batches import warm_up
from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.extend.on_gpus import kernels_for, prepared_finder
from overlapper.extend.registry import ALIGNING, check_compression, device_for, extending_devices
from overlapper.extend.selection import Selection
from overlapper.gpu.opening import Opening
from overlapper.io.given import GivenReads, reads_given
from overlapper.overlap.presets import ErrorRate, check_preset, preset_params, with_error_rate
from overlapper.overlap.summary import Run, Summary
from overlapper.overlap.tile import BLOCK_BASES, Extended, Extension, Tile
from overlapper.params.shortcuts import merged, nested, refuse
from overlapper.params.stages import Params
from overlapper.runtime.clock import Clock
from overlapper.runtime.gpu.devices import Device
from overlapper.runtime.memory import free_memory
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import available_threads, share_for_threads, start
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.sketch.homopolymers import sketched_form
from overlapper.tables import Overlaps, Reads
from overlapper.tables.overlaps import pair_order

_COPIES = 2
"""Copies of the overlaps that are in memory while they are sorted."""
_PART_ROWS = 1 << 15
"""Least overlaps of a part, but for the last one: what is done with a part takes Python's lock many times."""


def find_overlaps(
    reads: GivenReads,
    preset: str = "auto",
    *,
    finder: str | None = None,
    extender: str | None = None,
    kmer_length: int | None = None,
    window: int | None = None,
    homopolymer_compressed: bool | None = None,
    min_overlap: int | None = None,
    keep_internal: bool | None = None,
    best: int | None = None,
    best_of_pair: int | None = None,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    **unknown: Never,
) -> Overlaps:
    """Find the overlaps of all pairs of reads.

    Parameters
    ----------
    reads : Reads, path, or sequence of paths
        Files are those that `read_fastx` reads; several make one set.
    preset : str
        ``auto``, ``ont``, ``clr`` or ``hifi``.
    finder : str, optional
        How candidates are found: ``dsoft`` or ``spgemm``.
    extender : str, optional
        How candidates become overlaps: ``chain``, ``xdrop``, ``gact`` or ``exact``.
    kmer_length, window : int, optional
        Bases of a seed, and k-mers of which the smallest seeds.
    homopolymer_compressed : bool, optional
        Seed on reads with homopolymer runs collapsed.
    min_overlap : int, optional
        Shortest overlap reported, in bases.
    keep_internal : bool, optional
        Report internal matches, too.
    best : int, optional
        Best overlaps of each read end to report; 0 for all.
    best_of_pair : int, optional
        Overlaps of a read pair to report at most; 0 for all.
    changes : mapping, optional
        Further changes of the preset's parameters, nested as in `Params`: ``{"dsoft": {"drift": 300}}``. The
        arguments above go before them.
    threads : int, optional
        All that are available by default; the result does not depend on it.
    device : str
        What candidates are extended on: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for
        all GPUs if there are any and the extender has kernels for them, and for chains the CPU where there
        are fewer than 10 million bases a thread (`overlapper.extend.registry.device_for`). The result does
        not depend on it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.

    Returns
    -------
    Overlaps
        In canonical order; at most one a pair unless ``best_of_pair`` is given.

    Raises
    ------
    ParameterError
        When a parameter is unknown (the message says where it belongs) or a value is out of range.
    InputError
        When a file of reads cannot be read, or is not what it should be.
    OutOfMemoryError
        When there is too little memory to put the overlaps in order.
    DeviceError, MissingExtraError
        When a GPU that was asked for is missing or unusable, or a GPU fails.

    Examples
    --------
    >>> from overlapper.simulate import random_genome, simulate_reads
    >>> reads, _ = simulate_reads(random_genome(20_000), "hifi", coverage=8)
    >>> overlaps = find_overlaps(reads, preset="hifi", min_overlap=500)
    >>> bool((overlaps.query < overlaps.target).all())
    True
    """
    refuse(unknown)
    given = {
        "finder": finder, "extender": extender, "kmer_length": kmer_length, "window": window,
        "homopolymer_compressed": homopolymer_compressed, "min_overlap": min_overlap,
        "keep_internal": keep_internal, "best": best, "best_of_pair": best_of_pair,
    }  # fmt: skip
    changes = merged(changes or {}, nested(given))
    Params().changed(changes)  # raises what is wrong before files are read
    check_preset(preset)
    threads = threads or available_threads()
    reads = reads_given(reads, threads)
    return run(reads, preset, changes=changes, threads=threads, device=device, gpu_memory=gpu_memory).overlaps


def run(
    reads: Reads,
    preset: str | ErrorRate = "auto",
    *,
    changes: Mapping[str, Any] | None = None,
    threads: int | None = None,
    device: str = "auto",
    gpu_memory: int = 0,
    order: np.ndarray | None = None,
    opened: Opening | None = None,
    report: Report = unreported,
) -> Run:
    """Find overlaps; return them with counts and parameters.

    Other arguments are those of `find_overlaps`.

    Parameters
    ----------
    reads : Reads
    preset : str or ErrorRate
        An `ErrorRate` is taken as it is; nothing is estimated.
    order : ndarray of int64, shape (reads,), optional
        The number of each read in the input, when ``reads`` are in canonical order already
        (`canonical_order`). This saves the memory of a second, sorted copy of the reads.
    opened : Opening, optional
        What `opening` returned, in place of ``device`` and ``gpu_memory``, when GPUs were opened while the
        reads were read; it is closed as soon as all overlaps are found.
    report : callable, optional
        Receives the progress of the run.
    """
    clock, threads = Clock(), threads or available_threads()
    if opened is None:
        extending = (changes or {}).get("extender", Params.extender)
        device = device_for(extending, device, reads.total_bases, threads)
        devices = extending_devices(extending, device)
        opened = opening(lambda: devices, gpu_memory, changes)
    with opened:
        return _run(reads, preset, changes, threads, order, opened, clock, report)


def opening(
    choose: Callable[[], Sequence[Device]],
    memory: int,
    changes: Mapping[str, Any] | None,
    closed: Callable[[Sequence[str]], object] = lambda names: None,
) -> Opening:
    """Open the GPUs of a run in the background, before its parameters are chosen.

    Parameters
    ----------
    choose, memory, closed
        As `Opening` takes them.
    changes : mapping, optional
        As `run` takes it.
    """
    wanted = Params().changed(changes or {})
    return Opening(choose, memory, kernels_for(wanted), partial(warm_up, wanted), closed)


def _run(
    reads: Reads,
    preset: str | ErrorRate,
    changes: Mapping[str, Any] | None,
    threads: int,
    order: np.ndarray | None,
    opened: Opening,
    clock: Clock,
    report: Report,
) -> Run:
    """Find overlaps as `run` does, on GPUs that are being opened."""
    if order is None:
        report("sorting reads", 0, 0)
        order = canonical_order(reads, threads)
        reads = in_order(reads, order, threads)
    clock.lap("order")

    opened.hold(reads)
    held = HeldRun(reads, order, threads, opened)
    summary, chosen = run_stages(held, preset, changes, clock, report)
    parts = list(chosen())
    del chosen  # and with it what was found
    rows = pair_order(parts, threads)
    overlaps = Overlaps.gather([without_cigars(part) for part in parts], rows, threads)
    overlaps = with_cigars(overlaps, parts, rows, threads=threads)
    clock.lap("sort")
    return Run(**vars(summary), overlaps=overlaps)


class Found(NamedTuple):
    """The result of `Store.find`: overlaps (may be iterated several times), counts, names of devices."""

    overlaps: Callable[[], Iterable[Overlaps]]
    counts: dict[str, int]
    devices: list[str]


class Store(Protocol):
    """The reads of a run with their seeds and overlaps: `HeldRun`, in memory, or `StoredRun`, on disk."""

    threads: int

    @property
    def lengths(self) -> np.ndarray:
        """Lengths of the reads (int64), in the order of the input."""

    def all_reads(self) -> Reads:
        """Return the reads, in canonical order."""

    def seed(self, params: Params) -> Params:
        """Find the seeds; return the parameters with those that the extender estimates from the reads."""

    def find(self, params: Params, selection: Selection, report: Report) -> Found:
        """Find the overlaps, numbered as in the input; add them to the selection and keep what it returns."""


def run_stages(
    store: Store, preset: str | ErrorRate, changes: Mapping[str, Any] | None, clock: Clock, report: Report
) -> tuple[Summary, Callable[[], Iterator[Overlaps]]]:
    """Run all stages; return the summary, and a function that yields the reported overlaps in parts.

    Arguments are those of `run`, and the clock that the summary is made from.
    """
    report("choosing parameters", 0, 0)
    params, why = preset_params(store.all_reads(), preset, store.threads, changes)
    check_compression(params)
    clock.lap("parameters")

    report("seeding", 0, 0)
    params = store.seed(params)
    clock.lap("seed")

    lengths = store.lengths
    selection = Selection(lengths, params.classes, store.threads)
    found = store.find(params, selection, report)
    clock.lap("overlap")

    selection.decide(found.overlaps)
    funnel = {"reads": len(lengths), "bases": int(lengths.sum()), **found.counts, **selection.counts}
    summary = Summary(params, why, found.devices, funnel, clock.seconds, clock.memory)
    return summary, lambda: selection.chosen(found.overlaps())


@dataclasses.dataclass
class HeldRun:
    """A run in memory, of one tile; see `Store`.

    Attributes
    ----------
    reads, order, threads
        As `run` takes them.
    opened : Opening
        Waits for the GPUs that hold the reads.
    """

    reads: Reads
    order: np.ndarray
    threads: int
    opened: Opening

    @property
    def lengths(self) -> np.ndarray:
        """See `Store`."""
        lengths = np.empty_like(self.reads.lengths)
        lengths[self.order] = self.reads.lengths
        return lengths

    def all_reads(self) -> Reads:
        """See `Store`."""
        return self.reads

    def seed(self, params: Params) -> Params:
        """See `Store`; an error rate is estimated meanwhile."""
        threads = self.threads
        seeded, run_map = sketched_form(self.reads, params.sketch.homopolymer_compressed)
        aligning = params.extender in ALIGNING
        rating = start(partial(with_error_rate, params, seeded, threads)) if aligning else None
        self._finder = prepared_finder(self.opened, seeded, params, threads)
        self._tile = Tile(self.reads, self.order, seeded, run_map, self._finder)
        if rating:
            return rating.result()
        return chain.with_typical(params, self._tile.agreements(params, self.opened, threads))

    def find(self, params: Params, selection: Selection, report: Report) -> Found:
        """See `Store`.

        Raises
        ------
        OutOfMemoryError
            When there is too little memory to put the overlaps in order.
        """
        extension = Extension(self._tile, params, self.opened())
        gpus, share = extension.gpus, share_for_threads(self.reads.total_bases, BLOCK_BASES, self.threads)
        parts: list[Overlaps] = []
        held, room = 0, free_memory()
        taken: Counter[str] = Counter()
        found = extension.overlaps([(0, len(self.reads))], self.threads, share, report, selection.add)
        for overlaps in _joined(found, taken):
            parts.append(overlaps)
            held += overlaps.nbytes
            if _COPIES * held > room:
                raise OutOfMemoryError(
                    f"{sum(map(len, parts)):,} overlaps were found, more than the {room / 1e6:,.0f} MB of "
                    "memory that were free can hold. --memory keeps overlaps on disk; --best, or a longer "
                    "--min-overlap, leaves fewer"
                )
        on_gpus = {"candidates": taken["candidates"], **gpus.counts()} if gpus and taken else {}
        counts = {**self._finder.counts(), **on_gpus, **taken}
        devices = extension.devices
        # The seeds are most of what is held, and the overlaps are copied when they are put in order.
        del self._finder, self._tile, extension, found
        self.opened.close()
        return Found(lambda: parts, counts, devices)


def _joined(blocks: Iterable[tuple[int, Extended]], taken: Counter[str]) -> Iterator[Overlaps]:
    """Yield the overlaps of blocks in parts of `_PART_ROWS`, and add their counts to ``taken``."""
    small: list[Overlaps] = []
    rows = 0
    for _, (overlaps, counts) in blocks:
        taken.update(counts)
        small.append(overlaps)
        rows += len(overlaps)
        if rows >= _PART_ROWS:
            yield Overlaps.concat(small)
            small, rows = [], 0
    if small:
        yield Overlaps.concat(small)
