"""Polishing in a memory budget: the reads and their seeds are on disk."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from overlapper.candidates.blocks import IN_BLOCKS, SeededBlocks
from overlapper.correct.chosen_reads import choose, store_chosen
from overlapper.correct.own_reads import OwnReads
from overlapper.correct.pileups import Rows
from overlapper.correct.polish import Polished, Unitigs, polish_kept
from overlapper.correct.read_placement import Laid, laid, rows_of_laid, sample_targets
from overlapper.correct.rounds import Round
from overlapper.correct.stored_pileups import PileupsOfUnitigs
from overlapper.correct.stored_rounds import with_votes
from overlapper.extend import chain
from overlapper.io import folders
from overlapper.io.artifacts import writing
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate, polishing_error_rate, preset_params
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.stages import Params
from overlapper.runtime.messages import Report, unreported
from overlapper.tables import Reads
from overlapper.tiled.plan import Budget, cut_blocks
from overlapper.tiled.stages import Stages
from overlapper.tiled.tile_work import finished_artifact
from overlapper.tiled.tiles import agreements_of
from overlapper.tiled.workdir import Workdir


def polish_stored(
    unitigs: Unitigs,
    store: ReadStore,
    workdir: Workdir,
    budget: Budget,
    params: CorrectParams | None = None,
    *,
    own: OwnReads | None = None,
    preset: str | ErrorRate = "auto",
    stages: Stages,
    report: Report = unreported,
) -> Polished:
    """Replace unitigs by the consensus of stored reads, in a memory budget.

    Parameters
    ----------
    unitigs : Unitigs
    store : ReadStore
        With qualities, where the reads have them.
    workdir : Workdir
        Where seeds are kept meanwhile.
    budget : Budget
    params, own, preset, stages, report
        As `overlapper.correct.polish.polish` takes them.

    Raises
    ------
    ParameterError
        When the budget is too small for the reads.
    """
    budget = with_votes(budget, len(store), unitigs.sequences.total_bases)
    budget.left(len(store))
    params = params or CorrectParams(thresholds=POLISHING_THRESHOLDS)
    chosen, depth = choose(stages, store.mapped(), params.depth, budget.threads)
    if chosen:
        store = store_chosen(stages, store, chosen)
    rate = polishing_error_rate(store.mapped(), preset, budget.threads)
    kept = StoredReadsOfUnitigs(store, rate, workdir, budget)
    made = polish_kept(unitigs, kept, own, params, threads=budget.threads, stages=stages, report=report)
    return dataclasses.replace(made, funnel=depth | made.funnel)


@dataclasses.dataclass(frozen=True)
class StoredReadsOfUnitigs:
    """Reads on disk; see `overlapper.correct.polish.KeptPolishingReads`."""

    store: ReadStore
    rate: ErrorRate
    workdir: Workdir
    budget: Budget

    def __len__(self) -> int:
        return len(self.store)

    @property
    def lengths(self) -> np.ndarray:
        """See `KeptPolishingReads`."""
        return self.store.lengths

    def rows_on(self, round_: Round, targets: Reads) -> Rows:
        """See `KeptPolishingReads`."""
        folder, room = self.workdir.path("polish-seeds", round_.number), self.budget.left(len(self.store))
        return rows_on_stored(targets, self.store, self.rate, folder, room, round_.threads, round_.report)

    def pileups(self, targets: Reads, rows: Rows) -> PileupsOfUnitigs:
        """See `KeptPolishingReads`."""
        room = self.budget.left(len(self.store))
        return PileupsOfUnitigs(targets, self.store, rows, rows.typical_divergence(), room)


def rows_on_stored(
    targets: Reads,
    store: ReadStore,
    rate: ErrorRate,
    folder: Path,
    room: int,
    threads: int,
    report: Report,
) -> Rows:
    """Return what `overlapper.correct.read_placement.rows_on` does, with stored reads.

    Parameters
    ----------
    targets : Reads
    store : ReadStore
    rate : ErrorRate
        Of the reads.
    folder : Path
        Where seeds are written, and removed again.
    room : int
        Bytes that a tile may take: a block of targets and one of reads, with their seeds.
    threads : int
    report : callable
    """
    report("choosing parameters", 0, 0)
    params, _ = preset_params(store.mapped(), rate, threads)
    together, n = _Together(targets.bases_alone(), store), len(targets)
    report("seeding", 0, 0)
    blocks = IN_BLOCKS[params.finder]

    def cut(seed_bytes: int) -> np.ndarray:
        total = int(together.lengths.sum())
        bounds = []
        for first, lengths in ((0, targets.lengths), (n, store.lengths)):
            of_seeds = seed_bytes * int(lengths.sum()) // max(total, 1)
            bounds.append(first + cut_blocks(lengths, of_seeds, room // 2))
        return np.unique(np.concatenate(bounds))

    with writing(folder) as artifact:
        blocks.write(artifact, together, params, room, threads, cut)
    seeds = blocks(finished_artifact(folder), params)
    measured = agreements_of(together, seeds, sample_targets(n), n, params, threads)
    params = chain.with_typical(params, measured)
    rows = rows_of_laid(_laid_in_tiles(together, n, seeds, params, threads, report), n)
    folders.remove(folder)
    return rows


def _laid_in_tiles(
    together: _Together, n: int, seeds: SeededBlocks, params: Params, threads: int, report: Report
) -> Iterator[Laid]:
    """Yield the reads that lie on ``n`` targets, a block of targets and one of reads at a time."""
    bounds = list(enumerate(itertools.pairwise(seeds.bounds.tolist())))
    of_targets = [block for block in bounds if block[1][0] < n]
    tiles = list(itertools.product(of_targets, bounds[len(of_targets) :]))
    for done, ((queries, (first, last)), (block, (start, stop))) in enumerate(tiles):
        report("laying reads on windows", done, len(tiles))
        reads = Reads.concat([together.block(first, last), together.block(start, stop)])
        find = seeds.finder([queries, block], reads, threads).find
        for found, internal in laid(reads, find, last - first, params, threads):
            numbered = dataclasses.replace(
                found, query=found.query + first, target=found.target + (start - (last - first))
            )
            yield numbered, internal


class _Together:
    """Targets, and stored reads behind them, as what seeds are made from."""

    def __init__(self, targets: Reads, store: ReadStore) -> None:
        self._targets, self._store = targets, store
        self.lengths = np.concatenate([targets.lengths, store.lengths])

    def block(self, start: int, stop: int) -> Reads:
        """Return some of them."""
        n = len(self._targets)
        parts = [self._targets.rows(min(start, n), min(stop, n))]
        if stop > n:
            parts.append(self._store.block(max(start, n) - n, stop - n))
        return Reads.concat([part for part in parts if len(part)])

    def mapped(self) -> Reads:
        """Return all of them."""
        return self.block(0, len(self.lengths))
