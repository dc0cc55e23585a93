"""Hi-C pairs for tests: the distance of both ends by a power law, some ends in the other haplotype."""

import numpy as np

BASES, ERRORS, CLOSEST = 150, 0.003, 500
LETTERS = np.frombuffer(b"ACGT", np.uint8)


def hic_pairs(haplotypes, number, trans=0.02, seed=1):
    """Return two lists of reads, of pairs of two haplotypes, one chromosome each.

    Parameters
    ----------
    haplotypes : list of str
    number : int
        Pairs.
    trans : float
        Share of pairs whose second end is anywhere in the other haplotype.
    seed : int
    """
    rng = np.random.default_rng(seed)
    codes = [np.searchsorted(LETTERS, np.frombuffer(bases.encode(), np.uint8)) for bases in haplotypes]

    def read(of, start):
        bases = of[start : start + BASES]
        bases = np.where(rng.random(BASES) < ERRORS, bases + rng.integers(1, 4, BASES) & 3, bases)
        return LETTERS[bases if rng.random() < 0.5 else 3 - bases[::-1]].tobytes().decode()

    first, second = [], []
    while len(first) < number:
        of = int(rng.integers(2))
        starts = [len(one) - BASES for one in codes]
        start = int(rng.integers(starts[of]))
        distance = CLOSEST * (starts[of] / CLOSEST) ** rng.random()  # as many in each power of ten
        mate, mate_of = start + int(rng.choice([-1, 1]) * distance), of
        if rng.random() < trans:
            mate_of = 1 - of
            mate = int(rng.integers(starts[mate_of]))
        if 0 <= mate < starts[mate_of]:
            first.append(read(codes[of], start))
            second.append(read(codes[mate_of], mate))
    return first, second
