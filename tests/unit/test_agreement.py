"""Qualities of contigs that exact overlaps were laid out to."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.agreement import AGREED, with_agreement, with_votes
from overlapper.assembly.covered import mask_of
from overlapper.correction.own_reads import OwnReads
from overlapper.correction.polish import Unitigs
from overlapper.correction.read_consensus import CONFIRMED_DEPTH
from overlapper.tables import Overlaps, Reads
from tests.graph_cases import overlap_table
from tests.oracle.agreement import agreeing_reads
from tests.tries import tries

LENGTHS, CIRCULAR = [12, 10], [False, True]


def unitigs():
    return Unitigs(Reads.from_sequences(["l", "c"], ["A" * n for n in LENGTHS]), np.array(CIRCULAR))


def on(places):
    """Reads 0, 1, ... on unitigs, as unitig, start, strand, and interval of the read."""
    unitig, start, reverse, r_start, r_end = np.array(places, np.int64).reshape(-1, 5).T
    return OwnReads(
        unitig.astype(np.int32), np.arange(len(unitig), dtype=np.int32), start, reverse.astype(bool),
        r_start.astype(np.int32), r_end.astype(np.int32), np.array(LENGTHS)[unitig], r_end,
    )  # fmt: skip


def test_bases_on_which_enough_reads_voted_are_as_sure_as_two_that_err_alike_are_rare():
    """On the circle, one stretch begins before its first base, and another one ends behind its last."""
    made = with_agreement(unitigs(), on([(0, 0, 0, 0, 4)] * 3), Overlaps.empty(), 0.0)
    covered = np.array([0, 0, 1, 1]), np.array([2, 8, -1, 8]), np.array([5, 10, 1, 12])
    mask = mask_of(*covered, np.array(LENGTHS), np.array(CIRCULAR))
    voted = with_votes(made, mask, 0.02)
    assert voted.qualities_of(0).tolist() == [50] * 4 + [29] + [0] * 3 + [29] * 2 + [0] * 2
    assert voted.qualities_of(1).tolist() == [29] * 2 + [0] * 6 + [29] * 2
    assert with_votes(made, mask, 0.0).qualities_of(0)[4] == AGREED


def test_bases_that_three_reads_have_are_sure():
    reads = on(
        [
            (1, 8, 0, 0, 4),
            (0, 0, 0, 0, 9),
            (0, 2, 0, 0, 10),
            (1, -2, 0, 0, 5),
            (0, 4, 1, 0, 8),
            (1, 7, 0, 0, 10),
        ]
    )
    made = with_agreement(unitigs(), reads, Overlaps.empty(), 0.0)
    assert made.names == ["l", "c"]
    assert made[0].qualities.tolist() == [0] * 4 + [AGREED] * 5 + [0] * 3
    assert made[1].qualities.tolist() == [AGREED] * 2 + [0] * 6 + [AGREED] * 2
    # Reads 1 and 2 have bases 2 to 9 of the first; read 9 overlaps both, bases 0 to 4, and counts once.
    overlaps = overlap_table([(1, 9, 0, 0, 5, 0, 5), (9, 2, 0, 2, 5, 0, 3)])
    made = with_agreement(unitigs(), reads, overlaps, 0.0)
    assert made[0].qualities.tolist() == [0] * 2 + [AGREED] * 7 + [0] * 3


@st.composite
def layouts(draw):
    """Draw reads on both unitigs, and overlaps of these and of others."""
    bases = st.tuples(st.integers(0, 4), st.integers(5, 9))
    places = draw(
        st.lists(
            st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 1), bases), min_size=1, max_size=6
        )
    )
    places = [(unitig, start - 3 * unitig, *rest, *span) for unitig, start, *rest, span in places]
    anyone = st.integers(0, len(places) + 2)
    overlaps = draw(st.lists(st.tuples(anyone, anyone, st.booleans(), bases, bases), max_size=12))
    return places, [(q, t, reverse, *of_q, *of_t) for q, t, reverse, of_q, of_t in overlaps]


@settings(max_examples=tries(200), deadline=None)
@given(layouts(), st.sampled_from([1, 3]))
def test_agreement_equals_the_oracle(drawn, threads):
    places, overlaps = drawn
    made = with_agreement(unitigs(), on(places), overlap_table(overlaps), 0.0, threads=threads)
    agreeing = agreeing_reads(list(zip(LENGTHS, CIRCULAR, strict=True)), places, overlaps)
    for unitig, reads in enumerate(agreeing):
        expected = [AGREED if len(of_base) >= CONFIRMED_DEPTH else 0 for of_base in reads]
        assert made[unitig].qualities.tolist() == expected


def test_no_unitigs():
    none = Unitigs(Reads.empty(), np.zeros(0, bool))
    assert len(with_agreement(none, on([]), Overlaps.empty(), 0.0)) == 0
