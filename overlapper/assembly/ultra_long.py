"""What ultra-long reads say of the contigs that they go through (``docs/algorithms/ultra-long.md``).

::

    unique k-mers ── visits of a read ── walk along links ──┐
                                         walk               ├── passages ── contigs (`passages.py`)
                                         walk               ──┘
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from overlapper.assembly.haplotigs import both_ways
from overlapper.assembly.haplotypes import BYTES_A_KMER, COUNTING, MOST_KMERS
from overlapper.assembly.laid_out import Contigs
from overlapper.assembly.parents import Sites, labelled
from overlapper.assembly.pieces import K
from overlapper.evaluation.slices import spans_of
from overlapper.kernels.seeds import haplotype_kmers
from overlapper.kernels.seeds.haplotype_kmers import (
    ANCHORS,
    END,
    NODE,
    OF_LENGTH,
    ON_END,
    ON_START,
    READ,
    SLACK,
    START,
)  # fmt: skip
from overlapper.runtime.memory import check_room
from overlapper.runtime.messages import counted
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.sketch.counting import count_kmers
from overlapper.tables import Reads
from overlapper.tiled.stages import Stage

STAGE = "ultra-long"
LEAST_ANCHORS = 3
"""Anchors of a visit: an error may make a k-mer of another copy, and hardly three side by side."""
LEAST_READS, TIMES = 2, 3
"""Reads that take a passage, and how many times as many as go elsewhere from either end: one read may be a
chimera, and errors of graphs and of reads are rarer than one in four."""
UNSEEN = 5_000
"""Unique k-mers of a contig that a read may go through without a visit: at 10 % of errors it has 50 anchors
there, in 20 places."""
_MOST_STEPS = 1_000
_BLOCK_BASES = 1 << 22

Walk = tuple[int, ...]
"""Strands of contigs one after the other: ``2 * contig``, or 1 more for its reverse complement."""


class UltraLong(NamedTuple):
    """What was seen of ultra-long reads, in numbers."""

    reads: int = 0
    bases: int = 0
    on_contigs: int = 0
    """Reads that visit contigs."""
    on_several: int = 0
    """Reads that visit several, or one several times."""
    without_way: int = 0
    several_ways: int = 0
    """`without_way`, `several_ways`: times that a read goes on in a contig to which no links lead over the
    distance, or to which several do."""
    passages: int = 0
    too_few: int = 0
    contradicted: int = 0
    """`passages`, `too_few`, `contradicted`: passages that are taken; ends of contigs that reads leave, and
    that stay ends as too few do, or as others go elsewhere."""

    @classmethod
    def of(cls, stages: Iterable[Stage]) -> UltraLong | None:
        """Return what a stage of a run has; None where ultra-long reads are not used."""
        return next((cls(**stage.facts) for stage in stages if stage.name == STAGE), None)

    def told(self) -> str:
        """Return the numbers as a sentence has them."""
        return (
            f"{self.on_several:,} of {counted(self.reads, 'ultra-long read')} go from contig to contig; "
            f"{counted(self.passages, 'passage')} taken; refused at ends of contigs: {self.too_few:,} as too "
            f"few reads go on, {self.contradicted:,} as reads disagree"
        )

    def warnings(self) -> list[str]:
        """Say that most reads are of something else."""
        if 2 * self.on_contigs >= self.reads:
            return []
        return [
            f"warning: {self.on_contigs:,} of {counted(self.reads, 'ultra-long read')} lie on contigs: are "
            "they of the same sample?"
        ]


class Unique(NamedTuple):
    """k-mers that occur once in all contigs."""

    sites: Sites
    table: np.ndarray
    """As `overlapper.kernels.seeds.haplotype_kmers.visits_of_reads` takes it."""
    number: np.ndarray
    """float64, shape (contigs,); how many each has, about."""

    @classmethod
    def of(cls, contigs: Reads, room: int | None, threads: int) -> Unique:
        """Find those of contigs: of many more than `MOST_KMERS` those with the smallest hashes."""
        sampled = min(1.0, MOST_KMERS / max(1, contigs.total_bases))
        kmers = int(sampled * contigs.total_bases)
        check_room(
            COUNTING + BYTES_A_KMER * kmers, room, f"{kmers:,} k-mers that ultra-long reads are laid on by"
        )
        found = count_kmers(
            contigs, K, lower=1, upper=1, sampled=sampled, threads=threads, memory=COUNTING
        ).occurrences
        sites = Sites(found >> 32, (found & 0xFFFFFFFF) >> 1)
        number = np.bincount(sites.contig, minlength=len(contigs)) / sampled
        return cls(sites, labelled(contigs, sites, found), number)


class Ways:
    """The ways along links from contig to contig.

    Parameters
    ----------
    contigs : Contigs
    unique : ndarray of float64, shape (contigs,)
        k-mers of each that occur once.
    """

    def __init__(self, contigs: Contigs, unique: np.ndarray) -> None:
        self._lengths, self._unseen = contigs.sequences.lengths.tolist(), (unique < UNSEEN).tolist()
        self._links: dict[int, list[tuple[int, int]]] = {}
        for source, target, overlap in both_ways(contigs):
            self._links.setdefault(source, []).append((target, overlap))

    def between(self, one: list[int], other: list[int]) -> list[Walk]:
        """Return at most two ways from one visit to another one that are as long as the read is there."""
        distance, slack = other[START] - one[END], SLACK + abs(other[START] - one[END]) // OF_LENGTH
        found, steps = list[Walk](), 0
        waiting: list[tuple[Walk, int]] = [((one[NODE],), self._lengths[one[NODE] >> 1] - one[ON_END])]
        while waiting and len(found) < 2:
            walk, behind = waiting.pop()
            for target, overlap in self._links.get(walk[-1], []):
                begins, steps = behind - overlap, steps + 1
                if target == other[NODE] and abs(begins + other[ON_START] - distance) <= slack:
                    found.append((*walk, target))
                if begins <= distance + slack and self._unseen[target >> 1]:
                    waiting.append(((*walk, target), begins + self._lengths[target >> 1]))
            if steps > _MOST_STEPS:
                found = 2 * [walk]
        return found


def walks_of(
    contigs: Contigs, unique: Unique, reads: Iterable[Reads], threads: int
) -> tuple[Counter[Walk], UltraLong]:
    """Return the walks of reads through two contigs or more, of either strand, and how many reads have each.

    Parameters
    ----------
    contigs : Contigs
    unique : Unique
        Of these contigs.
    reads : iterable of Reads
    threads : int
        Changes nothing but the time.
    """
    ways, walks, seen = Ways(contigs, unique.number), Counter[Walk](), Counter[str]()
    for part in reads:
        seen["reads"] += len(part)
        seen["bases"] += part.total_bases
        for visits in _visits_by_read(contigs.sequences.lengths, unique.table, part, threads):
            seen["on_contigs"] += 1
            seen["on_several"] += len(visits) > 1
            walk: Walk = (visits[0][NODE],)
            for one, other in itertools.pairwise(visits):
                found = ways.between(one, other)
                if len(found) == 1:
                    walk += found[0][1:]
                    continue
                seen["several_ways" if found else "without_way"] += 1
                walks[min(walk, mirrored(walk))] += len(walk) > 1
                walk = (other[NODE],)
            walks[min(walk, mirrored(walk))] += len(walk) > 1
    return +walks, UltraLong(**seen)


def mirrored(walk: Walk) -> Walk:
    """Return a walk on the other strand."""
    return tuple(node ^ 1 for node in reversed(walk))


def _visits_by_read(
    lengths: np.ndarray, table: np.ndarray, reads: Reads, threads: int
) -> Iterator[list[list[int]]]:
    """Yield the visits of each read that has some, along the read."""
    spans = spans_of(reads)

    def visits_of(block: tuple[int, int]) -> np.ndarray:
        first, last = np.searchsorted(spans.sequence, block)
        found = haplotype_kmers.visits_of_reads(table, spans, lengths, first, last, K)
        return found[found[:, ANCHORS] >= LEAST_ANCHORS]

    for visits in map_in_order(visits_of, even_ranges(reads.lengths, _BLOCK_BASES), threads):
        order = np.lexsort((visits[:, NODE], visits[:, START], -visits[:, ANCHORS], visits[:, READ]))
        for _, of_read in itertools.groupby(visits[order].tolist(), lambda visit: visit[READ]):
            kept = list[list[int]]()
            for one in of_read:
                shared = (min(one[END], other[END]) - max(one[START], other[START]) for other in kept)
                if 2 * max(shared, default=0) <= one[END] - one[START]:
                    kept.append(one)
            yield sorted(kept, key=lambda visit: visit[START])


def passages(walks: Counter[Walk], links: Iterable[tuple[int, int]]) -> tuple[list[Walk], set[int], set[int]]:
    """Return the passages that are taken, in order, each once.

    Parameters
    ----------
    walks : Counter of Walk
        Reads by their walk, in either direction.
    links : iterable of (int, int)
        Strands of contigs that may follow each other, in both directions.

    Returns
    -------
    taken : list of Walk
    too_few, contradicted : set of int
        Strands of contigs behind which none is taken, by the reason.
    """
    behind: dict[int, Counter[Walk]] = {}
    for walk, times in walks.items():
        for strand in (walk, mirrored(walk)):
            for at, node in enumerate(strand[:-1]):
                behind.setdefault(node, Counter())[strand[at + 1 :]] += times
    agreed, too_few = dict[int, Walk](), set[int]()
    for node, following in behind.items():
        agreed[node] = _agreed(following)
        if following.total() < LEAST_READS:
            too_few.add(node)
    others: dict[int, set[int]] = {}
    for source, target in links:
        others.setdefault(source, set()).add(target)
    wrong = set[Walk]()
    while True:
        nearest = {node: _nearest(node, agreed, wrong) for node in agreed}
        taken = {
            node: walk
            for node, walk in nearest.items()
            if walk and node != walk[-1] ^ 1 and nearest.get(walk[-1] ^ 1) == mirrored(walk)
        }
        reached = {node for walk in taken.values() for node in walk[1:]}
        losing = [walk for node, walk in taken.items() if others.get(node, set()) - reached]
        if not losing:
            break
        wrong |= {strand for walk in losing for strand in (walk, mirrored(walk))}
    return (
        sorted({min(walk, mirrored(walk)) for walk in taken.values()}),
        too_few - taken.keys(),
        agreed.keys() - too_few - taken.keys(),
    )


def _agreed(following: Counter[Walk]) -> Walk:
    """Return how far reads agree on what follows: enough of them, and few that went elsewhere before."""
    walk, elsewhere = Walk(), 0
    while True:
        steps = Counter[int]()
        for other, times in following.items():
            if len(other) > len(walk) and other[: len(walk)] == walk:
                steps[other[len(walk)]] += times
        if not steps:
            return walk
        step, times = min(steps.items(), key=lambda item: (-item[1], item[0]))
        elsewhere += steps.total() - times
        if times < LEAST_READS or times < TIMES * elsewhere:
            return walk
        walk += (step,)


def _nearest(node: int, agreed: dict[int, Walk], wrong: set[Walk]) -> Walk | None:
    """Return the shortest walk from a strand on which reads agree from both ends, but no wrong one."""
    for at, target in enumerate(agreed[node]):
        walk = (node, *agreed[node][: at + 1])
        if agreed.get(target ^ 1, ())[: at + 1] == mirrored(walk)[1:] and walk not in wrong:
            return walk
    return None
