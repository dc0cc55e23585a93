"""Transitive reduction by dense matrices, until nothing changes.

Edges are ``{(source, target): length}``; the mirror of ``v -> w`` is ``w^1 -> v^1``.
"""

INFINITY = float("inf")


def reduce(edges, fuzz):
    by_two = _fixed_point(edges, fuzz, lambda left: left)
    return _fixed_point(by_two, fuzz, _closure)


def _fixed_point(edges, fuzz, paths_of):
    while True:
        kept = _round(edges, fuzz, paths_of)
        if kept == edges:
            return kept
        edges = kept


def _round(edges, fuzz, paths_of):
    transitive = set()
    for v in {source for source, _ in edges}:
        paths = paths_of({e: n for e, n in edges.items() if e[1] != v})
        for x in {target for source, target in edges if source == v}:
            direct = edges[v, x]
            for (source, w), near in paths.items():
                between = source == v and (w, x) in edges and (near, w) < (direct, x)
                if between and near + edges[w, x] <= direct + fuzz:
                    transitive.add((v, x))
    transitive |= {(x ^ 1, v ^ 1) for v, x in transitive}
    return {e: n for e, n in edges.items() if e not in transitive}


def _closure(edges):
    nodes = {node for edge in edges for node in edge}
    paths = dict(edges)
    for middle in nodes:
        for a in nodes:
            for b in nodes:
                around = paths.get((a, middle), INFINITY) + paths.get((middle, b), INFINITY)
                if around < paths.get((a, b), INFINITY):
                    paths[a, b] = around
    return paths
