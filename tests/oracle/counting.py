"""Canonical k-mers by the definition: all of them, in a dictionary."""

from tests.oracle.strands import reverse_complement

M1, M2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def mix(kmer, k):
    modulus = 4**k
    for multiplier in (M1, M2):
        kmer = kmer * multiplier % modulus
        kmer ^= kmer >> k
    return kmer


def number(text):
    return sum("ACGT".index(base) << (2 * i) for i, base in enumerate(text))


def canonical(text):
    """Return (hash, is reverse) of a k-mer, or None when it has no canonical form."""
    if "N" in text:
        return None
    forward = mix(number(text), len(text))
    backward = mix(number(reverse_complement(text)), len(text))
    if forward == backward:
        return None
    return min(forward, backward), backward < forward


def occurrences(sequences, k):
    """Return {hash: [(read, position, is reverse), ...]}."""
    table = {}
    for read, sequence in enumerate(sequences):
        for position in range(len(sequence) - k + 1):
            found = canonical(sequence[position : position + k])
            if found:
                table.setdefault(found[0], []).append((read, position, found[1]))
    return table
