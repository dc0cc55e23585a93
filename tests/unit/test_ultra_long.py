"""Contigs joined by ultra-long reads, compared with the oracle and with the genome."""

import itertools
import random
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import overlapper
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.passages import join_by
from overlapper.assembly.ultra_long import UltraLong, Unique, passages, walks_of
from overlapper.correction.own_reads import OwnReads
from overlapper.errors import ParameterError
from overlapper.library.results import PoorResultWarning
from overlapper.simulate import adapted_model
from overlapper.tiled.stages import Stages
from tests.oracle import ultra_long as oracle
from tests.read_sets import reads_of

SHARED = 150
"""Bases that contigs have of their neighbours."""
turned = oracle.turned


def sequence(random_, length):
    return "".join(random_.choices("ACGT", k=length))


class Case:
    """A genome, its contigs, and their links.

    Parameters
    ----------
    random_ : random.Random
    words : str
        Stretches of the genome: those in capitals are there once, others are repeats, one contig for all
        copies; behind a minus the other strand.
    circular : bool
    """

    def __init__(self, random_, words, circular=False):
        tokens = [(word.lstrip("-"), word[0] == "-") for word in words.split()]
        bases = {
            name: sequence(random_, random_.randrange(500, 900))
            for name in sorted({name for name, _ in tokens})
        }
        strands = [turned(bases[name]) if turn else bases[name] for name, turn in tokens]
        self.genome, self.circular = "".join(strands), circular
        last = len(tokens) if circular else len(tokens) - 1
        contigs, nodes = {}, []
        for i, (name, turn) in enumerate(tokens):
            left = strands[i - 1][-SHARED:] if i or circular else ""
            right = strands[(i + 1) % len(tokens)][:SHARED] if i < last else ""
            if name.islower():
                nodes.append((name, turn))
                follower = tokens[(i + 1) % len(tokens)]
                if i < last and follower[0].islower():  # what two copies in a row have between them
                    nodes.append((name + follower[0], False))
                    contigs[name + follower[0]] = strands[i][-SHARED:] + right
                contigs[name] = bases[name]
            else:
                nodes.append((name, False))
                contigs[name] = left + strands[i] + right
        names = sorted(contigs)
        turns = {name: random_.random() < 0.5 for name in names}
        self.contigs = [turned(contigs[name]) if turns[name] else contigs[name] for name in names]
        self.walk = [2 * names.index(name) + (turn ^ turns[name]) for name, turn in nodes]
        kinds = [name.isupper() for name, _ in nodes]
        self.links = {}
        for i in range(len(nodes) if circular else len(nodes) - 1):
            j = (i + 1) % len(nodes)
            overlap = SHARED * (1 + (kinds[i] and kinds[j]))
            one, other = self.walk[i], self.walk[j]
            self.links[one, other] = self.links[other ^ 1, one ^ 1] = overlap

    def laid_out(self, random_):
        """Return the contigs as they are laid out, with reads that have their bases."""
        once = [link for link in sorted(self.links) if link <= (link[1] ^ 1, link[0] ^ 1)]
        source, target = np.array(once).reshape(-1, 2).T
        overlap = np.array([self.links[link] for link in once], np.int32)
        lengths = np.array([len(bases) for bases in self.contigs])
        rows, self.reads = [], []
        for contig, bases in enumerate(self.contigs):
            for start in random_.choices(range(len(bases) - 100), k=random_.randrange(4, 9)):
                reverse, read = random_.random() < 0.5, bases[start : start + random_.randrange(90, 300)]
                rows.append((contig, len(self.reads), start, reverse, 0, len(read), len(bases), len(read)))
                self.reads.append(turned(read) if reverse else read)
        own = OwnReads(*np.array(rows).T)
        n = len(lengths)
        of_each = np.zeros(n, np.bool_), np.full(n, 6.0), np.bincount(own.unitig, minlength=n)
        contigs = Contigs(reads_of(self.contigs), *of_each, source, target, overlap)
        return LaidOut(contigs, own)

    def long_reads(self, random_, number, length, errors=0.03, chimeras=0.0):
        """Return reads of the genome, of either strand, with errors."""
        reads = []
        for _ in range(number):
            read = ""
            for _ in range(1 + (random_.random() < chimeras)):
                around = self.genome * (1 + self.circular)
                start = random_.randrange(max(1, len(self.genome) - (not self.circular) * length))
                piece = around[start : start + length]
                read += turned(piece) if random_.random() < 0.5 else piece
            kinds = random_.choices(range(4), [1 - errors, errors / 3, errors / 3, errors / 3], k=len(read))
            reads.append(
                "".join(
                    ("", base, random_.choice("ACGT"), base + random_.choice("ACGT"))[(kind + 1) % 4]
                    for base, kind in zip(read, kinds, strict=True)
                )
            )
        return reads


def walks_by_us(laid_out, reads, threads=1):
    unique = Unique.of(laid_out.contigs.sequences, None, threads)
    return walks_of(laid_out.contigs, unique, [reads_of(reads[:5]), reads_of(reads[5:])], threads)


