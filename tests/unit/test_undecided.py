"""Runs of contigs that hardly more reads have than have something else there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.undecided import find_in_doubt
from overlapper.correction.doubt import bed
from overlapper.kernels.seeds.surrounded_runs import FLANK
from overlapper.tables import Reads
from tests.graph_cases import random_genome, reverse_complement
from tests.oracle.undecided import undecided as by_oracle
from tests.tries import tries

CONTIG = random_genome(400, 5)[:200] + "GCATAAAAAACGTC" + random_genome(400, 6)[:200]
RUN = CONTIG.index("AAAAAA")
LONGER = CONTIG[:RUN] + "A" + CONTIG[RUN:]
OTHER = CONTIG[:300] + ("C" if CONTIG[300] != "C" else "G") + CONTIG[301:]


def named(sequences):
    return Reads.from_sequences([f"s{n}" for n in range(len(sequences))], sequences)


def found(contigs, reads, circular=None, room=None):
    circular = np.zeros(len(contigs), bool) if circular is None else np.array(circular)
    return find_in_doubt(named(contigs), circular, named(reads), room, 1)[0]


def inner(made):
    return [row for row in rows(made) if row[1] not in (0, len(CONTIG) - FLANK)]


def rows(made):
    letters = [
        "ACGT"[base] if others else ""
        for base, others in zip(made.base.tolist(), made.others.tolist(), strict=True)
    ]
    columns = (made.contig, made.start, made.end, made.reads, made.others)
    return list(zip(*(column.tolist() for column in columns), letters, made.length.tolist(), strict=True))


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ([CONTIG] * 2, []),
        ([CONTIG] * 3 + [LONGER], []),
        ([CONTIG] * 3 + [LONGER] * 2, [(0, RUN, RUN + 6, 3, 2, "A", 7)]),
        ([CONTIG, reverse_complement(CONTIG), reverse_complement(LONGER)], [(0, RUN, RUN + 6, 2, 1, "A", 7)]),
        ([CONTIG] * 5 + [OTHER] * 3 + [LONGER] * 3, []),
    ],
)
def test_a_run_is_undecided_where_one_read_decides(reads, expected):
    made = found([CONTIG], reads)
    assert inner(made) == expected
    assert {row[1:3] for row in rows(made)} - {row[1:3] for row in expected} == {
        (0, FLANK), (len(CONTIG) - FLANK, len(CONTIG))
    }  # fmt: skip


def test_where_all_reads_have_something_else_the_runs_around_are_undecided_too():
    made = inner(found([CONTIG], [LONGER] * 5))
    assert [row for row in made if row[4]] == [(0, RUN, RUN + 6, 0, 5, "A", 7)]
    assert all(row[1] >= RUN - FLANK and row[2] <= RUN + 6 + FLANK for row in made) and len(made) > 1


def test_what_another_contig_has_is_of_another_haplotype():
    reads = [CONTIG] * 3 + [LONGER] * 3
    assert inner(found([CONTIG], reads))
    assert not [row for row in rows(found([CONTIG, LONGER], reads)) if row[1] == RUN]


@pytest.mark.parametrize(("few", "many", "told"), [(2, 4, True), (3, 6, True), (3, 5, False), (4, 9, False)])
def test_few_reads_have_what_a_few_that_err_alike_would_have(few, many, told):
    made = found([CONTIG, LONGER], [CONTIG] * few + [LONGER] * many)
    expected = [(0, RUN, RUN + 6, few, many, "A", 7)] if told else []
    assert [row for row in rows(made) if row[4]] == expected


def test_stretches_and_alleles_are_written():
    contig = named([CONTIG])
    made = found([CONTIG], [CONTIG, LONGER, OTHER])
    lines = list(bed(made.doubt(), contig))
    assert f"s0\t{RUN}\t{RUN + 6}\tundecided\t2.0" in lines and f"s0\t0\t{FLANK}\tundecided\t0.0" in lines
    heads, places = [], []
    for line in made.vcf(contig):
        (heads if line.startswith("#") else places).append(line)
    assert heads[0] == "##fileformat=VCFv4.3" and f"##contig=<ID=s0,length={len(CONTIG)}>" in heads
    before = CONTIG[RUN - 1]
    assert places == [
        f"s0\t{RUN}\t.\t{before}AAAAAA\t{before}AAAAAAA\t.\t.\tAD=2,1",
        f"s0\t301\t.\t{CONTIG[300]}\t{OTHER[300]}\t.\t.\tAD=2,1",
    ]


def test_runs_across_the_end_of_a_circle_are_looked_at():
    turned = CONTIG[RUN + 2 :] + CONTIG[: RUN + 2]
    assert rows(found([turned], [CONTIG + CONTIG] * 2, [True])) == []
    made = found([turned], [LONGER + LONGER], [True])
    assert (0, len(turned) - 2, len(turned) + 4, 0, 2, "A", 7) in rows(made)
    assert not [line for line in made.vcf(named([turned])) if line.startswith(f"s0\t{len(turned) - 2}")]


def test_without_contigs_nothing_is_undecided():
    made = found([], [CONTIG])
    assert not len(made.doubt()) and all(line.startswith("#") for line in made.vcf(named([])))


SMALL = st.text("AC", min_size=18, max_size=60) | st.text("ACGTN", min_size=18, max_size=60)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(SMALL, st.booleans()), min_size=1, max_size=3), st.data())
def test_the_same_as_the_oracle(contigs, data):
    """Reads are contigs, twice in a row, turned, or with a base changed."""
    reads = []
    for bases, _ in contigs:
        for _ in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, len(bases) - 1))
            read = bases + bases if data.draw(st.booleans()) else bases
            read = read[:at] + data.draw(st.sampled_from(["", "A", "CC", "G"])) + read[at + 1 :]
            reads.append(reverse_complement(read) if data.draw(st.booleans()) else read)
    sequences, circular = zip(*contigs, strict=True)
    expected = by_oracle(contigs, reads, FLANK)
    made = found(sequences, reads, circular)
    assert [row for row in rows(made) if row[3] or row[4] or not _is_end(row, contigs)] == [
        row for row in expected if row[3] or row[4] or not _is_end(row, contigs)
    ]
    some = found(sequences, reads, circular, room=40 * 40)
    assert rows(some) == rows(made)


def _is_end(row, contigs):
    bases, circular = contigs[row[0]]
    return not circular and (row[1] == 0 or row[2] == len(bases))
