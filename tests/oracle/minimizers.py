"""Minimizers, straight from the definition in docs/design.md."""

from tests.oracle.strands import reverse_complement

M1, M2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def hash_kmer(kmer: str) -> int:
    """The invertible hash of a k-mer's integer; the first base is in the lowest two bits."""
    k = len(kmer)
    mask = 4**k - 1
    x = sum("ACGT".index(base) << (2 * i) for i, base in enumerate(kmer))
    x = x * M1 & mask
    x ^= x >> k
    x = x * M2 & mask
    return x ^ (x >> k)


def canonical(kmer: str) -> tuple[int, bool] | None:
    """Hash and strand (True: the reverse complement hashes lower), or None if the k-mer never seeds."""
    if set(kmer) - set("ACGT"):
        return None
    forward, backward = hash_kmer(kmer), hash_kmer(reverse_complement(kmer))
    return None if forward == backward else (min(forward, backward), backward < forward)


def minimizers(sequence: str, k: int, w: int) -> list[tuple[int, int, bool]]:
    """(hash, position, strand) of every k-mer that is the smallest, or as small, of a window of w."""
    kmers = [canonical(sequence[i : i + k]) for i in range(len(sequence) - k + 1)]
    chosen = set()
    w = min(w, len(kmers))
    for start in range(len(kmers) - w + 1 if kmers else 0):
        window = [(kmer[0], start + i) for i, kmer in enumerate(kmers[start : start + w]) if kmer]
        if window:
            smallest = min(window)[0]
            chosen |= {i for value, i in window if value == smallest}
    return [(kmers[i][0], i, kmers[i][1]) for i in sorted(chosen)]
