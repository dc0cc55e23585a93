"""How often the k-mers of deep reads occur, from the definition in overlapper/sketch/depth.py."""

from collections import Counter
from itertools import pairwise

ERRORS = 8


def stretches(samples, stretch):
    """Cut the samples of a read into stretches that are as even as they can be."""
    parts = max(1, len(samples) // stretch)
    bounds = [part * len(samples) // parts for part in range(parts + 1)]
    return [samples[a:b] for a, b in pairwise(bounds)]


def deep_molecules(reads, stretch, least, sure):
    """Return the frequent samples of which half are in reads that are deep all along."""
    times = Counter(sample for read in reads for sample in read)
    all_along = [
        read
        for read in reads
        if all(sum(times[s] >= least for s in part) >= sure(len(part)) for part in stretches(read, stretch))
    ]
    among = Counter(sample for read in all_along for sample in read)
    return {s for s, n in times.items() if n >= least and 2 * among[s] >= n}


def multiplicities(reads, stretch, least, sure, wanted, elsewhere, relatives):
    """Return for each read, a list of samples, the lower quartile of the deep ones; 0 of others.

    And the share of its samples that are more frequent than errors are.
    """
    times = Counter(sample for read in reads for sample in read)
    deep = deep_molecules(reads, stretch, least, sure)
    found, known = [], []
    for read in reads:
        parts = stretches(read, stretch)
        met = sorted(times[s] for s in read if s in deep)
        found.append(0)
        known.append(0)
        if len(met) < max(2, elsewhere / 16 * len(read)) or wanted(min(len(read), stretch)) >= len(read):
            continue
        by_error = met[-1 - len(met) // 20] // ERRORS
        correct = [n for n in met if n > by_error]
        known[-1] = sum(times[s] > max(2, by_error) for s in read) / len(read)
        usual = correct[len(correct) // 4]
        is_deep = [sum(s in deep for s in part) >= wanted(len(part)) for part in parts]
        is_elsewhere = [
            not here and sum(times[s] > max(2, usual / 1024) for s in part) >= elsewhere * len(part)
            for part, here in zip(parts, is_deep, strict=True)
        ]
        is_relative = any(
            sum(max(2, often * usual) < times[s] < least for s in part) >= share * len(part)
            for share, often in relatives
            for part in parts
        )
        some = sum(usual // 16 < times[s] < usual - usual // 4 for s in read)
        again, repeated = len(read) - len(set(read)), sum(n > 1 for n in Counter(read).values())
        differ = relatives and 20 * some >= len(read)
        is_of_an_array = 4 * again >= len(read) and (differ or again >= 16 * repeated)
        if 3 * sum(is_elsewhere) <= sum(is_deep) and not is_relative and not is_of_an_array:
            found[-1] = usual
    return found, known
