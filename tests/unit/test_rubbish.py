"""Contigs of bad reads are left out where others hold their place, and have nothing of their own."""

import random

import numpy as np
import pytest

from overlapper.assembly.contig_files import left_out_table
from overlapper.assembly.rubbish import CONFIRMED, FEWER, OWN, OWN_OF_ACCURATE, leave_out
from overlapper.errors import ParameterError
from overlapper.params.graph import CleanParams
from tests.oracle.strands import reverse_complement
from tests.property.test_haplotypes import mutated
from tests.property.test_lost import laid_out
from tests.read_sets import reads_of

BASES = 30_000
FEW = CleanParams().tip_reads


class Case:
    """A contig six reads deep, others with reads of theirs, and reads that are laid out nowhere."""

    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.genome = self.drawn(BASES)
        self.contigs, self.reads, self.rows = [], [], []
        self.add(self.genome, [(start, start + 6_000) for start in range(0, BASES - 5_000, 1_000)])

    def drawn(self, bases):
        return "".join(self.random.choices("ACGT", k=bases))

    def add(self, bases, places):
        """Add a contig and reads at places of it."""
        for start, end in places:
            row = (len(self.contigs), start, len(self.reads), 0, end - start, 0, end - start)
            self.rows.append(row)
            self.reads.append(bases[start:end])
        self.contigs.append(bases)

    def bad(self, start, end, rate=0.05):
        return mutated(self.random, self.genome[start:end], rate, 0, 0)

    def left_out(self, links=(), own_share=OWN, fewer=0.0):
        """Return which contigs are left out, by length, and the rows of their reads."""
        order = sorted(range(len(self.contigs)), key=lambda i: -len(self.contigs[i]))
        number = {contig: i for i, contig in enumerate(order)}
        contigs = [self.contigs[contig] for contig in order]
        rows = [(number[contig], *row) for contig, *row in self.rows]
        links = [(2 * number[source], 2 * number[target], 500) for source, target in links]
        made, found = leave_out(
            reads_of(self.reads), laid_out(contigs, rows, links=links), FEW, None, 1, own_share, fewer
        )
        kept = [made.contigs.sequences.sequence(i) for i in range(len(made.contigs))]
        named = [f"utg{i + 1:06d}l" for i in range(len(kept))]
        assert made.contigs.sequences.names == named or not len(found)
        own = made.reads
        placed = [sorted(own.read[own.unitig == unitig].tolist()) for unitig in range(len(kept))]
        assert placed == [[row[2] for row in self.rows if self.contigs[row[0]] == bases] for bases in kept]
        gone = sorted(set(range(len(contigs))) - {contigs.index(bases) for bases in kept})
        return [order[i] for i in gone], found


@pytest.mark.parametrize("turned", [False, True])
def test_a_contig_of_two_bad_reads_is_left_out(turned):
    case = Case()
    bases = case.bad(8_000, 20_000)
    case.add(reverse_complement(bases) if turned else bases, [(0, 8_000), (5_000, 12_000)])
    gone, found = case.left_out()
    assert gone == [1]
    last = len(case.reads)
    assert found.read.tolist() == [last - 2, last - 1] and found.group.tolist() == [1, 1]
    assert found.contig.tolist() == [0, 0]
    assert 7_900 < found.start[0] < 8_200 and 19_800 < found.end[0] <= 20_000


@pytest.mark.parametrize(("differences", "step", "fewer", "gone"), [
    (1, 2_000, FEWER, [1]),
    (2, 2_000, FEWER, [1]),
    (3, 2_000, FEWER, []),  # A copy.
    (1, 1_000, FEWER, []),  # As deep as the other one.
    (1, 2_000, 0.0, []),  # One of two haplotypes.
])  # fmt: skip
def test_part_of_the_reads_of_a_place_that_share_an_error(differences, step, fewer, gone):
    case = Case()
    bases = case.genome[2_000:28_000]
    for at in range(10_500, 10_500 + 3_000 * differences, 3_000):
        bases = bases[:at] + "ACGT"["ACGT".index(bases[at]) - 1] + bases[at + 1 :]
    case.add(bases, [(start, start + 6_000) for start in range(0, 20_001, step)])
    assert case.left_out(own_share=OWN_OF_ACCURATE, fewer=fewer)[0] == gone


@pytest.mark.parametrize(
    ("places", "staying"),
    [
        # Three reads lie on 3, on 6 and on 12 of 20 parts of its bases.
        ([(0, 8_000), (5_000, 13_000), (6_000, 14_000), (12_000, 20_000)], []),
        ([(0, 9_000), (4_000, 13_000), (5_000, 14_000), (11_000, 20_000)], [OWN_OF_ACCURATE]),
        ([(0, 14_000), (3_000, 16_000), (4_000, 16_000), (14_000, 20_000)], [OWN_OF_ACCURATE, OWN]),
    ],
)
def test_a_copy_of_few_reads_stays_where_enough_of_what_is_its_own_is_confirmed(places, staying):
    for own_share in (OWN_OF_ACCURATE, OWN):
        case = Case()
        case.add(case.bad(5_000, 25_000, 0.005), places)
        assert case.left_out(own_share=own_share)[0] == ([] if own_share in staying else [1])


