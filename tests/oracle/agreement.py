"""Which reads have each base of a contig that exact overlaps were laid out to, base by base."""


def agreeing_reads(unitigs, places, overlaps):
    """Return for each unitig the set of reads that have each of its bases.

    A unitig is ``(bases, is it circular)``. Read ``i`` lies at ``places[i]``, which is ``(unitig, start,
    reverse, first, end)``, the last two of the read. An overlap is ``(query, target, reverse, q_start, q_end,
    t_start, t_end)``.
    """
    found = [[set() for _ in range(bases)] for bases, _ in unitigs]

    def agrees(reader, read, base):
        """Note that a reader has a base of a read that is laid out."""
        unitig, start, reverse, first, end = places[read]
        if first <= base < end:
            bases, circular = unitigs[unitig]
            at = start + (end - 1 - base if reverse else base - first)
            if circular:
                found[unitig][at % bases].add(reader)
            elif 0 <= at < bases:
                found[unitig][at].add(reader)

    for read, (*_, first, end) in enumerate(places):
        for base in range(first, end):
            agrees(read, read, base)
    for query, target, _, q_start, q_end, t_start, t_end in overlaps:
        if query < len(places):
            for base in range(q_start, q_end):
                agrees(target, query, base)
        if target < len(places):
            for base in range(t_start, t_end):
                agrees(query, target, base)
    return found
