"""Which phase blocks Hi-C reads join, compared with the oracle and with the best of all ways."""

import functools
import itertools
import random

import numpy as np
import pytest

import overlapper
from overlapper.assembly import hic as hic_module
from overlapper.assembly.haplotypes import assign_haplotypes, phase
from overlapper.assembly.hic import HicReads, HicSeen, Links, count_links, join_blocks, links_of_groups
from overlapper.assembly.parents import Sites, table_of
from overlapper.assembly.pieces import K, Pieces
from overlapper.correction.own_reads import OwnReads
from overlapper.errors import InputError, ParameterError
from overlapper.tables import Reads
from tests.hic_pairs import hic_pairs
from tests.oracle import hic as oracle
from tests.property.test_haplotypes import mutated, own_reads, spread
from tests.read_sets import reads_of
from tests.unit.test_parents import reads_from, sequence

NAMES = "one.fq", "two.fq"


def pairs_of(first, second, cut=3):
    """Return both lists of reads, in parts that are not cut alike."""
    parts = ([reads_of(of)[:at], reads_of(of)[at:]] for of, at in ((first, cut), (second, 2 * cut)))
    return HicReads(list(parts), NAMES)


def as_dicts(links):
    def side(number):
        return number >> 1, number & 1

    ends = {side(number): count for number, count in enumerate(links.ends.tolist()) if count}
    between = zip(links.one.tolist(), links.other.tolist(), links.links.tolist(), strict=True)
    return ends, {(side(one), side(other)): count for one, other, count in between}


@pytest.mark.parametrize("seed", range(6))
def test_links_are_those_of_the_oracle(seed, monkeypatch):
    if seed % 2:  # what large sets have: many blocks of reads, whose links are added up now and then
        monkeypatch.setattr(hic_module, "_PAIRS", 16)
        monkeypatch.setattr(hic_module, "_WAITING", 8)
    random_ = random.Random(seed)
    contigs = [sequence(random_, 500) for _ in range(4)]
    contigs[3] = contigs[0][:200] + contigs[3][200:]  # the same k-mer on two sides
    start = np.array([0, 250] * 4)
    pieces = Pieces(np.repeat(np.arange(4), 2).astype(np.int32), start, start + 250, *(start,) * 4)
    side = np.array([0, 2, 1, 3, 4, -1, 5, 0])
    sites = [(contig, at) for contig in range(4) for at in range(500 - K + 1) if random_.random() < 0.3]
    labelled = [(contigs[contig][at : at + K], int(side[2 * contig + (at >= 250)])) for contig, at in sites]
    labelled = [(kmer, (of >> 1, of & 1)) for kmer, of in labelled if of >= 0]
    first, second = (reads_from(random_, contigs, 120) for _ in range(2))
    table = table_of(reads_of(contigs), pieces, Sites(*np.array(sites).T), side)
    expected = oracle.links(labelled, list(zip(first, second, strict=True)))
    for threads in (1, 3):
        links = count_links(table, 3, pairs_of(first, second, 7), threads)
        assert as_dicts(links) == expected
        assert links.pairs == 120
    order = random_.sample(range(120), 120)
    turned = count_links(table, 3, pairs_of(*([of[i] for i in order] for of in (second, first))), 1)
    assert as_dicts(turned) == expected
    assert any(one[0] != other[0] for one, other in expected[1])


def random_links(seed, blocks, each, trans, uneven=1.0):
    """Return which blocks are turned, and links: more between neighbours, ``trans`` of them anywhere.

    Where it is ``uneven``, haplotype 2 of a block has fewer ends.
    """
    rng = np.random.default_rng(seed)
    turned = rng.random(blocks) < 0.5
    counts = np.zeros((2 * blocks, 2 * blocks), np.int64)
    ends = np.zeros(2 * blocks, np.int64)
    stays = np.ones(2 * blocks)
    stays[1::2] = rng.random(blocks) ** (uneven - 1)
    for _ in range(each * blocks):
        one, other = rng.integers(2 * blocks, size=2)
        if rng.random() >= trans:
            other = 2 * min(blocks - 1, (one >> 1) + int(rng.geometric(0.4)))
            other += int(turned[one >> 1] ^ turned[other >> 1] ^ (one & 1))
        if rng.random() < stays[one] * stays[other]:
            low, high = sorted((int(one), int(other)))
            counts[low, high] += 1
            ends[[low, high]] += 1
    found = np.nonzero(counts)
    return turned, Links(int(counts.sum()), ends, *found, counts[found])


