"""Contigs that are left out: of a few bad reads, or circles that differ in a base, which others hold.

Reads too bad to be corrected fit no others, and two or three of them may be laid out beside the contig of
their place::

    contig     ──────────────────────────────────────────────    k-mers of many reads
    left out         ──x────x─x───x────x──                       k-mers at errors are of no other read
                               ─x────x──x──x─

**Candidates** are contigs that are linked to no other: those of at most ``tip_reads`` reads, contained ones
included; linear ones no longer than as many of their longest reads together, on which fewer than `CONFIRMED`
reads lie on average; linear ones of fewer reads than most, where there are not two haplotypes (`FEWER`), as
reads that share one error in a long run are laid out beside others; and circles next to another one that is
as long (to 1 / `ALIKE`): of a mitochondrion, or a plasmid, some copies differ in a base or two. They are
looked at by the bases of their reads, most first, of equals the longest first. 31-mers tell (of more than
2^25 in contigs and unplaced reads those with the smallest hashes).

**Held.** A bin of 1,000 bases of a candidate is held where contigs that stay have a tenth of its k-mers (one
base in 14 may be an error). All but a tenth of its bins have to be held.

**Of its own** are k-mers of a candidate that no contig that stays has. Errors are in hardly any other read.
What a haplotype, a copy or a rare strain has is in several: the k-mer is *confirmed* if `CONFIRMED` reads or
more have it, of those that are laid out nowhere or in candidates. A candidate has sequence of its own if more
than half of these k-mers are confirmed (`OWN`), of accurate reads, which share no errors, more than a fifth,
and more than two differences make.

A candidate that is held, and has no sequence of its own, is left out. So a contig of a single read stays
where nothing else is, and a small molecule, or a haplotype of few reads, stays.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.assembly.haplotypes import LEAST_OF_BIN
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.lost import CONFIRMED, kmers_of
from overlapper.assembly.pieces import BIN, K
from overlapper.correction.doubt import OnContigs
from overlapper.sketch.counting import KmerCounts
from overlapper.tables import Reads
from overlapper.tables.base import column
from overlapper.tables.ragged import places_within

NOWHERE = -1
"""The contig of reads that belong to none that stays."""
ALIKE = 50
"""Circles are as long as each other if their lengths differ by less than one in this many: chosen, as in
`overlapper.assembly.rounds`."""
OWN, OWN_OF_ACCURATE = 0.5, 0.2
"""Share of the k-mers of its own, if more are confirmed, that errors do not explain. Of a copy that five
reads cover, fewer than three lie on most bases."""
FEWER = 0.75
"""Depth, relative to that of most contigs, below which a contig may have a part of the reads of a place.
Chosen, half way between a half and all."""
HELD = 0.9
"""Least share of the bins of a contig that others hold."""


@dataclasses.dataclass(frozen=True, eq=False)
class LeftOut(OnContigs):
    """Reads of contigs that are left out, and about where they belong.

    Attributes
    ----------
    contig : ndarray of int32, shape (n,)
        The one, of those that stay, that has most of the k-mers of theirs; `NOWHERE` for none.
    read : ndarray of int32, shape (n,)
    group : ndarray of int32, shape (n,)
        Those of one contig have the same number, from 1.
    """

    read: np.ndarray = column("i4")
    group: np.ndarray = column("i4")


def leave_out(
    reads: Reads,
    laid_out: LaidOut,
    most_reads: int,
    room: int | None,
    threads: int,
    own_share: float = OWN,
    fewer: float = 0.0,
) -> tuple[LaidOut, LeftOut]:
    """Leave contigs of bad reads out.

    Parameters
    ----------
    reads : Reads
    laid_out : LaidOut
    most_reads : int
        Most reads of a candidate.
    room : int or None
        Bytes of memory that may be used besides reads and overlaps; None for no limit.
    threads : int
        Changes nothing but the time.
    own_share : float
        `OWN`, or `OWN_OF_ACCURATE`.
    fewer : float
        Linear contigs of a depth below it, relative to that of most, are candidates.

    Raises
    ------
    ParameterError
        When there is too little memory.
    """
    own, contigs = laid_out.reads, laid_out.contigs
    lengths, bases = contigs.sequences.lengths, own.r_end.astype(np.int64) - own.r_start
    ends = np.concatenate([contigs.link_source, contigs.link_target])
    few = _of_few(laid_out, bases, most_reads) | ~contigs.circular & (contigs.copies < fewer)
    candidates = np.setdiff1d(np.union1d(np.flatnonzero(few), _circles_as_long(contigs)), ends >> 1)
    if not len(candidates) or len(contigs) == 1:
        return laid_out, LeftOut.empty()
    unplaced = np.setdiff1d(np.arange(len(reads)), own.read[~np.isin(own.unitig, candidates)])
    what = "contigs of bad reads"
    counted, sampled = kmers_of(reads, unplaced, contigs.sequences, 1, room, what, threads)
    judge = _Judge(counted, len(unplaced), candidates, len(contigs), sampled, own_share)
    of_contig = np.bincount(own.unitig, bases, len(contigs))
    order = np.lexsort([candidates, -lengths[candidates], -of_contig[candidates]])
    rows = [row for contig in candidates[order].tolist() if (row := judge.left_out(contig))]
    return without(laid_out, LeftOut.empty(), np.array(rows, np.int64).reshape(-1, 4))


def without(laid_out: LaidOut, left_out: LeftOut, rows: np.ndarray) -> tuple[LaidOut, LeftOut]:
    """Return the contigs without some, and the reads of these behind those that are left out already.

    Parameters
    ----------
    laid_out : LaidOut
    left_out : LeftOut
    rows : ndarray of int64, shape (n, 4)
        Contigs that are left out, and where each belongs: contig (`NOWHERE` for none), start and end.
    """
    own, n = laid_out.reads, len(laid_out.contigs)
    gone, *places = rows.T
    group, number = np.full(n, -1), np.full(n + 1, NOWHERE)  # the last one is that of no contig
    group[gone] = np.arange(len(gone))
    stays = np.flatnonzero(group < 0)
    number[stays] = np.arange(len(stays))
    of = np.flatnonzero(group[own.unitig] >= 0)
    of = of[np.argsort(group[own.unitig[of]], kind="stable")]
    at = group[own.unitig[of]]
    beside, start, end = (values[at] for values in places)
    more = LeftOut(number[beside], start, end, own.read[of], left_out.group.max(initial=0) + 1 + at)
    known = dataclasses.replace(left_out, contig=number[left_out.contig])
    return laid_out.take(stays), LeftOut.concat([known, more])


def _of_few(laid_out: LaidOut, bases: np.ndarray, most_reads: int) -> np.ndarray:
    """Return a mask of contigs of so many reads, or linear, no longer than as many, and shallow."""
    own, contigs = laid_out.reads, laid_out.contigs
    of_contig = np.bincount(own.unitig, minlength=len(contigs))
    rows = np.lexsort([-bases, own.unitig])
    longest = np.flatnonzero(places_within(of_contig) < most_reads)
    reach = np.bincount(own.unitig[rows][longest], bases[rows][longest], len(contigs))
    lengths, depth = contigs.sequences.lengths, np.bincount(own.unitig, bases, len(contigs))
    return (of_contig <= most_reads) | ~contigs.circular & (lengths <= reach) & (depth < CONFIRMED * lengths)


def _circles_as_long(contigs: Contigs) -> np.ndarray:
    """Return the circles, which are in the order of their lengths, that are as long as the next one."""
    circles = np.flatnonzero(contigs.circular)
    lengths = contigs.sequences.lengths[circles]
    alike = np.flatnonzero(ALIKE * (lengths[:-1] - lengths[1:]) <= lengths[:-1])
    return circles[np.union1d(alike, alike + 1)]


class _Judge:
    """The k-mers of contigs: which contigs that stay have, and how many reads.

    Parameters
    ----------
    counted : KmerCounts
        Of reads, and then contigs.
    reads : int
    candidates : ndarray of int64
    contigs : int
    sampled : float
        The share of all k-mers that these are.
    own_share : float
        As `leave_out` takes it.
    """

    def __init__(
        self,
        counted: KmerCounts,
        reads: int,
        candidates: np.ndarray,
        contigs: int,
        sampled: float,
        own_share: float,
    ) -> None:
        self._sampled, self._own_share = sampled, own_share
        self._occurrences, self._offsets, self._reads = counted.occurrences, counted.column_offsets, reads
        self._stays = np.ones(contigs, np.bool_)
        self._stays[candidates] = False
        column = np.repeat(np.arange(len(self._offsets) - 1), np.diff(self._offsets))
        sequence = self._occurrences >> 32
        of_read = sequence < reads
        again = np.append(False, (column[1:] == column[:-1]) & (sequence[1:] == sequence[:-1]))
        self._readers = np.bincount(column[of_read & ~again], minlength=len(self._offsets) - 1)
        self._held = np.zeros(len(self._readers), np.bool_)
        self._held[column[~of_read][self._stays[sequence[~of_read] - reads]]] = True
        of_candidates = np.flatnonzero(~of_read)[~self._stays[sequence[~of_read] - reads]]
        order = of_candidates[np.argsort(sequence[of_candidates], kind="stable")]
        self._column, self._number = column[order], (self._occurrences[order] & 0xFFFFFFFF) // (2 * BIN)
        self._contig = sequence[order] - reads

    def left_out(self, contig: int) -> tuple[int, int, int, int] | None:
        """Return what holds a contig that is left out, and where; others count as staying from then on."""
        there = slice(*np.searchsorted(self._contig, [contig, contig + 1]))
        column, number = self._column[there], self._number[there]
        held = self._held[column]
        kmers = np.bincount(number)
        bins_held = np.bincount(number, held) >= np.maximum(LEAST_OF_BIN * kmers, 1)
        own = column[~held]
        confirmed = np.count_nonzero(self._readers[own] >= CONFIRMED)
        of_its_own = confirmed > max(self._own_share * len(own), 2 * K * self._sampled)
        if of_its_own or bins_held.sum() < max(HELD * np.count_nonzero(kmers), 1):
            self._stays[contig] = True
            self._held[column] = True
            return None
        shared = np.unique(column[held])
        sizes = self._offsets[shared + 1] - self._offsets[shared]
        found = self._occurrences[np.repeat(self._offsets[shared], sizes) + places_within(sizes)]
        found = found[found >> 32 >= self._reads]
        other = (found >> 32) - self._reads
        beside = np.bincount(other, self._stays[other]).argmax()
        base = (found[other == beside] & 0xFFFFFFFF) >> 1
        return contig, int(beside), int(base.min()), int(base.max()) + K
