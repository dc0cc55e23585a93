"""Contigs that go round a small circle more than once."""

import dataclasses

import numpy as np
import pytest

from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.rounds import in_one_round
from overlapper.correction.own_reads import OwnReads
from overlapper.simulate import random_genome
from overlapper.tables import Reads
from tests.oracle.adapters import turned
from tests.steps import assemble_reads

ROUND = random_genome(2500, seed=7).sequence(0)
NONE = np.empty(0, np.int64)


def noisy(text, rate, seed=1):
    """Substitute, insert or delete so large a share of the bases."""
    random = np.random.default_rng(seed)
    made = []
    for base in text:
        what = random.random() / max(rate, 1e-9)
        made += [base] if what > 1 else [["", "A", "C", "G", "T", base + base][int(6 * what)]]
    return "".join(made)


def laid_out(text, *reads, links=NONE):
    """Return one contig, with reads of some lengths that begin at some bases of it."""
    contigs = Contigs(
        Reads.from_sequences(["utg000001l"], [text]), np.array([False]), np.array([9.0]),
        np.array([len(reads)]), links, links, links.astype(np.int32),
    )  # fmt: skip
    start, size = np.array(reads, np.int64).T
    n, whole = len(reads), np.full(len(reads), len(text))
    own = OwnReads(np.zeros(n), np.arange(n), start, np.arange(n) % 2 == 1, np.zeros(n), size, whole, size)
    return LaidOut(contigs, own.validate())


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.14])
def test_a_dimer_is_a_circle_of_one_round(rate):
    text = noisy(ROUND[900:] + ROUND + ROUND[:400], rate)
    given = laid_out(text, (0, len(text)), (300, 2500), (1200, 2400), (2450, 2000))
    made = in_one_round(given)
    assert made.contigs.circular.tolist() == [True]
    assert made.contigs.sequences.names == ["utg000001c"]
    assert abs(int(made.contigs.sequences.lengths[0]) - len(noisy(ROUND, rate))) <= 50 * (rate > 0)
    own, period = made.reads, int(made.contigs.sequences.lengths[0])
    assert (own.r_end - own.r_start).tolist() == [period, min(2500, period), 2400, 2000]
    assert (own.start >= 0).all() and (own.start < period).all() and (own.unitig_length == period).all()
    if not rate:
        assert made.contigs.sequences.sequence(0) == text[:2500]
        assert made.contigs.depth[0] == pytest.approx((2500 + 2500 + 2400 + 2000) / 2500)


@pytest.mark.parametrize(
    "given",
    [
        laid_out(ROUND * 2, (0, 5000), (200, 3000), (900, 2800), (1500, 2600)),  # reads of an array
        laid_out(ROUND + ROUND[:1200], (0, 3700), (200, 2000), (300, 2000)),  # less than a round and a half
        laid_out(ROUND[:800] + random_genome(900).sequence(0) + ROUND[1700:] + ROUND, (0, 5000), (9, 2000)),
        laid_out(random_genome(4000).sequence(0), (0, 4000), (200, 2000)),
        laid_out("ACGT", (0, 4)),
    ],
    ids=["array", "short", "apart", "unique", "tiny"],
)
def test_others_stay(given):
    assert in_one_round(given) is given


def linked(one, other):
    """Return two contigs of which the longer one goes on with the other one."""
    both = one.beside(other)
    ends = np.array([0]), np.array([2]), np.array([900], np.int32)
    links = dict(zip(("link_source", "link_target", "link_overlap"), ends, strict=True))
    return dataclasses.replace(both, contigs=dataclasses.replace(both.contigs, **links))


def test_linked_contigs_that_both_go_round_are_circles():
    """Of a molecule of which some copies differ."""
    dimer = laid_out(ROUND * 2, (0, 2500), (200, 2000), (300, 2000))
    shorter = laid_out(ROUND[800:] + ROUND, (0, 2500), (200, 2000))
    made = in_one_round(linked(dimer, shorter))
    assert made.contigs.circular.all() and made.contigs.sequences.lengths.tolist() == [2500, 2500]
    assert not len(made.contigs.link_source)
    little_more = laid_out(ROUND[800:] + ROUND[:1000], (0, 2500), (200, 2000))
    made = in_one_round(linked(dimer, little_more))
    assert made.contigs.circular.all() and made.contigs.sequences.lengths.tolist() == [2500, 2500]
    given = linked(dimer, laid_out(random_genome(2000, seed=3).sequence(0) * 2, (0, 2000)))  # another period
    assert in_one_round(given) is given
    given = linked(dimer, laid_out(random_genome(3000).sequence(0), (0, 2500)))
    assert in_one_round(given) is given


def test_contigs_are_put_in_order_again():
    """The dimer was the longer one; the other contig is linked to itself from end to end."""
    dimer = laid_out(ROUND * 2, (0, 5000), (200, 2000), (300, 2000))
    other = laid_out(random_genome(4000).sequence(0), (0, 4000), links=np.array([1]))
    made = in_one_round(dimer.beside(other))
    assert made.contigs.sequences.names == ["utg000001l", "utg000002c"]
    assert made.contigs.sequences.lengths.tolist() == [4000, 2500]
    assert made.contigs.link_source.tolist() == [1]
    assert made.reads.unitig.tolist() == [1, 1, 1, 0]


def test_monomers_and_a_dimer_of_a_plasmid_are_one_circle():
    starts = range(0, 2500, 60)
    reads = [(ROUND * 3)[start : start + 2500] for start in starts] + [(ROUND * 3)[777:5777]]
    reads = [turned(read) if i % 2 else read for i, read in enumerate(reads)]
    contigs = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(reads))], reads)).contigs
    assert contigs.circular.tolist() == [True]
    text = contigs.sequences.sequence(0)
    assert len(text) == 2500 and (text in ROUND * 2 or turned(text) in ROUND * 2)