@pytest.mark.parametrize(
    ("blocks", "each", "trans", "uneven"),
    [(2, 8, 0.1, 1), (6, 12, 0.2, 1), (9, 30, 0.4, 1), (7, 20, 0.9, 1), (9, 60, 0.3, 3), (12, 90, 0.4, 2)],
)
@pytest.mark.parametrize("seed", range(6))
def test_blocks_are_joined_as_by_the_oracle(blocks, each, trans, uneven, seed):
    _, links = random_links(seed, blocks, each, trans, uneven)
    joined, turned = join_blocks(links)
    assert list(zip(joined.tolist(), turned.tolist(), strict=True)) == oracle.join(blocks, *as_dicts(links))


@pytest.mark.parametrize("seed", range(5))
def test_the_haplotypes_are_those_that_most_links_of_all_ways_agree_with(seed):
    truth, links = random_links(seed, 8, 40, 0.2)
    joined, turned = join_blocks(links)
    assert (joined == 0).all()
    assert (turned == truth ^ truth[0]).all()

    def agreeing(way):
        one, other = links.one, links.other
        same = (one ^ other) & 1 == way[one >> 1] ^ way[other >> 1]
        return links.links[same & (one >> 1 != other >> 1)].sum()

    ways = [np.array([0, *way]) for way in itertools.product((0, 1), repeat=7)]
    assert max(ways, key=agreeing).tolist() == turned.astype(int).tolist()


def test_links_by_chance_join_at_most_one_pair_of_blocks_in_a_hundred():
    joined = [join_blocks(random_links(seed, 2, 150, 1.0)[1])[0][1] == 0 for seed in range(400)]
    assert sum(joined) <= 4


def test_blocks_of_one_haplotype_each_are_not_joined_by_how_many_links_they_have():
    links = Links(100, np.array([60, 0, 50, 0]), np.array([0]), np.array([2]), np.array([50]))
    assert join_blocks(links)[0].tolist() == [0, 1]


def test_ends_of_joined_blocks_count_together():
    """What links say of a block is no more than chance once it is joined to one of one haplotype alone."""
    ends = np.array([150, 150, 10_000, 0, 100, 0])
    both = Links(120, ends, np.array([0, 0]), np.array([2, 4]), np.array([100, 20]))
    assert join_blocks(both)[0].tolist() == [0, 0, 2]
    assert join_blocks(Links(20, ends, both.one[1:], both.other[1:], both.links[1:]))[0].tolist() == [0, 1, 0]


def test_half_of_the_links_have_to_be_more_than_chance():
    def joined(cis, trans):
        counts = np.array([cis, trans, trans, cis])
        links = Links(0, np.full(4, 9_000), np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3]), counts)
        return join_blocks(links)[0].tolist() == [0, 0]

    assert joined(1_501, 499)
    assert not joined(1_499, 501)


def test_the_parent_of_a_block_is_kept_when_others_are_joined_to_it():
    random_ = random.Random(3)
    contigs = [sequence(random_, 150) for _ in range(6)]
    start, ends = np.zeros(6, np.int64), np.array([9, 9, 150, 150, 5, 5])
    pieces = Pieces(np.arange(6, dtype=np.int32), start, ends, *(start,) * 4)
    parent = np.array([0, 0, 0, 0, 2, 1], np.uint8)
    opposite = [(0, 1, 5), (2, 3, 5), (4, 5, 5)]
    assert assign_haplotypes(pieces, opposite, parent).block.tolist() == [2, 2, 1, 1, 3, 3]
    sites = Sites(np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6))
    pairs = [(0, 3), (1, 2), (2, 4), (3, 5)] * 20
    hic = HicReads([[reads_of([contigs[pair[end]] for pair in pairs])] for end in (0, 1)], NAMES)
    by_hic = functools.partial(links_of_groups, reads_of(contigs), pieces, sites, hic, 1)
    told = assign_haplotypes(pieces, opposite, parent, by_hic)
    assert told.block.tolist() == [1] * 6
    assert told.haplotype.tolist() == [1, 2, 2, 1, 2, 1]


def test_links_speak_against_the_haplotype_of_what_is_before_on_a_contig():
    """Contig 0 went over to the other haplotype at 150, and what it has there is opposite to nothing."""
    random_ = random.Random(8)
    contigs = [sequence(random_, 300), sequence(random_, 150)]
    start, end = np.array([0, 150, 0]), np.array([150, 300, 150])
    pieces = Pieces(np.array([0, 0, 1], np.int32), start, end, np.array([0, 1, 0]), *(start,) * 3)
    sites = Sites(np.array([0, 0, 1]), np.array([5, 155, 5]))
    assert assign_haplotypes(pieces, [(0, 2, 5)]).haplotype.tolist() == [1, 1, 2]
    within = [contigs[0][:150]] * 8
    ends = [reads_of([contigs[0][150:]] * 8 + within), reads_of([contigs[1]] * 8 + within)]
    by_hic = functools.partial(
        links_of_groups, reads_of(contigs), pieces, sites, HicReads([[of] for of in ends], NAMES), 1
    )
    told = assign_haplotypes(pieces, [(0, 2, 5)], None, by_hic)
    assert told.block.tolist() == [1, 1, 1]
    assert told.haplotype[0] != told.haplotype[1] == told.haplotype[2]
    assert (told.hic.blocks, told.hic.joined, told.hic.between) == (2, 1, 8)


