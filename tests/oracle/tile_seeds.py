"""Seeds of blocks and tiles, from the definition: entries are (hash, base number, strand), sorted."""

from itertools import groupby, pairwise


def groups(entries):
    """Return the entries of each hash, as lists, by hash."""
    return [list(group) for _, group in groupby(sorted(entries), key=lambda entry: entry[0])]


def repeated(entries):
    """Return the entries of hashes that occur at least twice."""
    return [entry for group in groups(entries) if len(group) > 1 for entry in group]


def by_block(entries, first_bases):
    """Return the entries of each block, base numbers counted from its start."""
    return [
        sorted((h, base - start, strand) for h, base, strand in entries if start <= base < stop)
        for start, stop in pairwise(first_bases)
    ]


def joined(queries, targets, first_target_base):
    """Return the entries of hashes that both blocks have, by hash, those of the queries first."""
    shared = {h for h, _, _ in queries} & {h for h, _, _ in targets}
    moved = [(h, base + first_target_base, strand) for h, base, strand in targets]
    return sorted(entry for entry in [*queries, *moved] if entry[0] in shared)


def by_read(entries, first_bases):
    """Return the positions of the entries of each read, ascending; reads start, and the last ends, there."""
    bases = sorted(base for _, base, _ in entries)
    return [[base - start for base in bases if start <= base < stop] for start, stop in pairwise(first_bases)]
