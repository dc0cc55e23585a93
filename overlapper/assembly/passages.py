"""Contigs joined by the passages of ultra-long reads (``docs/algorithms/ultra-long.md``)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from overlapper.assembly.haplotigs import (
    Haplotig,
    Onward,
    Part,
    Way,
    add_both,
    both_ways,
    chained,
    place_of_join,
    spelled,
)
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.parents import Sites
from overlapper.assembly.pieces import K
from overlapper.assembly.steps import AssemblySteps
from overlapper.assembly.ultra_long import STAGE, Unique, Walk, passages, walks_of
from overlapper.correction.own_reads import OwnReads
from overlapper.graph.layout import unitig_names
from overlapper.tables import Reads


def join_by(steps: AssemblySteps, laid_out: LaidOut, reads: Iterable[Reads]) -> LaidOut:
    """Return contigs joined by ultra-long reads, which are read once.

    Parameters
    ----------
    steps : AssemblySteps
        Gets a stage, with what was seen.
    laid_out : LaidOut
    reads : iterable of Reads
        In parts, in any order.
    """
    contigs = laid_out.contigs
    unique = Unique.of(contigs.sequences, steps.room, steps.threads)
    walks, seen = walks_of(contigs, unique, reads, steps.threads)
    overlaps = {link[:2]: link[2] for link in both_ways(contigs)}
    taken, *refused = passages(walks, overlaps)
    onward, taken = _onward(contigs, overlaps, taken)
    gone = _used_up(overlaps, taken)
    too_few, contradicted = (sum(node >> 1 not in gone for node in nodes) for nodes in refused)
    seen = seen._replace(passages=len(taken), too_few=too_few, contradicted=contradicted)

    def make() -> tuple[LaidOut, dict[str, Any]]:
        kept = [contig for contig in range(len(contigs)) if contig not in gone]
        chains = chained(onward, contigs.sequences.lengths.tolist(), contigs.circular, kept)
        return joined(laid_out, chains, onward, unique.sites) if taken else laid_out, seen._asdict()

    return steps.stages.run(STAGE, LaidOut, [taken, seen._asdict()], make)[0]


def _onward(
    contigs: Contigs, overlaps: dict[tuple[int, int], int], taken: list[Walk]
) -> tuple[Onward, list[Walk]]:
    """Return what follows contigs by passages, and those of which all links have bases in common."""
    lengths, onward, made = contigs.sequences.lengths.tolist(), Onward(), list[Walk]()
    for walk in taken:
        ways, start = list[Way](), 0
        for source, target in itertools.pairwise(walk):
            place = place_of_join(contigs.sequences, source, target, overlaps[source, target])
            if not place or place[0] < start:
                break
            ways.append(Way(source, *place, target))
            start = place[1]
        else:
            add_both(onward, ways, lengths)
            made.append(walk)
    return onward, made


def _used_up(links: Iterable[tuple[int, int]], taken: list[Walk]) -> set[int]:
    """Return the contigs within passages of which no link is left, and that are an end of none."""
    used = {link for walk in taken for link in itertools.pairwise(walk)}
    used |= {(target ^ 1, source ^ 1) for source, target in used}
    stay = {end >> 1 for walk in taken for end in (walk[0], walk[-1])}
    stay |= {end >> 1 for link in links if link not in used for end in link}
    return {node >> 1 for walk in taken for node in walk} - stay


def joined(laid_out: LaidOut, chains: list[Haplotig], onward: Onward, sites: Sites) -> LaidOut:
    """Return chains of contigs as contigs.

    The reads of a contig that is there several times are dealt out, in the order of their places.

    Parameters
    ----------
    laid_out : LaidOut
    chains : list of Haplotig
        The longest one first.
    onward : Onward
        What they are chained by.
    sites : Sites
        k-mers of the contigs that occur once.
    """
    contigs = laid_out.contigs
    parts = np.array([part for one in chains for part in one.parts], np.int64).reshape(-1, 4)
    chain = np.repeat(np.arange(len(chains)), [len(one.parts) for one in chains])
    lengths = np.array([one.length for one in chains], np.int64)
    contig, bases = parts[:, 0], parts[:, 2] - parts[:, 1]
    before = np.cumsum(bases) - bases - (np.cumsum(lengths) - lengths)[chain]
    own = _dealt_out(laid_out.reads, parts, before, len(contigs))
    own = dataclasses.replace(own, unitig=chain[own.unitig], unitig_length=lengths[chain[own.unitig]])
    copies = np.bincount(contig, minlength=len(contigs))[contig]
    depth = np.bincount(chain, bases * contigs.depth[contig] / copies, len(chains)) / lengths
    circular = np.array([one.circular for one in chains], np.bool_)
    leaves = np.full(2 * len(contigs), -1)
    for number in np.flatnonzero(~circular).tolist():
        ends = chains[number].parts[-1], chains[number].parts[0]
        leaves[[_node(ends[0]), _node(ends[1]) ^ 1]] = 2 * number, 2 * number + 1
    source, target = leaves[contigs.link_source], leaves[contigs.link_target ^ 1]
    stay = (source >= 0) & (target >= 0)
    sequences = (spelled(one, contigs.sequences) for one in chains)
    made = Contigs(
        Reads.from_sequences(unitig_names(circular), sequences), circular, depth,
        np.bincount(own.unitig, minlength=len(chains)),
        source[stay], target[stay] ^ 1, contigs.link_overlap[stay],
    )  # fmt: skip
    return LaidOut(made, own, _carried(chains, onward, sites, len(contigs)))


def _node(part: Part) -> int:
    return 2 * part.contig + part.reverse


def _dealt_out(own: OwnReads, parts: np.ndarray, before: np.ndarray, contigs: int) -> OwnReads:
    """Return reads of contigs on parts of these, with the number of the part in place of the contig.

    Parameters
    ----------
    own : OwnReads
    parts : ndarray of int64, shape (n, 4)
        The fields of each `Part`.
    before : ndarray of int64, shape (n,)
        Where each begins.
    contigs : int
    """
    contig, start, end, reverse = parts.T
    own = own.take(np.lexsort((own.read, own.start, own.unitig)))
    order, numbers = np.argsort(contig, kind="stable"), np.arange(contigs + 1)
    rank = np.arange(len(own)) - np.searchsorted(own.unitig, numbers)[own.unitig]
    first = np.searchsorted(contig[order], numbers)
    part = order[first[own.unitig] + rank % np.diff(first)[own.unitig]]
    forward, turned = own.start - start[part], reverse[part].astype(np.bool_)
    backward = end[part] - own.start - (own.r_end - own.r_start)
    begin = before[part] + np.where(turned, backward, forward)
    return dataclasses.replace(own, unitig=part, start=begin, reverse=own.reverse ^ turned)


def _carried(chains: list[Haplotig], onward: Onward, sites: Sites, contigs: int) -> OwnReads:
    """Return the passages of chains as reads, each from the last site before it to the first one behind."""
    first, last = np.full(contigs, np.iinfo(np.int64).max), np.zeros(contigs, np.int64)
    np.minimum.at(first, sites.contig, sites.place)
    np.maximum.at(last, sites.contig, sites.place)
    rows = []
    for number, one in enumerate(chains):
        begin, at = 0, 0
        while at < len(one.parts) and (ways := onward.get(_node(one.parts[at]))):
            part = one.parts[at]
            start = part.end - first[part.contig] - K if part.reverse else last[part.contig] - part.start
            before = sum(part.end - part.start for part in one.parts[at : at + len(ways)])
            at += len(ways)
            part = one.parts[at % len(one.parts)]
            end = part.end - last[part.contig] if part.reverse else first[part.contig] + K - part.start
            rows.append((number, begin + start, before + end - start, one.length))
            begin += before
    chain, start, bases, length = np.array(rows, np.int64).reshape(-1, 4).T
    none = np.zeros(len(rows), np.int64)
    return OwnReads(chain, none, start, none, none, bases, length, bases)
