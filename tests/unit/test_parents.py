"""Which parent groups of pieces are of, compared with the oracle."""

import random

import numpy as np
import pytest

from overlapper.assembly.haplotypes import assign_haplotypes
from overlapper.assembly.parents import Sites, parents_of_groups
from overlapper.assembly.pieces import SHARED_RUN, K, Pieces
from tests.oracle import parents as oracle
from tests.read_sets import reads_of

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def sequence(random_, length):
    return "".join(random_.choice("ACGT") for _ in range(length))


def reads_from(random_, stretches, number):
    """Return reads of either strand, some with an unknown base."""
    reads = []
    for _ in range(number):
        bases = random_.choice(stretches)
        start = random_.randrange(len(bases))
        read = bases[start : start + random_.randrange(20, 200)]
        if random_.random() < 0.5:
            read = read[::-1].translate(COMPLEMENT)
        reads.append(read.replace("A", "N", random_.random() < 0.2))
    return reads


@pytest.mark.parametrize("known", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("seed", range(8))
def test_groups_are_of_the_parent_that_the_oracle_says(seed, known):
    random_ = random.Random(seed)
    contigs = [sequence(random_, 400) for _ in range(4)]
    contigs[3] = contigs[0][:200] + contigs[3][200:]  # sites need not be of one group
    half = np.array([[200 * part for part in range(2)]] * 4).ravel()
    pieces = Pieces(
        np.repeat(np.arange(4), 2).astype(np.int32), half, half + 200,
        np.array([0, 1, 0, SHARED_RUN, 0, 0, 0, 1]), *(half,) * 3,
    )  # fmt: skip
    sites = [(contig, at) for contig in range(4) for at in range(400 - K + 1) if random_.random() < 0.8]
    stretches = [[contigs[0], contigs[2][:100]], [contigs[1], contigs[2][150:], contigs[3]]]
    reads = [reads_from(random_, of_one, 40) for of_one in stretches]
    given = [of_one if there else None for of_one, there in zip(reads, known, strict=True)]
    groups = {}
    for contig, at in sites:
        run = pieces.run[2 * contig + (at >= 200)]
        if run != SHARED_RUN:
            groups.setdefault((contig, int(run)), []).append(contigs[contig][at : at + K])
    expected = oracle.parents([groups[key] for key in sorted(groups)], *given)
    in_parts = tuple(of_one and [reads_of(of_one[:15]), reads_of(of_one[15:])] for of_one in given)
    for threads in (1, 3):
        found = parents_of_groups(reads_of(contigs), pieces, Sites(*np.array(sites).T), in_parts, threads)
        assert found.tolist() == expected
    assert {1, 2} <= set(expected)


def test_all_groups_of_a_known_parent_are_one_block():
    start = np.zeros(6, np.int64)
    pieces = Pieces(np.arange(6, dtype=np.int32), start, start + 100, start, start, start, start)
    pairs = [(0, 1, 50), (2, 3, 50), (4, 5, 50)]
    told = assign_haplotypes(pieces, pairs, np.array([2, 1, 1, 0, 0, 0], np.uint8))
    assert told.block.tolist() == [1, 1, 1, 1, 2, 2]
    assert told.haplotype[:4].tolist() == [2, 1, 1, 2]
    assert assign_haplotypes(pieces, pairs).block.tolist() == [1, 1, 2, 2, 3, 3]
