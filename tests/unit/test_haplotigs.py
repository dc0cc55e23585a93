from types import SimpleNamespace

import numpy as np
import pytest

from overlapper.assembly import haplotigs, layouts
from overlapper.assembly.haplotigs import PROBE, Haplotig, Haplotypes, Part, join, of_haplotype, spelled
from overlapper.assembly.haplotype_files import haplotig_gfa, names_of
from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.laid_out import Contigs
from overlapper.assembly.pieces import SHARED_RUN, Pieces
from overlapper.errors import ParameterError
from overlapper.simulate import random_genome
from overlapper.tables import Reads

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def phased(rows, opposite=()):
    """Return pieces: (contig, start, end, block, haplotype)."""
    contig, start, end, block, haplotype = np.array(rows, np.int64).T
    sites, run = (block > 0).astype(np.int64), np.where(block > 0, block, SHARED_RUN)
    pieces = Pieces(contig.astype(np.int32), start, end, run, sites, start, start + sites)
    return Phased(pieces, block.astype(np.int32), haplotype.astype(np.uint8), list(opposite))


NO_LINKS = (np.zeros(0, np.int64),) * 3


def primary(contigs, circular, links, phased):
    return haplotigs.primary(contigs_of(contigs, circular, links), phased)


def contigs_of(contigs, circular, links=NO_LINKS):
    return Contigs(contigs, circular, np.ones(len(contigs)), np.ones(len(contigs), np.int64), *links)


def test_shared_pieces_are_in_both_and_blocks_are_not_joined():
    pieces = phased(
        [(0, 0, 10, 1, 1), (0, 10, 20, 0, 0), (0, 20, 33, 2, 2), (1, 0, 9, 1, 2), (2, 0, 8, 0, 0)]
    )
    linear = np.zeros(3, bool)

    def stretches(haplotype):
        return [(one.parts[0][:3], one.block) for one in of_haplotype(pieces, linear, haplotype)]

    assert stretches(1) == [((0, 0, 20), 1), ((2, 0, 8), 0)]
    assert stretches(2) == [((0, 10, 33), 2), ((1, 0, 9), 1), ((2, 0, 8), 0)]


def test_pieces_of_one_block_are_one_contig_and_circles_stay():
    pieces = phased([(0, 0, 10, 1, 1), (0, 10, 20, 1, 1), (1, 0, 5, 1, 2), (1, 5, 9, 2, 2)])
    one, other = (of_haplotype(pieces, np.array([True, True]), haplotype) for haplotype in (1, 2))
    assert [(c.parts[0][:3], c.circular) for c in one] == [((0, 0, 20), True)]
    assert [(c.parts[0][:3], c.circular) for c in other] == [((1, 0, 5), False), ((1, 5, 9), False)]


def test_pieces_that_follow_each_other_over_the_origin_of_a_circle_are_linked():
    pieces = phased([(0, 0, 10, 1, 1), (0, 10, 20, 2, 1), (1, 0, 5, 3, 1), (2, 0, 5, 4, 1), (2, 5, 9, 5, 1)])
    circular, nothing = np.array([True, True, False]), np.zeros(3, np.int64)
    sequences = Reads.from_sequences("abc", ["A" * 20, "C" * 5, "G" * 9])
    contigs = Contigs(sequences, circular, nothing, nothing, *(3 * [np.zeros(0, np.int64)]))
    haplotigs = of_haplotype(pieces, circular, 1)
    stretches = {
        name: sequences.names[one.parts[0].contig] + str(one.parts[0].start)
        for name, one in zip(names_of(haplotigs, "h1tg"), haplotigs, strict=True)
    }
    lines = [line.split("\t") for line in haplotig_gfa(haplotigs, "h1tg", contigs)]
    linked = [(stretches[line[1]], stretches[line[3]]) for line in lines if line[0] == "L"]
    assert sorted(linked) == [("a0", "a10"), ("a10", "a0"), ("b0", "b0"), ("c0", "c5")]


def test_two_species_are_not_two_haplotypes():
    # Half of what is of one haplotype has to have the other one beside it.
    pieces = [(0, 0, 30, 0, 0), (1, 0, 10, 1, 1), (2, 0, 9, 1, 2), (3, 0, 20, 2, 1)]
    assert not phased(pieces).of_two
    assert phased(pieces[:3]).of_two
    assert phased([*pieces[:3], (3, 0, 19, 2, 1)]).of_two
    assert not phased(pieces[:1]).of_two


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_primary_contigs_are_joined_on_either_strand(turned):
    genome = random_genome(9_000, seed=3).sequence(0)
    bases = [genome[:5_000], genome[4_000:]]
    given = [b[::-1].translate(COMPLEMENT) if t else b for b, t in zip(bases, turned, strict=True)]
    contigs = Reads.from_sequences("ab", given)
    links = (np.array([0 + turned[0]]), np.array([2 + turned[1]]), np.array([1_000]))
    (found,) = primary(contigs, np.zeros(2, bool), links, phased([(0, 0, 5_000, 1, 1), (1, 0, 5_000, 2, 2)]))
    assert spelled(found, contigs) in (genome, genome[::-1].translate(COMPLEMENT))
    assert found.length == 9_000 and not found.circular


