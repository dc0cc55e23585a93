"""Ends of molecules, as `overlapper.graph.molecule_ends` defines them, read by read."""


def ends(placements, fewest, ragged):
    """Return which reads begin, and end, with a molecule.

    ``placements`` are half-open intervals of one sequence; reads overlap where these do.
    """
    return [
        (
            _ends([(-end, -start) for start, end in placements], read, fewest, ragged),
            _ends(placements, read, fewest, ragged),
        )
        for read in range(len(placements))
    ]


def _ends(placements, read, fewest, ragged):
    start, end = placements[read]
    others = [p for i, p in enumerate(placements) if i != read and p[0] < end and p[1] > start]
    shared = {p: min(end, p[1]) - max(start, p[0]) for p in others}
    beyond = max((shared[p] for p in others if p[1] > end + ragged), default=0)
    return sum(abs(p[1] - end) <= ragged and shared[p] > beyond for p in others) >= fewest
