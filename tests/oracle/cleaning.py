"""Cleaning steps on dictionaries, one round each, from their definitions.

A graph is ``edges``, ``{(source, target): overlap}`` with mirrors ``target^1 -> source^1``, and ``bases``,
the length of every read. Nodes are ``2 * read`` and ``2 * read + 1``. Steps return sets of reads, or of edges
with their mirrors.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction


def after(edges, v):
    return sorted(w for source, w in edges if source == v)


def before(edges, v):
    return sorted(source for source, w in edges if w == v)


def follower(edges, v):
    """Return the one node after ``v`` of which ``v`` is the one node before, or None."""
    found = after(edges, v)
    return found[0] if len(found) == 1 and before(edges, found[0]) == [v] else None


def chain_from(edges, v):
    chain = [v]
    while (w := follower(edges, chain[-1])) is not None and w not in chain:
        chain.append(w)
    return chain


def dead_end_chains(edges, bases, most):
    starts = [v for v in range(2 * len(bases)) if not before(edges, v)]
    return [chain for chain in (chain_from(edges, v) for v in starts) if len(chain) <= most]


def tips(edges, lengths, bases, molecule_ends, stay, most):
    """``lengths`` are those of the edges; molecules end where the nodes of ``molecule_ends`` do; chains that
    begin with the reads ``stay`` are no tips.
    """
    found = [
        chain
        for chain in dead_end_chains(edges, bases, most)
        if after(edges, chain[-1]) and chain[0] >> 1 not in stay
    ]

    def rivals(neighbour):
        return {rival: [c for c in found if c[-1] == rival] for rival in before(edges, neighbour)}

    def quality(chain, neighbour):
        beyond = sum(lengths[w ^ 1, v ^ 1] for v, w in itertools.pairwise([*chain, neighbour]))
        return beyond, len(chain), -(chain[0] >> 1)

    def outdone(chain, neighbour):
        this = quality(chain, neighbour)
        return any(
            not chains or quality(chains[0], neighbour) > this for chains in rivals(neighbour).values()
        )

    def ends_molecule(chain):
        return chain[0] ^ 1 in molecule_ends

    def outdone_at_an_end(chain, neighbour):
        ends = [c for chains in rivals(neighbour).values() for c in chains if ends_molecule(c)]
        return max(ends, key=lambda c: (edges[c[-1], neighbour], -(c[0] >> 1))) != chain

    reads, cut = set(), set()
    for chain in found:
        end = chain[-1]
        neighbours = after(edges, end)
        most = max(edges[end, w] for w in neighbours)
        best = nearest(edges, end, [w for w in neighbours if edges[end, w] == most])
        if (outdone_at_an_end if ends_molecule(chain) else outdone)(chain, best):
            reads |= {v >> 1 for v in chain}
        else:
            others = [w for w in neighbours if w != best and outdone(chain, w)]
            cut |= {edge for w in others for edge in ((end, w), (w ^ 1, end ^ 1))}
    return reads, cut


def nearest(edges, v, candidates):
    """Return the first candidate in the order of the edges of ``v``, which the caller's edges keep."""
    return next(w for source, w in edges if source == v and w in candidates)


def forked_ends(edges, bases, most):
    """The reads of the ends, and the edges of the forks but the best."""
    reads, cut = set(), set()
    for chain in dead_end_chains(edges, bases, most):
        end = chain[-1]
        neighbours = after(edges, end)
        longest = max((edges[end, w] for w in neighbours), default=0)
        best = [w for w in neighbours if edges[end, w] == longest]
        if len(neighbours) > 1:
            reads |= {v >> 1 for v in chain}
            others = set(neighbours) - {nearest(edges, end, best)}
            cut |= {edge for w in others for edge in ((end, w), (w ^ 1, end ^ 1))}
    return reads, cut