def joined(laid_out, reads):
    steps = SimpleNamespace(stages=Stages(), threads=2, room=None)
    return join_by(steps, laid_out, [reads_of(reads)]), UltraLong.of(steps.stages.done)


WORDS = [
    "A r B r C r D", "A r B -r C", "A r r B", "A B r C D r E", "A r s B r C s D", "A r s B s r C",
    "A r B s r C", "r A r B r", "A r -r B",
]  # fmt: skip
"""The last two stay open: where ends are, and where a repeat turns back at its end."""


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("seed", range(4))
def test_walks_and_passages_are_those_of_the_oracle(words, seed):
    random_ = random.Random(f"{words}{seed}")
    case = Case(random_, words, circular=seed == 3)
    laid_out = case.laid_out(random_)
    reads = case.long_reads(random_, 12, random_.choice([1500, 2500, 3500]), 0.02 * seed, 0.2)
    reads[0] = reads[0][:700] + "N" * 40 + reads[0][740:]
    expected = oracle.walks(case.contigs, case.links, reads)
    for threads in (1, 3):
        found, seen = walks_by_us(laid_out, reads, threads)
        assert found == Counter(expected)
        assert (seen.reads, seen.bases) == (12, sum(map(len, reads)))
    again = random_.sample(reads, len(reads))
    assert walks_by_us(laid_out, again)[0] == found
    assert passages(found, case.links)[0] == oracle.passages(expected, case.links)


@pytest.mark.parametrize("seed", range(40))
def test_passages_of_random_walks_are_those_of_the_oracle(seed):
    random_ = random.Random(seed)
    walks = []
    truth = [random_.choices(range(2 * random_.randrange(2, 8)), k=12) for _ in range(2)]
    for _ in range(random_.randrange(1, 30)):
        of = random_.choice(truth)
        start = random_.randrange(10)
        walk = tuple(of[start : start + random_.randrange(2, 6)])
        walks.append(min(walk, oracle.back(walk)))
    steps = [step for walk in walks for way in (walk, oracle.back(walk)) for step in itertools.pairwise(way)]
    links = steps[:: random_.randrange(1, 9)]
    assert passages(Counter(walks), links)[0] == oracle.passages(walks, links)


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("words", WORDS[:-2])
def test_contigs_are_the_genome_and_have_their_reads_where_these_are(words, circular):
    """Also where reads are chimeras now and then."""
    random_ = random.Random(words)
    case = Case(random_, words, circular)
    laid_out = case.laid_out(random_)
    made, seen = joined(laid_out, case.long_reads(random_, 120, 4500, chimeras=0.02))
    (found,) = (made.contigs.sequences.sequence(contig) for contig in range(len(made.contigs)))
    around = case.genome * (1 + circular)
    assert len(found) == len(case.genome)
    assert found in around or turned(found) in around
    assert made.contigs.circular.tolist() == [circular]
    assert not len(made.contigs.link_source)
    assert (seen.too_few, seen.contradicted) == (0, 0)
    assert seen.passages == len(made.carried)
    own = made.reads
    assert sorted(own.read.tolist()) == list(range(len(case.reads)))
    for row in own:
        place = row.start % len(found)
        bases = (found * (1 + circular))[place : place + row.r_end]
        assert (turned(bases) if row.reverse else bases) == case.reads[row.read]
    assert made.contigs.reads.tolist() == [len(own)]
    for row in made.carried:
        assert 0 <= row.start < row.start + row.r_end <= len(found) * (1 + circular)


def test_a_repeat_stays_where_a_way_out_of_it_is_not_known():
    random_ = random.Random(1)
    case = Case(random_, "A r B r C r D")
    laid_out = case.laid_out(random_)
    made, seen = joined(laid_out, [case.genome[:2_300]] * 2)
    assert seen.passages == 1
    contigs = made.contigs
    texts = [contigs.sequences.sequence(contig) for contig in range(len(contigs))]
    repeat = case.contigs[case.walk[1] >> 1]
    assert len(contigs) == 4
    assert repeat in texts or turned(repeat) in texts
    assert len(contigs.link_source) == 4
    assert sum(repeat in text or turned(repeat) in text for text in texts) == 2
    assert any(case.genome[:2_000] in text or turned(case.genome[:2_000]) in text for text in texts)
    # Depth and reads of the repeat are dealt out.
    there = next(number for number, text in enumerate(texts) if len(text) == len(repeat))
    assert contigs.depth[there] == 3.0
    assert sorted(made.reads.read.tolist()) == list(range(len(case.reads)))