def test_what_a_deep_contig_has_alone_is_of_neither_haplotype():
    """The other haplotype lacks a contig of 5 kb in which both are the same, so that one is deep there."""
    random_ = random.Random(4)
    one = sequence(random_, 30_000)
    other = mutated(random_, one, 0.04, 12_500, 17_500)
    contigs = [one, other[:12_500], other[17_500:]]
    reads = [
        read for contig, bases in enumerate(contigs) for read in spread(contig, len(bases), 1_000, 8_000)
    ]
    reads += [(0, start, start + 5_000) for start in range(12_500, 13_000, 50)]
    ends = [[one[at : at + 150] for at in (*range(13_100, 16_100, 100), *range(5_000, 8_000, 100))]] * 2
    hic = HicReads([[reads_of(of)] for of in ends], NAMES)
    own = own_reads(contigs, reads)
    told = phase(reads_of(contigs), np.zeros(3, np.bool_), own, 8.0, hic=hic).hic
    assert (told.pairs, told.same, told.other, told.between) == (60, 30, 0, 0)


def test_no_contigs_have_no_blocks():
    hic = HicReads([[reads_of(["ACGT" * 30])]] * 2, NAMES)
    told = phase(reads_of([]), np.zeros(0, np.bool_), OwnReads.empty(), 8.0, hic=hic).hic
    assert told == HicSeen(blocks=0, joined=0, pairs=1, same=0, other=0, between=0)


def test_reads_that_are_no_pairs_are_refused():
    table = np.full((2, 2), np.uint64(2**64 - 1))
    reads = reads_of(["ACGT" * 20] * 25)

    def count(first, second):
        return count_links(table, 1, HicReads([[first], [second]], NAMES), 1)

    with pytest.raises(InputError, match=r"file two.fq, record 24: has no mate: one.fq has fewer reads"):
        count(reads[:23], reads)
    with pytest.raises(InputError, match=r"file one.fq, record 24: has no mate: two.fq has fewer reads"):
        count(reads, reads[:23])
    with pytest.raises(InputError, match=r"file two.fq, record 10: has another name than its mate in one.fq"):
        count(reads[:20], reads[1:21])
    named = [Reads.from_sequences([f"r{i}/{end}" for i in range(25)], ["ACGT" * 20] * 25) for end in (1, 2)]
    assert count(*named).pairs == 25


@pytest.mark.parametrize("given", ["one.fq", ["one.fq"], ("one.fq", "two.fq", "three.fq")])
def test_python_wants_two_of_hic(given):
    with pytest.raises(ParameterError, match="expected first and second reads, two of them"):
        overlapper.assemble(["ACGT" * 500], hic=given)


def test_pairs_that_join_nothing_are_told():
    seen = HicSeen(blocks=4, joined=0, pairs=1_000, same=30, other=10, between=3)
    assert seen._replace(joined=1).warnings() == []
    assert seen._replace(same=0, other=0).told() == "3 of 1,000 Hi-C pairs link 4 phase blocks and join 0"
    assert seen._replace(blocks=1).warnings() == []
    assert seen.warnings() == [
        "warning: 3 of 1,000 Hi-C pairs link 4 phase blocks and join 0; 75.0% of 40 pairs within a block "
        "agree: are these Hi-C reads of the same sample, and are there enough?"
    ]


def test_simulated_pairs_are_of_one_haplotype_but_for_noise():
    random_ = random.Random(1)
    haplotypes = [sequence(random_, 20_000) for _ in range(2)]
    first, second = hic_pairs(haplotypes, 1_000, trans=0.05)
    start = np.zeros(2, np.int64)
    pieces = Pieces(np.arange(2, dtype=np.int32), start, start + 20_000, *(start,) * 4)
    sites = Sites(np.repeat(np.arange(2), 19_970), np.tile(np.arange(19_970), 2))
    table = table_of(reads_of(haplotypes), pieces, sites, np.array([0, 1]))
    seen = count_links(table, 1, pairs_of(first, second), 1).seen(0)
    assert seen.same + seen.other == 1_000
    assert 30 < seen.other < 75
