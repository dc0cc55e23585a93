"""Which minimizers seed in which reads, from the definition in overlapper/sketch/deep_reads.py."""

from collections import Counter
from itertools import pairwise


def stretches(length, stretch):
    """Return the stretches of a read, the last one to its end."""
    starts = [i * stretch for i in range(max(1, length // stretch))]
    return list(pairwise([*starts, max(length, 1)]))


def repeated_ones(found, lengths, times, limit):
    """Return the frequent minimizers that reads hold several times."""
    followed = Counter()
    for read, length in zip(found, lengths, strict=True):
        last = {}
        for value, position, _ in read:
            if value in last and 2 * (position - last[value]) <= length:
                followed[value] += 1
            last[value] = position
    return {value for value, n in followed.items() if times[value] > limit and 4 * n >= times[value]}


def deep_reads(found, lengths, limit, stretch, least_share):
    """Return for each read whether it is deep; ``found`` are its (hash, position, strand)."""
    times = Counter(value for read in found for value, _, _ in read)
    seeds = sum(n for n in times.values() if 2 <= n <= limit)
    repeated = repeated_ones(found, lengths, times, limit)
    deep = []
    for read, length in zip(found, lengths, strict=True):
        first = {value: position for value, position, _ in reversed(read) if times[value] > limit}
        counts = [sum(a <= p < b for p in first.values()) for a, b in stretches(length, stretch)]
        crowded = [n for n in counts if n and n * least_share * sum(lengths) >= stretch * seeds]
        frequent = [value for value, _, _ in read if times[value] > limit]
        few_repeated = 3 * sum(value in repeated for value in frequent) <= len(frequent)
        deep.append(4 * len(crowded) >= 3 * len(counts) and few_repeated)
    return deep


def pairs(n):
    return n * (n - 1) // 2


def seeding(found, lengths, limit, stretch, least_share, most_hits):
    """Return the minimizers of each read that seed."""
    times = Counter(value for read in found for value, _, _ in read)
    deep = deep_reads(found, lengths, limit, stretch, least_share)
    among_deep = Counter(
        value
        for read, is_deep in zip(found, deep, strict=True)
        for value, _, _ in read
        if is_deep and times[value] > limit
    )
    among_deep = {value: n for value, n in among_deep.items() if 10 * n >= 9 * times[value]}
    room = most_hits * sum(pairs(n) for n in times.values() if 2 <= n <= limit)
    most = max(
        (m for m in among_deep.values() if sum(pairs(n) for n in among_deep.values() if n <= m) <= room),
        default=0,
    )
    return [
        [
            minimizer
            for minimizer in read
            if 2 <= times[minimizer[0]] <= limit or (is_deep and 1 <= among_deep.get(minimizer[0], 0) <= most)
        ]
        for read, is_deep in zip(found, deep, strict=True)
    ]