def test_opposite_contigs_are_left_out_of_the_primary_ones():
    genome = random_genome(12_000, seed=4).sequence(0)
    contigs = Reads.from_sequences("abc", [genome[:6_000], genome[5_000:11_500], genome[5_000:11_000]])
    links = (np.array([0, 0]), np.array([2, 4]), np.array([1_000, 1_000]))
    rows = [(0, 0, 6_000, 0, 0), (1, 0, 6_500, 1, 1), (2, 0, 6_000, 1, 2)]
    (found,) = primary(contigs, np.zeros(3, bool), links, phased(rows, [(1, 2, 4_000)]))
    assert spelled(found, contigs) == genome[:11_500]
    # Where two may follow, nothing is joined.
    assert len(primary(contigs, np.zeros(3, bool), links, phased(rows))) == 3


def test_contigs_without_links_or_in_circles():
    genome = random_genome(8_000, seed=5).sequence(0)
    around = genome + genome[:1_000]
    contigs = Reads.from_sequences("ab", [around[:5_000], around[4_000:]])
    rows = [(0, 0, 5_000, 1, 1), (1, 0, 5_000, 2, 1)]
    assert len(primary(contigs, np.zeros(2, bool), NO_LINKS, phased(rows))) == 2
    links = (np.array([0, 2]), np.array([2, 0]), np.array([1_000, 1_000]))
    (found,) = primary(contigs, np.zeros(2, bool), links, phased(rows))
    assert sorted(part.contig for part in found.parts) == [0, 1]
    assert (found.length, found.circular) == (8_000, True)
    assert spelled(found, contigs) in 2 * genome


@pytest.mark.parametrize("node", [0, 1])
def test_a_contig_whose_end_leads_to_its_start_alone_is_closed(node):
    genome = random_genome(8_000, seed=9).sequence(0)
    contigs = Reads.from_sequences("ab", [genome + genome[:1_000], genome[3_000:5_000]])
    rows = [(0, 0, 9_000, 1, 1), (1, 0, 2_000, 1, 2)]
    own = (np.array([node]), np.array([node]), np.array([1_000]))
    found = primary(contigs, np.zeros(2, bool), own, phased(rows, [(0, 1, 2_000)]))
    assert [(one.length, one.circular) for one in found] == [(8_000, True)]
    assert spelled(found[0], contigs) in 2 * genome
    # What goes round more than twice is one round; if its ends differ, nothing would be left.
    wound = Reads.from_sequences("ab", [3 * genome[:1_000], genome[3_000:5_000]])
    again, rows_again = (
        (np.array([node]), np.array([node]), np.array([2_000])),
        [(0, 0, 3_000, 1, 1), rows[1]],
    )
    (_, circle) = primary(wound, np.zeros(2, bool), again, phased(rows_again))
    assert (circle.length, circle.circular) == (1_000, True)
    differs = Reads.from_sequences(
        "ab", ["ACGT"[genome[0] == "A"] + wound.sequence(0)[1:], wound.sequence(1)]
    )
    (line, _) = primary(differs, np.zeros(2, bool), again, phased(rows_again))
    assert (line.length, line.circular) == (3_000, False)
    # What is a circle already has no overlap at its ends, and one that leads to its other strand is none.
    assert primary(contigs, np.array([True, False]), own, phased(rows, [(0, 1, 2_000)]))[0].length == 9_000
    turning = (np.array([node]), np.array([node ^ 1]), np.array([1_000]))
    (line,) = primary(contigs, np.zeros(2, bool), turning, phased(rows, [(0, 1, 2_000)]))
    assert (line.length, line.circular) == (9_000, False)


def test_joins_need_bases_in_common():
    genome = random_genome(3_000, seed=6).sequence(0)
    left, right = genome[:2_000], genome[1_500:]
    place, at = join(left, right, 500)
    assert left[:place] + right[at:] == genome
    # Bases that polishing changed are passed by.
    changed = right[:260] + "ACGT"["ACGT".index(right[260]) - 1] + right[261:]
    place, at = join(left, changed, 500)
    assert left[:place] + changed[at:] in (genome, genome[:1_500] + changed)
    assert join(left, random_genome(2_000, seed=7).sequence(0), 500) is None
    assert join(left, genome[1_950:], PROBE // 2) is None


def test_parts_are_spelled_on_their_strands():
    contigs = Reads.from_sequences("ab", ["AACCGGTTAC", "TTTGA"])
    both = Haplotig([Part(0, 1, 5, True), Part(1, 0, 3, False)], 0, False)
    assert spelled(both, contigs) == "CGGT" + "TTT"


def test_a_memory_budget_that_is_too_small():
    sequences = Reads.from_sequences("a", [random_genome(5_000, seed=8).sequence(0)])
    with pytest.raises(
        ParameterError, match=r"5,000 k-mers that tell haplotypes apart .* expected 30 MB more"
    ):
        contigs = SimpleNamespace(sequences=sequences)
        layouts._phased(contigs, None, 20.0, SimpleNamespace(room=100 << 20, threads=1))


@pytest.mark.parametrize(("copies", "said"), [(2, ""), (3, "contigs have 3.0 copies of each place")])
def test_more_than_two_copies_are_said(copies, said):
    contigs = Reads.from_sequences(
        ["a"] * copies, [random_genome(400, seed).sequence(0) for seed in range(copies)]
    )
    rows = [(number, 0, 400, 1, 1 + number % 2) for number in range(copies)]
    opposite = [(one, other, 400) for one in range(copies) for other in range(one + 1, copies)]
    made = Haplotypes.of(contigs_of(contigs, np.zeros(copies, bool)), phased(rows, opposite), 10.0)
    assert made.decision().startswith("two haplotypes, each covered 10 times")
    assert said in made.decision() and ("copies of each place" in made.decision()) == bool(said)
