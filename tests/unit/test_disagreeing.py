"""Bases about which the strands of reads disagree, and the motifs that they share."""

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.disagreeing import Disagreeing, shared_motifs, told
from overlapper.assembly.undecided import find_in_doubt
from overlapper.correction.doubt import bed
from overlapper.kernels.seeds.surrounded_runs import FLANK
from overlapper.tables import Reads
from tests.graph_cases import random_genome, reverse_complement
from tests.oracle.disagreeing import disagreeing as by_oracle
from tests.tries import tries

GENOME = random_genome(30_000, 7)
READ_AS = str.maketrans("ACGT", "GTAC")


def named(sequences):
    return Reads.from_sequences([f"s{n}" for n in range(len(sequences))], sequences)


def found(contigs, reads, circular=None, room=None):
    circular = np.zeros(len(contigs), bool) if circular is None else np.array(circular)
    return find_in_doubt(named(contigs), circular, named(reads), room, 1)[1]


def rows(made):
    columns = (made.contig, made.start, made.end, made.reverse, made.reads)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def read_with_modified(bases, motif, base, share, rng):
    """Return what is read of bases, whose strand has ``motif`` modified at one base, by chance as another."""
    read = list(bases)
    for at in re.finditer(motif, bases):
        if rng.random() < share:
            read[at.start() + base] = read[at.start() + base].translate(READ_AS)
    return "".join(read)


def reads_of(genome, strands, **modified):
    """Return 20 reads of the genome by turns of the two strands, of which some have modified bases."""
    rng, reads = random.Random(1), []
    for number in range(20):
        read = genome if number % 2 == 0 else reverse_complement(genome)
        for motif, base in modified.items() if number % 2 in strands else ():
            read = read_with_modified(read, motif, base, 0.8, rng)
        reads.append(read)
    return reads


@pytest.mark.parametrize(("strand", "reverse"), [(0, False), (1, True)])
def test_bases_that_one_strand_has_modified_are_found_and_their_motif_named(strand, reverse):
    made = found([GENOME], reads_of(GENOME, [strand], GATC=1))
    places = [at.start() for at in re.finditer("GATC", GENOME)]
    hits = {place for place in places if ((made.start <= place + 3) & (made.end > place)).any()}
    assert len(hits) > 0.8 * len(places) and len(made) <= len(places)
    assert set(made.reverse.tolist()) == {reverse}
    (motif,) = shared_motifs(named([GENOME]), made)
    assert motif.bases == "GATC" and motif.stretches > 0.9 * len(made)


def test_motifs_of_both_strands_are_told_by_the_letters_of_their_middle():
    made = found([GENOME], reads_of(GENOME, [0, 1], GATC=1, CC=0))
    assert not [motif for motif in shared_motifs(named([GENOME]), made) if "W" in motif.bases]
    made = found([GENOME], reads_of(GENOME, [0, 1], GATC=1, CCAGG=1, CCTGG=1))
    motifs = shared_motifs(named([GENOME]), made)
    assert [motif.bases for motif in motifs] == ["GATC", "CCWGG"]
    (line,) = told(made, motifs)
    assert line.endswith(
        f"{motifs[0].stretches} near GATC, {motifs[1].stretches} near CCWGG: modified bases?"
    )


def test_errors_of_both_strands_are_no_disagreement():
    rng = random.Random(2)
    reads = []
    for number in range(20):
        read = "".join(letter.translate(READ_AS) if rng.random() < 0.005 else letter for letter in GENOME)
        reads.append(reverse_complement(read) if number % 2 else read)
    made = found([GENOME], reads)
    assert not len(made) and not told(made, [])
    assert shared_motifs(named([GENOME]), made) == []


@pytest.mark.parametrize(("right", "wrong", "is_told"), [(2, 2, True), (1, 2, False), (2, 1, False)])
def test_two_reads_more_decide_what_a_strand_has(right, wrong, is_told):
    """Reads of the forward strand have another base at 150, so that no run is longer."""
    contig, other = (GENOME[:149] + bases + GENOME[152:300] for bases in ("CAC", "CTC"))
    made = found([contig], [other] * wrong + [reverse_complement(contig)] * right)
    assert [row[3:] for row in rows(made)] == [(False, wrong)] * is_told
    assert told(made, []) == []  # one place is no line of the log
    assert all(148 < start <= 150 < end < 153 for start, end in zip(made.start, made.end, strict=True))
    assert [line.split("\t")[3:] for line in bed(made.doubt(), named([contig]))] == [
        ["strands", f"{wrong}.0"]
    ] * is_told


def test_strands_whose_reads_end_do_not_disagree():
    contig = GENOME[:600]
    reads = [contig[:300]] * 5 + [contig[320:]] * 5 + [reverse_complement(contig)] * 5
    assert not len(found([contig], reads[:5] + reads[10:]))
    assert not len(found([contig], reads[5:]))


def test_copies_that_differ_are_no_disagreement():
    """Most reads of one copy are of the forward strand, of the other one most of the reverse strand."""
    one = GENOME[:600]
    other = "".join(
        base.translate(READ_AS) if place in (300, 400) else base for place, base in enumerate(one)
    )
    reads = [one] * 6 + [reverse_complement(one)] * 2 + [other] * 2 + [reverse_complement(other)] * 6
    assert not len(found([one, other], reads))
    assert len(found([one], reads[:8] + [other] * 12))


SMALL = st.text("AC", min_size=24, max_size=70) | st.text("ACGTN", min_size=24, max_size=260)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(SMALL, st.booleans()), min_size=1, max_size=3), st.data())
def test_the_same_as_the_oracle(contigs, data):
    """Reads are contigs, turned by strand, with a base changed on one strand."""
    reads = []
    for bases, _ in contigs:
        at = data.draw(st.integers(0, len(bases) - 1))
        changed = bases[:at] + data.draw(st.sampled_from(["", "A", "CC", "G"])) + bases[at + 1 :]
        for one in [changed] * data.draw(st.integers(0, 4)) + [reverse_complement(bases)] * data.draw(
            st.integers(0, 4)
        ):
            reads.append(one + one if data.draw(st.booleans()) else one)
    sequences, circular = zip(*contigs, strict=True)
    made = found(sequences, reads, circular)
    assert rows(made) == by_oracle(contigs, reads, FLANK)
    assert rows(found(sequences, reads, circular, room=4000)) == rows(made)


def test_without_contigs_strands_disagree_about_nothing():
    assert isinstance(made := found([], [GENOME]), Disagreeing) and not len(made)
