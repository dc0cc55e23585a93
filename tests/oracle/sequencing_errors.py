"""Errors put into a template, base by base.

An error begins at a base, is of some bases, and is a deletion or substitution of that base and those behind
it, or an insertion before it. Of a base that is deleted and substituted the deletion counts.
"""


def with_errors(template, errors):
    """Return the read, the columns of its alignment to the template, and how many of them match.

    Parameters
    ----------
    template : sequence of int
        Base codes.
    errors : list of (int, int, str)
        Where an error begins, its bases, and ``deletion``, ``substitution`` or ``insertion``; at most one
        begins at a base.

    Returns
    -------
    list
        Base codes; -1 - code for a base that replaces another one. Inserted bases are copies of the one that
        they stand before.
    int, int
    """
    inserted, fate = {}, {}
    for start, length, kind in errors:
        if kind == "insertion":
            inserted[start] = length
            continue
        for place in range(start, min(start + length, len(template))):
            if fate.get(place) != "deletion":
                fate[place] = kind
    read, columns, matches = [], 0, 0
    for place, base in enumerate(template):
        kind = fate.get(place)
        # Copies are of the base that stands in the read, which a substitution changes.
        shown = -1 - base if kind == "substitution" else base
        before = inserted.get(place, 0)
        read += [shown] * before
        columns += before + 1
        if kind != "deletion":
            read.append(shown)
        matches += kind is None
    return read, columns, matches