def regained_tips(edges, reads, whole, confirmed):
    """The reads and edges that dead ends get back, of a graph whose ``reads`` and ``edges`` are left of
    ``whole``, the edges before; their order is that of the edges of each node.
    """
    there, again = set(reads), set()
    for v in (2 * read + strand for read in sorted(reads) for strand in (0, 1)):
        way = [v]
        while not after(edges, v):
            on = [
                w for source, w in whole if source == way[-1] and w >> 1 not in there | {x >> 1 for x in way}
            ]
            on = [w for w in on if not {x >> 1 for x in before(whole, w)} & (there - {v >> 1})]
            if not on:
                break
            way.append(max(on, key=lambda w: (w >> 1 in confirmed, whole[way[-1], w])))
        if not after(edges, v) and not after(whole, way[-1]):
            there |= {node >> 1 for node in way}
            again |= {e for x, y in itertools.pairwise(way) for e in ((x, y), (y ^ 1, x ^ 1))}
    return there - reads, again


def islands(edges, bases, most):
    return {
        v >> 1 for chain in dead_end_chains(edges, bases, most) if not after(edges, chain[-1]) for v in chain
    }


def with_their_own(short, others, bases, overlaps, most):
    """Return the short unitigs that have sequence of their own, in the order in which they are found.

    ``short`` and ``others`` are unitigs ``(bases, reads of the path, reads that these contain)``, longest
    first; ``bases`` those of each read, ``overlaps`` are ``(read, read, bases of the first, of the second)``.
    """
    found = []
    for unitig in sorted(short, key=lambda unitig: -len(unitig[1]) - len(unitig[2])):
        own = set(unitig[1]) | set(unitig[2])
        beside = {read for _, path, _ in others + found for read in path}
        fit = set()
        for a, b, of_a, of_b in overlaps:
            fit |= {a} if b in beside and 2 * of_a >= bases[a] else set()
            fit |= {b} if a in beside and 2 * of_b >= bases[b] else set()
        alone = len(own - fit)
        if alone > most and alone >= len(own) / 2:
            found.append(unitig)
    return found


def weak(edges, ratio, is_shared, confirmed=frozenset()):
    """``ratio`` is a Fraction; ``is_shared(v, b, w)`` tells whether ``v`` is of both ``b`` and ``w``.

    Edges that alone lead to their targets stay between ``confirmed`` reads, too.
    """
    found = set()
    for (v, w), overlap in edges.items():
        most = max(edges[v, x] for x in after(edges, v))
        if overlap < ratio * most and not is_undecided(edges, v, w, is_shared, confirmed):
            found |= {(v, w), (w ^ 1, v ^ 1)}
    return found


def is_undecided(edges, v, w, is_shared, confirmed):
    most = max(edges[v, x] for x in after(edges, v))
    b = nearest(edges, v, [x for x in after(edges, v) if edges[v, x] == most])
    one_of_four = any(
        u != v and (u, b) in edges and edges[v, w] + edges[u, b] == edges[v, b] + edges[u, w]
        for u in before(edges, w)
    )
    both = is_shared(v, b, w) or {v >> 1, w >> 1} <= confirmed
    return one_of_four or (both and before(edges, w) == [v])


def is_nearer_both(edges, bases, depths, v, b, w):
    """Whether the depth of ``v`` is nearer to that of both ways on than to that of ``b`` alone."""

    def depth_beyond(node):
        reads = {x >> 1 for x in chain_from(edges, node) + chain_from(edges, node ^ 1)}
        return sum(bases[i] * depths[i] for i in reads) / sum(bases[i] for i in reads)

    return depths[v >> 1] >= depth_beyond(b) + depth_beyond(w) / 2


def superbubbles(edges, reads, lengths, max_bases):
    """Return ``(source, sink, nodes between)`` of every bubble; a source has at most one."""
    nodes = range(2 * reads)
    found = []
    for source in nodes:
        if len(after(edges, source)) < 2:
            continue
        fitting = [
            (source, sink, inner)
            for sink in nodes
            if sink >> 1 != source >> 1 and (inner := _between(edges, source, sink)) is not None
            if _fits(edges, lengths, source, sink, inner, max_bases)
        ]
        # Of nested candidates the innermost is the bubble.
        found += sorted(fitting, key=lambda bubble: len(bubble[2]))[:1]
    return found