def test_the_table_says_which_reads_and_where_they_belong():
    case = Case()
    case.add(case.bad(8_000, 20_000), [(0, 8_000), (5_000, 12_000)])
    contigs = [case.genome, case.contigs[1]]
    made, found = leave_out(reads_of(case.reads), laid_out(contigs, case.rows), FEW, None, 1)
    head, *rows = [line.split("\t") for line in left_out_table(found, ["one", "other"], made.contigs)]
    assert head == ["left_out", "read", "contig", "start", "end"]
    assert [row[:3] for row in rows] == [["1", "one", "utg000001l"], ["1", "other", "utg000001l"]]
    assert [row[3:] for row in rows] == [[str(found.start[0]), str(found.end[0])]] * 2


def test_what_no_other_contig_holds_stays():
    case = Case()
    case.add(case.drawn(9_000), [(0, 9_000)])  # a single read elsewhere
    case.add(case.genome[-8_000:] + case.drawn(4_000), [(0, 12_000)])  # one that goes on
    case.add(case.bad(5_000, 14_000, 0.2), [(0, 9_000)])  # too many errors to tell
    assert case.left_out()[0] == []


def test_of_single_reads_of_a_place_the_longest_stays():
    case = Case()
    elsewhere = case.drawn(9_000)
    case.add(elsewhere, [(0, 9_000)])
    case.add(mutated(case.random, elsewhere[500:8_500], 0.03, 0, 0), [(0, 8_000)])
    gone, found = case.left_out()
    assert gone == [2] and found.contig.tolist() == [1]


def test_a_haplotype_that_several_reads_have_stays():
    case = Case()
    other = mutated(case.random, case.genome[4_000:16_000], 0.005, 0, 0)
    case.add(other, [(0, 8_000), (5_000, 12_000)])
    assert case.left_out()[0] == [1]
    case.reads += [other] * (CONFIRMED - 1)
    assert case.left_out()[0] == []
    # But not another contig of it, nor one that differs in two bases alone.
    case.add(mutated(case.random, other, 0.04, 0, 0), [(0, 12_000)])
    assert case.left_out()[0] == [2]
    two = list(case.genome[17_000:29_000])
    two[3_000], two[9_000] = reverse_complement(two[3_000]), reverse_complement(two[9_000])
    case.add("".join(two), [(0, 12_000)])
    case.reads += ["".join(two)] * CONFIRMED
    assert case.left_out()[0] == [2, 3]


def test_contigs_of_more_reads_and_linked_ones_stay():
    case = Case()
    case.add(case.bad(8_000, 20_000), [(0, 12_000)] * (FEW + 1))
    case.add(case.bad(2_000, 11_000), [(0, 9_000)])
    case.add(case.drawn(9_000), [(0, 9_000)])
    assert case.left_out()[0] == [2]
    assert case.left_out(links=[(2, 3)])[0] == []


def test_a_contig_of_its_longest_reads_alone_is_left_out_however_many_they_contain():
    case = Case()
    case.add(case.genome[8_000:20_000], [(0, 8_000), (5_000, 12_000), *[(4_000, 5_000)] * 9])
    case.add(case.genome[2_000:26_000], [(start, start + 5_000) for start in range(0, 19_001, 1_000)])
    assert case.left_out()[0] == [1]


def test_a_haplotype_whose_ends_few_reads_cover_stays():
    """Four reads lie on most of it, and errors at its ends are more than its differences."""
    case = Case()
    start, end = case.bad(0, 2_500), case.bad(17_500, 20_000)
    other = start + case.bad(2_500, 17_500, 0.001) + end
    case.add(other, [(0, 6_000), (14_000, 20_000), *[(3_000 - 100 * i, 17_000 + 100 * i) for i in range(4)]])
    assert case.left_out()[0] == []
    case = Case()
    case.add(
        other, [(0, 6_000), (14_000, 20_000), *[(3_000 + 3_000 * i, 8_000 + 3_000 * i) for i in range(4)]]
    )
    assert case.left_out()[0] == [1]


def test_a_memory_budget_that_is_too_small():
    case = Case()
    case.add(case.bad(8_000, 20_000), [(0, 12_000)])
    with pytest.raises(ParameterError, match="k-mers that tell contigs of bad reads"):
        leave_out(reads_of(case.reads), laid_out(case.contigs, case.rows), FEW, 1 << 20, 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads):
    case = Case()
    case.add(case.bad(8_000, 20_000), [(0, 8_000), (5_000, 12_000)])
    given = reads_of(case.reads), laid_out(case.contigs, case.rows), FEW, None
    found = leave_out(*given, threads)[1]
    assert np.array_equal(found.start, leave_out(*given, 1)[1].start) and len(found) == 2
