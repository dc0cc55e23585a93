"""Transitive reduction by trying every triple, until nothing changes.

Edges are ``{(source, target): length}``; the mirror of ``v -> w`` is ``w^1 -> v^1``.
"""


def reduce(edges, fuzz):
    while (kept := _round(edges, fuzz)) != edges:
        edges = kept
    return edges


def _round(edges, fuzz):
    transitive = set()
    for (v, x), direct in edges.items():
        for (source, w), near in edges.items():
            between = source == v and (w, x) in edges and (near, w) < (direct, x)
            if between and near + edges[w, x] <= direct + fuzz:
                transitive |= {(v, x), (x ^ 1, v ^ 1)}
    return {edge: length for edge, length in edges.items() if edge not in transitive}