def _reach(edges, start, stop, step):
    seen, waiting = {start}, [start]
    while waiting:
        v = waiting.pop()
        if v != stop:
            fresh = set(step(edges, v)) - seen
            seen |= fresh
            waiting += fresh
    return seen


def _between(edges, source, sink):
    forward, backward = _reach(edges, source, sink, after), _reach(edges, sink, source, before)
    return forward - {source, sink} if sink in forward and forward == backward else None


def _fits(edges, lengths, source, sink, inner, max_bases):
    inside = {(v, w) for v, w in edges if v in inner | {source} and w in inner | {sink}}
    if any((v, source) in edges or (sink, v) in edges for v in inner):
        return False
    reads = [v >> 1 for v in inner | {source, sink}]
    if len(set(reads)) < len(reads):
        return False
    order = []
    while len(order) < len(inner) + 2:
        free = [
            v
            for v in inner | {source, sink}
            if v not in order and all(p in order for p, w in inside if w == v)
        ]
        if not free:
            return False
        order += free
    distance = {source: 0}
    for v in order[1:]:
        steps = [distance[p] + lengths[p, v] for p, w in inside if w == v]
        if max(steps) > max_bases:
            return False
        distance[v] = min(steps)
    return True


def best_path(edges, source, sink):
    """Return the best path: each node's best way in goes on from the best way to the node before."""

    def best(v):
        if v == source:
            return math.inf, 0, 0, [source]
        ways = []
        for p in before(edges, v):
            shortest, overlap, _, path = best(p)
            ways.append((min(shortest, edges[p, v]), overlap + edges[p, v], -p, [*path, v]))
        return max(ways)

    return best(sink)[-1]


def joined(pairs, size):
    """Return the component of each item, pairs of which are joined, numbered by their first items."""
    component = list(range(size))
    for a, b in pairs:
        old, new = component[a], component[b]
        component = [new if c == old else c for c in component]
    return [list(dict.fromkeys(component)).index(c) for c in component]


def remnants(unitigs, links, overlaps, share):
    """Return the unitigs that go.

    Each is ``(bases, bases of its own reads, reads of its path, reads these contain)``; a link joins two, an
    overlap is ``(read, other, interval on the read, interval on the other)``.
    """
    component = joined(links, len(unitigs))
    path, placed = {}, {}
    for (_, _, on_path, inside), label in zip(unitigs, component, strict=True):
        path |= dict.fromkeys(on_path, label)
        placed |= dict.fromkeys([*on_path, *inside], label)

    def of(label):
        members = [unitig for unitig, c in zip(unitigs, component, strict=True) if c == label]
        bases = sum(unitig[0] for unitig in members)
        return bases, Fraction(sum(unitig[1] for unitig in members), bases)

    found = {label: of(label) for label in sorted(set(component), key=component.index)}
    half, below = sum(bases for bases, _ in found.values()) / 2, 0
    for bases, own in sorted(found.values(), key=lambda part: part[1]):
        below += bases
        if below >= half:
            usual = own
            break

    def is_elsewhere(label):
        more = Counter()  # overlaps with others, less own ones, at each base of each read
        for a, b, on_a, on_b in overlaps:
            for read, other, interval in ((a, b, on_a), (b, a, on_b)):
                if path.get(read) == label and other in placed:
                    for base in range(*interval):
                        more[read, base] += -1 if placed[other] == label else 1
        return sum((n > 0) - (n < 0) for n in more.values()) > 0

    gone = {label for label, (_, own) in found.items() if own < usual / share and is_elsewhere(label)}
    return {u for u, c in enumerate(component) if c in gone}
