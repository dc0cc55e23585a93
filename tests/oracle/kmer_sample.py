"""32-mers sampled by the hash of their first 16 bases, and their counts, written from the definition."""

from collections import Counter

from tests.oracle.strands import reverse_complement

M1, M2, WORD = 0x2C1B3C6D, 0x297A2D39, 2**32


def number(text):
    return sum("ACGT".index(base) << (2 * i) for i, base in enumerate(text))


def anchor_hash(anchor):
    x = (number(anchor) + number(reverse_complement(anchor))) % WORD
    for multiplier in (M1, M2):
        x = x * multiplier % WORD
        x ^= x >> 15
    return x


def sample(sequence, threshold):
    """Return (32-mer as text, position of its first base, is reverse) of all samples of one read."""
    taken = []
    for i in range(len(sequence) - 15):
        anchor = sequence[i : i + 16]
        if "N" in anchor or anchor_hash(anchor) > threshold:
            continue
        opposite = reverse_complement(anchor)
        if number(anchor) < number(opposite):
            stretch = sequence[i : i + 32]
            if len(stretch) == 32 and "N" not in stretch:
                taken.append((stretch, i, False))
        elif number(opposite) < number(anchor):
            stretch = sequence[max(0, i - 16) : i + 16]
            if len(stretch) == 32 and "N" not in stretch:
                taken.append((reverse_complement(stretch), i + 15, True))
    return taken


def spectrum(samples, k):
    return Counter(Counter(text[:k] for text in samples).values())


def pairs(samples, k, most):
    """Return how many pairs of samples share their first k, k + 1, ... 32 bases."""
    groups = {}
    for text in samples:
        groups.setdefault(text[:k], []).append(text)
    kept = [g for g in groups.values() if len(g) <= most]
    return [
        sum(a[:longer] == b[:longer] for g in kept for i, a in enumerate(g) for b in g[:i])
        for longer in range(k, 33)
    ]  # fmt: skip