def test_two_reads_take_a_passage_and_three_times_as_many_as_go_elsewhere():
    assert passages(Counter({(0, 2): 1}), [])[1] == {0, 3}
    assert passages(Counter({(0, 2): 2}), [])[0] == [(0, 2)]
    assert passages(Counter({(0, 2): 6, (0, 4): 2}), [])[0] == [(0, 2)]
    taken, too_few, contradicted = passages(Counter({(0, 2): 5, (0, 4): 2}), [])
    assert (taken, too_few, contradicted) == ([], set(), {0, 3, 5})
    both = Counter({(0, 8, 2): 5, (4, 8, 6): 5})
    assert passages(both, [])[0] == [(0, 8, 2), (4, 8, 6)]
    # One that ends within the repeat says nothing; one that turns back to where it came from is none.
    assert passages(both + Counter({(0, 8): 3, (8, 6): 3}), [])[0] == [(0, 8, 2), (4, 8, 6)]
    assert passages(Counter({(0, 8, 1): 5}), [])[0] == []


def test_a_passage_leaves_nothing_without_a_way():
    """Reads that go on from one copy of a repeat alone do not make this the only one."""
    reads = Counter({(0, 8, 2, 8): 2})
    assert passages(reads, [])[0] == [(3, 9)]
    links = [(0, 8), (2, 8), (8, 2), (8, 4)]
    assert passages(reads, links + [(other ^ 1, one ^ 1) for one, other in links])[0] == [(0, 8, 2)]
    # Of two by two, one pair goes with the other one.
    crossed = [(0, 4), (0, 6), (2, 4), (2, 6), (5, 1), (7, 1), (5, 3), (7, 3)]
    assert passages(Counter({(0, 4): 4}), crossed)[0] == []
    assert passages(Counter({(0, 4): 4, (2, 6): 2}), crossed)[0] == [(0, 4), (2, 6)]


def test_a_read_without_the_bases_of_the_only_way_is_not_of_it():
    random_ = random.Random(5)
    case = Case(random_, "A B C")
    case.contigs[case.walk[1] >> 1] = (
        sequence(random_, 150) + sequence(random_, 20_000) + sequence(random_, 150)
    )
    laid_out = case.laid_out(random_)
    whole = [case.contigs[node >> 1] for node in case.walk]
    one, _, other = (
        turned(bases) if node & 1 else bases for bases, node in zip(whole, case.walk, strict=True)
    )
    reads = [one + sequence(random_, 20_300 - 600) + other] * 3
    found, seen = walks_by_us(laid_out, reads)
    assert (found, seen.without_way, oracle.walks(case.contigs, case.links, reads)) == ({}, 3, [])


def test_reads_that_span_nothing_change_nothing():
    random_ = random.Random(3)
    case = Case(random_, "A r B r C")
    laid_out = case.laid_out(random_)
    made, seen = joined(laid_out, case.long_reads(random_, 20, 400))
    assert made is laid_out or made.contigs.sequences.sequence(0) == laid_out.contigs.sequences.sequence(0)
    assert (len(made.contigs), len(made.carried), seen.passages) == (len(case.contigs), 0, 0)


def test_reads_of_another_sample_are_told():
    seen = UltraLong(reads=20, bases=9, on_contigs=9)
    assert seen._replace(on_contigs=10).warnings() == []
    assert seen.warnings() == [
        "warning: 9 of 20 ultra-long reads lie on contigs: are they of the same sample?"
    ]
    assert UltraLong(1_000, 9, 90, 17, 0, 0, 3, 1, 2).told() == (
        "17 of 1,000 ultra-long reads go from contig to contig; 3 passages taken; refused at ends of "
        "contigs: 1 as too few reads go on, 2 as reads disagree"
    )


def test_a_memory_budget_that_is_too_small():
    contigs = reads_of([sequence(random.Random(1), 5_000)])
    with pytest.raises(ParameterError, match=r"5,000 k-mers that ultra-long reads .* expected 30 MB more"):
        Unique.of(contigs, 100 << 20, 1)


def test_a_circle_with_two_copies_of_a_repeat_is_no_two_haplotypes():
    """The library; without ultra-long reads the contig of both copies looks like one of both haplotypes."""
    random_ = random.Random(2)
    repeat = sequence(random_, 12_000)
    genome = sequence(random_, 20_000) + repeat + sequence(random_, 18_000) + repeat
    hifi, long = (
        overlapper.simulate_reads(reads_of([genome]), model, coverage=30, seed=4, circular=True)[0]
        for model in (
            adapted_model("hifi", mean_length=5_000, length_sd=800),
            adapted_model("ont", mean_length=30_000, length_sd=5_000, identity=0.95),
        )
    )
    made = overlapper.assemble(hifi, ul=long, threads=1)
    (found,) = (made.contigs.sequence(contig) for contig in range(len(made.contigs)))
    assert len(found) == len(genome)
    assert found in 2 * genome or turned(found) in 2 * genome
    assert (made.table["passages"].tolist(), made.circular.tolist()) == ([2], [True])
    assert made.made.haplotypes is None


def test_reads_with_errors_are_not_joined():
    reads, _ = overlapper.simulate_reads(overlapper.random_genome(20_000), "ont-r9", coverage=20)
    with pytest.warns(PoorResultWarning, match="ul is not used: ultra-long reads join contigs of accurate"):
        overlapper.assemble(reads, ul=["ACGT" * 500], threads=1)
