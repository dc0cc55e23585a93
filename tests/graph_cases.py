"""Graphs and read sets for tests of the overlap graph."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import strategies as st

from overlapper.graph.model import Contained, Containments, Edges, Graph, GraphReads
from overlapper.tables import Overlaps, Reads
from tests.oracle.strands import reverse_complement

LETTERS = np.frombuffer(b"ACGT", np.uint8)


def graph_of(bases, joins, molecule_ends=()):
    """Build a graph from read lengths and ``(source, target): (length, mirror's length, overlap)``.

    Molecules end where the nodes of ``molecule_ends`` do.
    """
    both = {}
    for (v, w), (length, back, overlap) in joins.items():
        both[v, w] = (length, overlap)
        both[w ^ 1, v ^ 1] = (back, overlap)
    rows = {}
    for v, w in both:
        rows.setdefault(min((v, w), (w ^ 1, v ^ 1)), len(rows))
    edges = sorted((v, length, w, overlap) for (v, w), (length, overlap) in both.items())
    columns = list(zip(*edges, strict=True)) or [()] * 4
    bases = np.array(bases, np.int32)
    ends = np.isin(np.arange(2 * len(bases)), list(molecule_ends))
    return Graph(
        GraphReads(read=np.arange(len(bases)), start=np.zeros(len(bases)), end=bases,
        depth=np.ones(len(bases)), begins_molecule=ends[1::2], ends_molecule=ends[::2],
        confirmed=np.zeros(len(bases), np.bool_)), Edges(
            source=columns[0], length=columns[1], target=columns[2], overlap=columns[3],
            row=[rows[min((v, w), (w ^ 1, v ^ 1))] for v, _, w, _ in edges],
        ),
        Contained.empty(),
        containments_of_reads(len(bases), [], []),
    ).validate()  # fmt: skip


def containments_of_reads(reads, inner, outer):
    """Return containments of reads, each on the forward strand and from the first base on."""
    size = len(inner)
    return Containments(
        order=np.arange(reads), inner=np.array(inner, np.int32), outer=np.array(outer, np.int32),
        reverse=np.zeros(size, np.bool_), position=np.zeros(size, np.int32), row=np.zeros(size, np.int64),
    )  # fmt: skip


def intervals_near(place, spread, length):
    """Return a strategy for intervals of a read, many of which begin or end near one place."""
    near, anywhere = st.integers(place - spread, place + spread), st.integers(0, length)
    pairs = st.one_of(st.tuples(anywhere, near), st.tuples(near, anywhere), st.tuples(anywhere, anywhere))
    return pairs.filter(lambda pair: pair[0] != pair[1]).map(lambda pair: (min(pair), max(pair)))


@st.composite
def graphs(draw, max_reads=7, max_joins=16, max_length=12, even=False):
    """Draw small graphs of any shape, with many ties; ``even`` gives mirrors the same length."""
    reads = draw(st.integers(1, max_reads))
    nodes = st.integers(0, 2 * reads - 1)
    pairs = draw(
        st.lists(st.tuples(nodes, nodes).filter(lambda p: p[0] >> 1 != p[1] >> 1), max_size=max_joins)
    )
    size = st.integers(1, max_length)
    joins = {}
    for v, w in pairs:
        if (w ^ 1, v ^ 1) not in joins:
            length = draw(size)
            joins[v, w] = (length, length if even else draw(size), draw(size))
    bases = draw(st.lists(st.integers(20, 24), min_size=reads, max_size=reads))
    return graph_of(bases, joins, draw(st.sets(nodes)))


def containing(built, containers, length):
    """Return the graph with reads of that length, numbered from its last read on, contained in others."""
    inner = len(containers)
    contained = Contained(
        read=len(built.reads) + np.arange(inner), container=np.array(containers), start=np.zeros(inner),
        end=np.full(inner, length), reverse=np.zeros(inner), position=np.zeros(inner), row=np.zeros(inner),
    )  # fmt: skip
    arrows = containments_of_reads(len(built.reads) + inner, contained.read, contained.container)
    return dataclasses.replace(built, contained=contained, containments=arrows)


@st.composite
def graphs_and_overlaps(draw):
    """Draw graphs whose reads contain others, and overlaps of all of them."""
    built = draw(graphs(max_joins=6))
    reads = len(built.reads)
    built = containing(built, draw(st.lists(st.integers(0, reads - 1), max_size=20)), 15)
    anyone = st.integers(0, reads + len(built.contained))  # the last one is laid out nowhere
    ends = st.tuples(st.integers(0, 9), st.integers(10, 20))
    pairs = draw(st.lists(st.tuples(anyone, anyone, ends, ends), max_size=30))
    return built, overlap_table([(a, b, 0, *of_a, *of_b) for a, b, of_a, of_b in pairs])


def overlapping(*pairs, bases=10):
    """Return overlaps of pairs of reads, all of as many bases."""
    return overlap_table([(a, b, 0, 0, bases, 0, bases) for a, b in pairs])


def overlap_spans(overlaps):
    """Return overlaps as ``(read, read, bases of the first, of the second)``."""
    spans = overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start
    return list(zip(*(column.tolist() for column in (overlaps.query, overlaps.target, *spans)), strict=True))


def edge_set(graph):
    """Return the edges by nodes of the reads they join, so that graphs of fewer reads compare."""
    e, read = graph.edges, graph.reads.read
    return {
        (2 * read[s >> 1] + (s & 1), 2 * read[t >> 1] + (t & 1)): (int(n), int(o))
        for s, t, n, o in zip(e.source, e.target, e.length, e.overlap, strict=True)
    }


def overlaps_of(graph):
    """Return the bases of the overlaps of edges, by nodes."""
    return {edge: overlap for edge, (_, overlap) in edge_set(graph).items()}


def read_set(genome, placements, *, circular=False):
    """Cut error-free reads ``(start, end, reverse)`` from a genome and find all their overlaps.

    Returns
    -------
    Reads, Overlaps
        Overlaps of every pair that shares 1 base or more of the genome, with alignments.
    """
    size = len(genome)
    text = genome * 2 if circular else genome
    sequences = [reverse_complement(text[s:e]) if r else text[s:e] for s, e, r in placements]
    rows = []
    for q, (qs, qe, q_reverse) in enumerate(placements):
        for t in range(q + 1, len(placements)):
            for shift in (-size, 0, size) if circular else (0,):
                ts, te, t_reverse = placements[t][0] + shift, placements[t][1] + shift, placements[t][2]
                start, end = max(qs, ts), min(qe, te)
                if start < end:
                    on_q = (qe - end, qe - start) if q_reverse else (start - qs, end - qs)
                    on_t = (te - end, te - start) if t_reverse else (start - ts, end - ts)
                    rows.append((q, t, q_reverse != t_reverse, *on_q, *on_t))
    return Reads.from_sequences([f"r{i}" for i in range(len(sequences))], sequences), overlap_table(rows)


def overlap_table(rows):
    """Build overlaps without gaps of ``query, target, reverse, q_start, q_end, t_start, t_end``."""
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    span = columns[4] - columns[3]
    zero = np.zeros(len(span))
    return Overlaps(
        query=columns[0], target=columns[1], reverse=columns[2], q_start=columns[3], q_end=columns[4],
        t_start=columns[5], t_end=columns[6], matches=span, block_length=span, score=span, seeds=zero,
        divergence=zero, kind=zero, cigar=span << 4 | 7, cigar_offsets=np.arange(len(span) + 1),
    )  # fmt: skip


def random_genome(size, seed):
    return LETTERS[np.random.default_rng(seed).integers(0, 4, size)].tobytes().decode()


def tiled(size, read_length, step, seed, *, circular=False):
    """Place reads every ``step`` bases, strands at random, lengths jittered by up to a tenth.

    On a linear genome the last read ends where the genome does.
    """
    draw = np.random.default_rng(seed)
    placements = []
    for start in range(0, size if circular else size - read_length, step):
        length = read_length + int(draw.integers(-read_length // 10, read_length // 10))
        end = start + length if circular else min(start + length, size)
        placements.append((start, end, bool(draw.integers(2))))
    return placements if circular else [*placements, (size - read_length, size, bool(draw.integers(2)))]


def two_paths(seed=1, chimeras=0):
    """Cut reads from two genomes that share their middle and find the overlaps within and across.

    A chimera joins the middle of one genome to the end of the other; its overlaps are found with it.

    Returns
    -------
    Reads, Overlaps
    """
    draw = np.random.default_rng(seed)
    shared, *tails = (random_genome(n, int(draw.integers(1 << 30))) for n in (600, 900, 900, 900, 900))
    genomes = [tails[0] + shared + tails[1], tails[2] + shared + tails[3]]
    reads = [
        [(g, s, min(s + 500 + 7 * i, 2400))]
        for g in (0, 1)
        for i, s in enumerate(range(0, 2000, int(130 + 9 * g)))
    ]
    reads += [[(0, 300 + 50 * i, 600 + 50 * i), (1, 1500, 1850 + 40 * i)] for i in range(chimeras)]
    strands = draw.integers(0, 2, len(reads)).astype(bool)
    sequences = ["".join(genomes[g][s:e] for g, s, e in pieces) for pieces in reads]
    rows = [
        (a, b, bool(strands[a] != strands[b]), *_flipped(on_a, strands[a], len(sequences[a])),
         *_flipped(on_b, strands[b], len(sequences[b])))
        for a in range(len(reads)) for b in range(a + 1, len(reads)) for on_a, on_b in _shared(reads[a],
        reads[b])
    ]  # fmt: skip
    stored = [reverse_complement(x) if r else x for x, r in zip(sequences, strands, strict=True)]
    return Reads.from_sequences([f"r{i}" for i in range(len(reads))], stored), overlap_table(rows)


def _shared(pieces, others):
    """Yield the intervals that two reads share, on the strand of the genomes."""
    offset = 0
    for g, start, end in pieces:
        other_offset = 0
        for other, other_start, other_end in others:
            low, high = max(start, other_start), min(end, other_end)
            if other != g:
                low, high = max(low, 900), min(high, 1500)
            if high - low >= 60:
                first, second = offset - start, other_offset - other_start
                yield (low + first, high + first), (low + second, high + second)
            other_offset += other_end - other_start
        offset += end - start


def _flipped(interval, reverse, length):
    return (length - interval[1], length - interval[0]) if reverse else interval
