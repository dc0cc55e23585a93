"""A round of correction: overlaps of all reads, and a vote on each read by the reads that overlap it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from overlapper.correction.consensus import Consensus, consensus_in_parts
from overlapper.correction.leaders import LED_BELOW, WAVES, leaders_of, roles_of
from overlapper.correction.pileup_source import PileupBlock, PileupSource
from overlapper.correction.pileups import Rows
from overlapper.correction.read_consensus import ConsensusPart, ConsensusWriter, Leaders, ReadConsensus
from overlapper.correction.resources import Facts
from overlapper.correction.rounds import Round
from overlapper.correction.settled import settled_of
from overlapper.correction.strands import SAME_STRAND, share_of_same_strand
from overlapper.correction.thresholds import fit_doubt, fit_erring, fit_threshold
from overlapper.correction.unvoted import UNVOTED, unvoted
from overlapper.correction.vote_settings import error_rate, given_error_rate
from overlapper.io.artifacts import Artifact
from overlapper.params.correction import CorrectParams
from overlapper.runtime.threads import BackgroundCalls, even_ranges, map_in_order

_AT_A_TIME = 1 << 25
"""Bases of a range of reads that is voted on, written and freed before the next one."""
_FOR_THREADS = 4
"""Of reads in memory a range has `_AT_A_TIME` for each so many threads, which wait for the last one at its
end."""
_MOST_CONVERTING = 4
"""Most threads that convert consensus to parts (`ConsensusPart`), besides those that vote."""

WriteConsensus = Callable[[ConsensusWriter], Facts]
"""``write(writer)`` writes the consensus of all reads in order, and returns counts and fitted parameters."""


def vote(pileups: PileupSource, params: CorrectParams, round_: Round) -> tuple[ReadConsensus, Facts]:
    """Return the consensus of all reads, with counts and fitted parameters."""
    write: WriteConsensus
    if given_error_rate(pileups, params) >= LED_BELOW:
        write = partial(_vote_on_all, pileups, params, round_)
    elif round_.number == 1:
        on_leaders = partial(_vote_on_leaders, pileups, params, round_)
        artifact, found = _written(f"leaders-{round_.number}", on_leaders, params, round_)
        leaders = Leaders.within(artifact)
        write = partial(_vote_by_leaders, leaders, found, pileups, params, round_)
    else:
        write = partial(_vote_on_unsettled, pileups, params, round_)

    def with_strands(writer: ConsensusWriter) -> Facts:
        return {**write(writer), SAME_STRAND: share_of_same_strand(pileups)}

    artifact, facts = _written(f"correct-{round_.number}", with_strands, params, round_)
    return ReadConsensus.within(artifact), facts


def _written(
    name: str, write: WriteConsensus, params: CorrectParams, round_: Round
) -> tuple[Artifact, Facts]:
    """Write consensus as a stage of this name."""

    def make(artifact: Artifact, beside: Path) -> Facts:
        writer = ConsensusWriter(artifact)
        facts = write(writer)
        writer.finish()
        return facts

    return round_.stages.write(name, params.of_round(), make)


def _vote_on_all(
    pileups: PileupSource, params: CorrectParams, round_: Round, writer: ConsensusWriter
) -> Facts:
    """Vote on each read by all reads that overlap it."""
    bases = unconfirmed = 0
    setup = _VoteSetup.fitted(pileups, params, round_)
    for made in setup.vote(pileups):
        writer.add(made.part)
        bases, unconfirmed = bases + made.part.reads.total_bases, unconfirmed + made.unconfirmed
    return {**setup.params.fitted(), "error rate": error_rate(pileups), "bases": bases, UNVOTED: unconfirmed}


def _vote_by_leaders(
    leaders: Leaders,
    found: Facts,
    pileups: PileupSource,
    params: CorrectParams,
    round_: Round,
    writer: ConsensusWriter,
) -> Facts:
    """Vote on followers by leaders alone, on other reads by all that overlap them.

    Parameters
    ----------
    leaders : Leaders
    found : dict
        What the vote on leaders returned.
    pileups, params, round_, writer
        As of the other votes.
    """
    of_leaders = PileupSource.of_rows(
        pileups.targets, leaders.reads, leaders.rows, pileups.room, targets_vote=True,
        divergence=pileups.typical_divergence, reach=0,
    )  # fmt: skip
    roles = roles_of(leaders.numbers, of_leaders, round_.threads)
    place = np.zeros(len(pileups), np.int64)
    place[leaders.numbers] = np.arange(len(leaders.numbers))
    setup = _VoteSetup(params.with_fitted(found), None, round_)

    def divided(start: int, stop: int) -> _Range:
        leading, following, others = roles.within(start, stop)
        return _Range(leading, [(of_leaders, following), (pileups, others)])

    bases, unconfirmed = setup.write_all(divided, lambda reads: leaders.take(place[reads]), pileups, writer)
    return {
        **{name: found[name] for name in ("thresholds", "run_threshold", "erring", "leaders")},
        "followers": int(roles.follows.sum()),
        "error rate": float(error_rate(pileups)), "bases": bases, UNVOTED: found[UNVOTED] + unconfirmed,
    }  # fmt: skip


def _vote_on_leaders(
    pileups: PileupSource,
    params: CorrectParams,
    round_: Round,
    writer: ConsensusWriter,
) -> Facts:
    """Vote on leaders, by all reads that overlap them; write their rows on the reads like them, too."""
    targets, threads = pileups.targets, round_.threads
    unconfirmed, leading, alike = 0, np.zeros(0, np.int64), Rows.empty()
    writer.add_rows(alike)  # so that the columns are there
    setup = _VoteSetup.fitted(pileups, params, round_)._replace(targets_lead=True)
    for wave in range(1, WAVES + 1):
        by_leaders = PileupSource.of_rows(targets, targets, alike, pileups.room, targets_vote=True)
        roles = roles_of(leading, by_leaders, threads)
        of_wave = leaders_of(pileups, roles, wave, threads)
        writer.add_numbers(of_wave)
        rows = [alike]
        for made in setup.vote(pileups, of_wave):
            on = made.alike
            rows.append(dataclasses.replace(on, read=on.read + np.int32(len(leading))))
            writer.add(made.part)
            writer.add_rows(rows[-1])
            unconfirmed += made.unconfirmed
        leading, alike = np.concatenate([leading, of_wave]), Rows.concat(rows)
    return {**setup.params.fitted(), "leaders": len(leading), UNVOTED: unconfirmed}


def _vote_on_unsettled(
    pileups: PileupSource, params: CorrectParams, round_: Round, writer: ConsensusWriter
) -> Facts:
    """Vote on each read that is not settled by all reads that overlap it."""
    settled = settled_of(pileups, round_.resources)
    setup = _VoteSetup.fitted(pileups, params, round_)

    def divided(start: int, stop: int) -> _Range:
        stays = settled.stays[start:stop]
        staying, others = (start + np.flatnonzero(some) for some in (stays, ~stays))
        return _Range(staying, [(pileups, others)])

    def unchanged(reads: np.ndarray) -> ConsensusPart:
        return ConsensusPart.unchanged(pileups.targets.take(reads), settled.depth[reads])

    bases, unconfirmed = setup.write_all(divided, unchanged, pileups, writer)
    return {
        **setup.params.fitted(), "settled": int(settled.stays.sum()),
        "error rate": float(error_rate(pileups)), "bases": bases, UNVOTED: unconfirmed,
    }  # fmt: skip


_Wanted = tuple[PileupSource, np.ndarray | None]
"""Pileups, and the targets of them to vote on; None for all."""


class _Range(NamedTuple):
    """A range of reads that is written at a time."""

    known: np.ndarray
    """int64; reads whose consensus is there."""
    votes: list[tuple[PileupSource, np.ndarray]]
    """List of tuple; the others (`_Wanted`)."""


def _write(parts: list[ConsensusPart], order: np.ndarray, writer: ConsensusWriter) -> None:
    """Write parts, their reads put in order."""
    for part in ConsensusPart.in_order(parts, order):
        writer.add(part)


class _Made(NamedTuple):
    """Consensus of successive targets, converted to a part.

    Attributes
    ----------
    part : ConsensusPart
    unconfirmed : int
        Bases that are not confirmed though many reads cover them (`overlapper.correction.unvoted`).
    alike : Rows
        Of leaders, `Consensus.alike`, targets numbered among all that are voted on; else empty.
    """

    part: ConsensusPart
    unconfirmed: int = 0
    alike: Rows = Rows.empty()


class _VoteSetup(NamedTuple):
    """The parameters of the votes of a round."""

    params: CorrectParams
    """With all thresholds set."""
    doubt: int | None
    """As for `overlapper.correction.consensus.consensus`."""
    round_: Round
    targets_lead: bool = False
    """As for `overlapper.correction.consensus.consensus_in_parts`."""

    @classmethod
    def fitted(cls, pileups: PileupSource, params: CorrectParams, round_: Round) -> Self:
        """Fit thresholds and doubt to a sample of the pileups, unless they are given."""
        params = fit_threshold(pileups, fit_erring(pileups, params), round_.threads)
        doubt = None if round_.number == 1 else fit_doubt(pileups, params, round_.threads)
        return cls(params, doubt, round_)

    def vote(self, pileups: PileupSource, targets: np.ndarray | None = None) -> Iterator[_Made]:
        """Vote on all targets of pileups, or on some; yield their consensus in parts, in order."""
        done = 0
        for made in self._vote_each([(pileups, targets)]):
            done += len(made.part.counts)
            if targets is None:
                self.round_.report("consensus", done, len(pileups.targets))
            yield made

    def write_all(
        self,
        divided: Callable[[int, int], _Range],
        known: Callable[[np.ndarray], ConsensusPart],
        pileups: PileupSource,
        writer: ConsensusWriter,
    ) -> tuple[int, int]:
        """Write the consensus of all reads; return its bases, and those voted on that are not confirmed.

        Parameters
        ----------
        divided : callable
            Divides the reads ``[start, stop)``.
        known : callable
            Gives the consensus of reads whose consensus is there.
        pileups : PileupSource
        writer : ConsensusWriter
        """
        round_, lengths, bases, unconfirmed = self.round_, pileups.targets.lengths, 0, 0
        times = max(1, round_.threads // _FOR_THREADS) if pileups.room is None else 1
        bounds = even_ranges(lengths, times * _AT_A_TIME)
        ranges = list(itertools.starmap(divided, bounds))
        voted = self._vote_each(itertools.chain.from_iterable(of_range.votes for of_range in ranges))
        with BackgroundCalls() as behind:  # a range is written while the next one is made
            for (_, stop), (staying, votes) in zip(bounds, ranges, strict=True):
                numbers = np.concatenate([staying, *(targets for _, targets in votes)])
                parts, left = [known(staying)], len(numbers) - len(staying)
                while left:
                    made = next(voted)
                    parts.append(made.part)
                    unconfirmed, left = unconfirmed + made.unconfirmed, left - len(made.part.counts)
                bases += sum(part.reads.total_bases for part in parts)
                behind.call(partial(_write, parts, np.argsort(numbers), writer))
                round_.report("consensus", stop, len(lengths))
        return bases, unconfirmed

    def _vote_each(self, wanted: Iterable[_Wanted]) -> Iterator[_Made]:
        """Vote on targets of one pileups after the other, here or on workers."""
        resources = self.round_.resources
        blocks = (block for pileups, targets in wanted for block in pileups.blocks(targets, resources.slots))
        return resources.each(partial(_voted, self.params, self.doubt, self.targets_lead), blocks)


def _voted(
    params: CorrectParams, doubt: int | None, targets_lead: bool, block: PileupBlock, threads: int
) -> Iterator[_Made]:
    """Vote on the targets of a block; see `_VoteSetup` for the other arguments."""
    pileups = block.load()

    def converted(voted: tuple[int, Consensus]) -> _Made:
        first, made = voted
        alike = Rows.empty()
        if targets_lead:
            on = made.alike
            numbers = on.target if pileups.numbers is None else pileups.numbers[on.target]
            alike = dataclasses.replace(on, target=numbers, read=block.first + first + on.read)
        part = ConsensusPart.of(made, pileups.targets.rows(first, first + len(made)))
        return _Made(part, len(unvoted(pileups, made, first)), alike)

    made = consensus_in_parts(pileups, params, threads, doubt=doubt, targets_lead=targets_lead)
    return map_in_order(converted, made, min(threads, _MOST_CONVERTING))
