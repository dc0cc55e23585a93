"""Contigs of each haplotype, and primary contigs, assembled from contigs and their pieces.

Definitions are in ``docs/algorithms/haplotypes.md``.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.laid_out import Contigs
from overlapper.graph.stats import length_figures
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.text.spelling import spell
from overlapper.runtime.messages import counted
from overlapper.tables import Reads

PROBE = 101
"""Bases that both sides of a join have in common."""
_PROBES = 8
MANY_COPIES = 2.5
"""Bases of all contigs, for one of primary contigs, from which on more copies than two are told."""


class Part(NamedTuple):
    """A stretch of a contig, half open on its forward strand."""

    contig: int
    start: int
    end: int
    reverse: bool


@dataclasses.dataclass(frozen=True)
class Haplotig:
    """Successive stretches of contigs: of one phase block, or shared, with none (0)."""

    parts: list[Part]
    block: int
    circular: bool

    @property
    def length(self) -> int:
        """Bases."""
        return sum(part.end - part.start for part in self.parts)


class Way(NamedTuple):
    """How a strand of a contig continues in one of another."""

    source: int
    stop: int
    """Base of the source before which it ends."""
    start: int
    """Base of the target with which it goes on."""
    target: int


Onward = dict[int, list[Way]]
"""What follows strands of contigs: the last target is chained, those before it are copied."""


@dataclasses.dataclass(frozen=True)
class Haplotypes:
    """Two haplotypes of an assembly."""

    phased: Phased
    depth: float
    """Reads that cover a base of one haplotype."""
    first: list[Haplotig]
    second: list[Haplotig]
    primary: list[Haplotig]

    @classmethod
    def of(cls, contigs: Contigs, phased: Phased, depth: float) -> Self:
        """Return both haplotypes and the primary contigs; arguments are those of `primary`, and the depth."""
        one, other = (of_haplotype(phased, contigs.circular, number) for number in (1, 2))
        return cls(phased, depth, one, other, primary(contigs, phased))

    def decision(self) -> str:
        """Text that says that there are two haplotypes, and how much of them is phased."""
        figures = self.figures()
        text = (
            f"two haplotypes, each covered {self.depth:.3g} times: {figures['phased bases']:,} bases are in "
            f"{counted(figures['phase blocks'], 'phase block')}"
        )
        if self.phased.hic:
            text += f"; {self.phased.hic.told()}"
        copies = int(self.phased.pieces.lengths.sum()) / max(1, figures["primary"]["bases"])
        if copies < MANY_COPIES:
            return text
        return f"{text}; contigs have {copies:.1f} copies of each place, which hap1 and hap2 share"

    def warnings(self) -> list[str]:
        """Say that Hi-C reads are of no use, if they are not."""
        return self.phased.hic.warnings() if self.phased.hic else []

    def figures(self) -> dict[str, Any]:
        """Return figures of the haplotypes."""
        named = {"hap1": self.first, "hap2": self.second, "primary": self.primary}
        lengths = {name: np.array([one.length for one in of], np.int64) for name, of in named.items()}
        phased = self.phased.pieces.lengths[self.phased.block > 0]
        return {
            "depth of a haplotype": round(self.depth, 2),
            "phase blocks": int(self.phased.block.max(initial=0)),
            "phased bases": int(phased.sum()),
            **({"hic": self.phased.hic._asdict()} if self.phased.hic else {}),
            **{name: length_figures(of) for name, of in lengths.items()},
        }


def of_haplotype(phased: Phased, circular: np.ndarray, haplotype: int) -> list[Haplotig]:
    """Return the contigs of one haplotype, longest first; shared pieces go with the piece before them.

    Parameters
    ----------
    phased : Phased
    circular : ndarray of bool, shape (contigs,)
    haplotype : int
        1 or 2.
    """
    found: list[Haplotig] = []
    pieces = phased.pieces
    columns = (pieces.contig, pieces.start, pieces.end, phased.block, phased.haplotype)
    for contig, start, end, block, of in zip(*(column.tolist() for column in columns), strict=True):
        if of not in (0, haplotype):
            continue
        last = found[-1] if found else None
        if (
            last
            and last.parts[0].contig == contig
            and last.parts[0].end == start
            and (not block or last.block in (0, block))
        ):
            found.pop()
            start, block = last.parts[0].start, block or last.block
        found.append(Haplotig([Part(contig, start, end, False)], block, False))
    ends = np.zeros(len(circular), np.int64)
    np.maximum.at(ends, pieces.contig, pieces.end)
    found = [
        dataclasses.replace(
            one, circular=bool(circular[one.parts[0].contig] and one.length == ends[one.parts[0].contig])
        )
        for one in found
    ]
    return sorted(found, key=lambda one: (-one.length, one.parts[0]))


def chosen_contigs(phased: Phased, lengths: np.ndarray) -> np.ndarray:
    """Return a mask of primary contigs: from the longest on, those less than half opposite to primary ones.

    Parameters
    ----------
    phased : Phased
    lengths : ndarray of int64, shape (contigs,)
    """
    chosen = np.zeros(len(lengths), np.bool_)
    opposite: list[list[tuple[int, int]]] = [[] for _ in lengths]
    for one, other, bases in phased.opposite:
        opposite[one].append((other, bases))
        opposite[other].append((one, bases))
    for one in np.argsort(-lengths, kind="stable"):
        there = sum(bases for other, bases in opposite[one] if chosen[other])
        chosen[one] = 2 * there < lengths[one]
    return chosen


def primary(contigs: Contigs, phased: Phased) -> list[Haplotig]:
    """Return primary contigs, longest first, joined where only one may follow another, or closed to a circle.

    Parameters
    ----------
    contigs : Contigs
    phased : Phased
    """
    sequences, circular = contigs.sequences, contigs.circular
    lengths, chosen = sequences.lengths.tolist(), chosen_contigs(phased, sequences.lengths)
    is_open = chosen & ~circular
    ways = [way for way in both_ways(contigs) if is_open[way[0] >> 1] and is_open[way[1] >> 1]]
    leaving, entering = (
        np.bincount([way[end] for way in ways], minlength=2 * len(lengths)) for end in (0, 1)
    )
    onward: Onward = {}
    for source, target, overlap in ways:
        if leaving[source] > 1 or entering[target] > 1 or source == target ^ 1 or source in onward:
            continue
        place = place_of_join(sequences, source, target, overlap)
        if place and (source != target or place[1] < place[0]):  # some of a circle has to be left
            add_both(onward, [Way(source, *place, target)], lengths)
    return chained(onward, lengths, circular, np.flatnonzero(chosen).tolist())


def add_both(onward: Onward, ways: list[Way], lengths: list[int]) -> None:
    """Add some ways, one after the other, as what follows their first source, and their mirrors."""
    back = [
        Way(
            way.target ^ 1,
            lengths[way.target >> 1] - way.start,
            lengths[way.source >> 1] - way.stop,
            way.source ^ 1,
        )
        for way in reversed(ways)
    ]
    onward[ways[0].source], onward[back[0].source] = ways, back


def chained(onward: Onward, lengths: list[int], circular: np.ndarray, chosen: list[int]) -> list[Haplotig]:
    """Return chains of contigs, longest first, each of the chosen ones in one of them.

    Parameters
    ----------
    onward : Onward
        Of both strands.
    lengths : list of int
        Bases of all contigs.
    circular : ndarray of bool, shape (contigs,)
    chosen : list of int
    """
    before = {ways[-1].target: ways[0].source for ways in onward.values()}
    found, done = list[Haplotig](), set[int]()
    for contig in chosen:
        if contig in done:
            continue
        node = 2 * contig
        while before.get(node, 2 * contig) != 2 * contig:
            node = before[node]
        closes = node in before  # the way back has no first one
        parts, start = [], onward[before[node]][-1].start if closes else 0
        while node >> 1 not in done:
            done.add(node >> 1)
            for way in onward.get(node, [Way(node, lengths[node >> 1], 0, node)]):
                parts.append(_part(way.source, start, way.stop, lengths[way.source >> 1]))
                node, start = way.target, way.start
        found.append(Haplotig(parts, 0, closes or bool(circular[contig])))
    return sorted(found, key=lambda one: (-one.length, one.parts[0]))


def both_ways(contigs: Contigs) -> list[tuple[int, int, int]]:
    """Return all links and their mirrors: source, target, bases that the reads there shared."""
    columns = (contigs.link_source, contigs.link_target, contigs.link_overlap)
    there = {
        (source, target): overlap
        for source, target, overlap in zip(*map(np.ndarray.tolist, columns), strict=True)
    }
    back = {(target ^ 1, source ^ 1): overlap for (source, target), overlap in there.items()}
    return [(source, target, overlap) for (source, target), overlap in (there | back).items()]


def join(left: str, right: str, overlap: int) -> tuple[int, int] | None:
    """Find where a sequence may continue in another one.

    Parameters
    ----------
    left, right : str
        The last bases of the one are about the first of the other.
    overlap : int
        About how many.

    Returns
    -------
    (int, int) or None
        Base of the one before which it ends, and that with which the other one goes on: in the middle of the
        overlap, where this is exact. None where they do not have `PROBE` bases in a row in common, at several
        places from there on.
    """
    if overlap >= PROBE and left.endswith(right[:overlap]):
        return len(left) - overlap + overlap // 2, overlap // 2
    tail = max(0, len(left) - overlap - overlap // 20 - PROBE)
    for number in range(_PROBES):
        at = overlap // 2 + (number + 1) // 2 * (-1) ** number * overlap // (_PROBES + 1)
        place = left.find(right[at : at + PROBE], tail)
        if place >= 0 and at + PROBE <= len(right):
            return place, at
    return None


def place_of_join(contigs: Reads, source: int, target: int, overlap: int) -> tuple[int, int] | None:
    """Find where a strand of a contig may continue in that of another one, as `join` does."""
    length, near = int(contigs.lengths[source >> 1]), overlap + overlap // 20 + PROBE
    ends = (
        _part(source, max(0, length - near), length, length),
        _part(target, 0, near, int(contigs.lengths[target >> 1])),
    )
    left, right = (spelled(Haplotig([end], 0, False), contigs) for end in ends)
    place = join(left, right, overlap)
    return place and (place[0] + max(0, length - near), place[1])


def spelled(haplotig: Haplotig, contigs: Reads) -> str:
    """Return the bases of a haplotig."""
    contig, start, end, reverse = np.array(haplotig.parts, np.int64).T.copy()
    bases = spell(PackedReads.of(contigs), contig.astype(np.int32), start, end, reverse.astype(np.bool_))
    return bases.tobytes().decode()


def _part(node: int, start: int, stop: int, length: int) -> Part:
    """Convert a stretch on a strand of a contig to its forward strand."""
    stop = min(stop, length)
    if node & 1:
        return Part(node >> 1, length - stop, length - start, True)
    return Part(node >> 1, start, stop, False)
