"""Adapters at ends of reads, from the definition in overlapper/sketch/adapters.py."""

from collections import Counter
from itertools import combinations
from math import ceil

END, K = 150, 10
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def adapters(sequences):
    """Return the adapters of reads, all of which are looked at."""
    long = [sequence for sequence in sequences if len(sequence) >= 3 * END]
    starts = [(len(sequence) - END) // 2 for sequence in long]
    middles = [sequence[start : start + END] for sequence, start in zip(long, starts, strict=True)]
    ends = [sequence[:END] for sequence in long] + [turned(sequence[-END:]) for sequence in long]
    in_middles, found = ends_with(middles + [turned(middle) for middle in middles]), []
    for _ in range(10):
        counts = ends_with(ends)
        stand_out = {word for word, n in counts.items() if n >= 30 and 10 * in_middles[word] <= n}
        if not stand_out:
            break
        adapter = min(stand_out, key=lambda word: (-counts[word], word))
        while base := agreed([adapter[-K + 1 :] + base for base in "ACGT"], counts, stand_out, adapter):
            adapter += base[-1]
        while base := agreed([base + adapter[: K - 1] for base in "ACGT"], counts, stand_out, adapter):
            adapter = base[0] + adapter
        if len(adapter) >= 14 and many_places(ends, adapter[-K:]):
            found.append(adapter)
        ends = [end for end in ends if not words_of(adapter) & words_of(end)]
    return found


def turned(sequence):
    return sequence.translate(COMPLEMENT)[::-1]


def words_of(sequence):
    words = {sequence[i : i + K] for i in range(len(sequence) - K + 1)}
    return {word for word in words if "N" not in word}


def ends_with(ends):
    """Return how many ends have each word."""
    return Counter(word for end in ends for word in words_of(end))


def agreed(choices, counts, stand_out, adapter):
    """Return the word that half of them agree in, if it stands out and is new."""
    best = max(choices, key=lambda word: counts[word])  # the first one of equals
    enough = 2 * counts[best] >= sum(counts[word] for word in choices)
    return best if enough and best in stand_out and best not in words_of(adapter) else None


def many_places(ends, last):
    """Return whether pairs of ends, but for those of molecules, go on alike once in fifty times at most."""
    found = [(end, i + K) for end in ends for i in range(END - K + 1) if end[i : i + K] == last]
    some = found[:: ceil(len(found) / 500)]
    following = [end[i : i + 16] for end, i in some if i + 16 <= END and "N" not in end[i : i + 16]]
    times = Counter(bases[:8] for bases in following)
    of_molecule = set()
    for common, n in times.items():
        if n > 1 and 10 * n >= len(some):
            whole = Counter(bases for bases in following if bases[:8] == common)
            typical = min(whole, key=lambda bases: (-whole[bases], bases))
            of_molecule |= {i for i, bases in enumerate(following) if alike(bases, typical)}
    many = [bases for i, bases in enumerate(following) if i not in of_molecule]
    pairs = list(combinations(many, 2))
    same = sum(alike(*pair, K) for pair in pairs)
    return len(many) >= 10 and 10 * len(many) >= len(some) and 50 * (same - 1) <= len(pairs)


def alike(bases, typical, size=4):
    """Return whether two texts share so many bases in a row, at most two bases off."""
    last = len(bases) - size
    return any(
        bases[i : i + size] == typical[j : j + size]
        for i in range(last + 1)
        for j in range(max(i - 2, 0), min(i + 2, last) + 1)
    )


def taken(sequence, adapters):
    """Return how many bases adapters take at both ends of a read."""
    if len(sequence) < 3 * END:
        return 0, 0
    found = []
    for end in (sequence[:END], turned(sequence)[:END]):
        matches = [
            (place, place + len(adapter) - at + (3 if at + 12 < len(adapter) else 0))
            for adapter in adapters
            for at in range(len(adapter) - 11)
            for place in range(END - 11)
            if end[place : place + 12] == adapter[at : at + 12]
        ]
        found.append(max(matches, default=(0, 0))[1])
    return tuple(found) if 2 * sum(found) <= len(sequence) else (0, 0)
