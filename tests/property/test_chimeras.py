import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.chimeras import (
    BY_CHANCE,
    CLIP,
    FEWEST,
    JUMP,
    RAGGED,
    REST,
    Sound,
    sound_parts,
    within_molecules,
)  # fmt: skip
from overlapper.correction.own_reads import OwnReads
from overlapper.tables import Reads
from tests.graph_cases import intervals_near, overlap_table
from tests.oracle import chimeras as oracle
from tests.tries import tries

LENGTH = 2400


def sound(rows, reverse=False, part_of=sound_parts):
    """Return the sound part of read 0, of which each other read has one interval, and goes on beyond it."""
    overlaps, lengths = [], [LENGTH]
    for number, (start, end, before, behind, *more) in enumerate(rows, 1):
        left, right = (behind, before) if reverse else (before, behind)
        bases = end - start + sum(more)
        overlaps.append((0, number, reverse, start, end, left, left + bases))
        lengths.append(left + bases + right)
    found = part_of(overlap_table(overlaps), np.array(lengths), 1)
    assert (found.start[1:] == 0).all()
    assert (found.end[1:] == lengths[1:]).all()
    return int(found.start[0]), int(found.end[0])


def deep(overlaps, lengths, threads):
    return within_molecules(overlaps, lengths, True, threads)


def shallow(overlaps, lengths, threads):
    return within_molecules(overlaps, lengths, False, threads)


@st.composite
def rows_about_a_junction(draw):
    """Draw overlaps of a read of which many stop near one place."""
    place = draw(st.integers(700, 1700))
    beyond = st.sampled_from([0, CLIP - 1, CLIP, 900])
    rows = st.tuples(intervals_near(place, 300, LENGTH), beyond, beyond)
    return [(*interval, *more) for interval, *more in draw(st.lists(rows, max_size=14))]


@settings(max_examples=tries(500), deadline=None)
@given(rows_about_a_junction(), st.booleans())
def test_sound_parts_equal_the_oracle(rows, reverse):
    assert sound(rows, reverse) == oracle.sound(rows, LENGTH, CLIP, FEWEST)


STOP = [(0, 1500, 0, 800), (200, 1520, 900, 700), (300, 1490, 0, 5000)]
BEYOND = [(1510, 2400, 0, 0), (1480, 2300, 0, 0)]


def test_the_longer_part_of_a_chimera_is_sound():
    assert sound(STOP + BEYOND) == (0, 1520 - CLIP)
    turned = [(LENGTH - end, LENGTH - start, behind, before) for start, end, before, behind in STOP + BEYOND]
    assert sound(turned) == (LENGTH - 1520 + CLIP, LENGTH)


def test_overlaps_that_go_on_a_little_reach_across_no_junction():
    assert sound([*STOP, (300, 1740, 0, 0), *BEYOND]) == (0, 1740 - CLIP)


def test_a_read_that_another_crosses_is_whole():
    assert sound([*STOP, *BEYOND, (1000, 2000, 0, 0)]) == (0, LENGTH)


def test_a_read_on_which_others_end_is_whole():
    """Where few reads lie on one, none may reach across; but these end with their overlaps."""
    ending = [(start, end, before, CLIP - 1) for start, end, before, _ in STOP]
    assert sound(ending + BEYOND) == (0, LENGTH)
    assert sound(STOP[:2] + BEYOND) == (0, LENGTH)


def test_sound_parts_of_corrected_reads():
    given = np.array([1000, 2000, 0])
    found = Sound(np.array([0, 500, 0]), np.array([400, 2000, 0]), given)
    corrected = found.of_corrected(given, np.array([990, 2200, 0]))
    assert [column.tolist() for column in corrected] == [[0, 550, 0], [396, 2200, 0], [990, 2200, 0]]


def test_reads_are_cut_at_once_and_in_parts():
    reads = Reads.from_sequences(list("abcd"), ["ACGTACGT", "CCGGTTAA", "GATTACA", "T"])
    kept = Sound(np.array([0, 3, 1, 0]), np.array([8, 8, 4, 1]), reads.lengths)
    expected = ["ACGTACGT", "GTTAA", "ATT", "T"]
    cut = kept.cut(reads.bases_alone())
    assert [cut.sequence(i) for i in range(4)] == expected
    parts = list(kept.cut_parts(reads.bases_alone().rows(*ab) for ab in ((0, 1), (1, 3), (3, 4))))
    assert [part.sequence(i) for part in parts for i in range(len(part))] == expected


def test_rows_of_cut_reads_are_rows_of_whole_ones():
    own = OwnReads([0, 0], [1, 0], [5, 0], [True, False], [0, 2], [5, 8], [9, 9], [5, 8]).validate()
    kept = Sound(np.array([0, 3]), np.array([8, 8]), np.array([8, 9]))
    whole = kept.on_whole(own)
    assert (whole.r_start.tolist(), whole.r_end.tolist()) == ([3, 2], [8, 8])
    assert whole.read_length.tolist() == [9, 8]


@st.composite
def rows_about_an_end(draw):
    """Draw overlaps of a read of which many end, or begin, near one place."""
    place = draw(st.integers(300, 2100))
    about = st.integers(-RAGGED - 10, RAGGED + 10).map(lambda by: place + by)
    beyond = draw(st.sampled_from([[0, 0, REST, REST + 1], [REST, REST + 1, 900]]).map(st.sampled_from))
    anywhere = st.integers(0, LENGTH)
    ending = st.tuples(st.integers(0, 200), about, beyond, beyond)
    beginning = st.tuples(about, st.integers(2200, LENGTH), beyond, beyond)
    any_row = st.tuples(anywhere, anywhere, beyond, beyond).map(lambda row: (*sorted(row[:2]), *row[2:]))
    most = draw(st.sampled_from([[7, 7, 7], [40, 7, 2], [7, 40, 2]]))
    rows = [
        draw(st.lists(kind, max_size=m)) for kind, m in zip((ending, beginning, any_row), most, strict=True)
    ]
    return [row for some in rows for row in some if row[0] < row[1]]


@settings(max_examples=tries(500), deadline=None)
@given(rows_about_an_end(), st.booleans())
def test_parts_within_molecules_equal_the_oracle(rows, reverse):
    expected = oracle.within_molecule(rows, LENGTH, CLIP, RAGGED, REST, FEWEST, BY_CHANCE)
    assert sound(rows, reverse, deep) == expected


ENDING = [(0, 1500, 0, 0), (200, 1520, 900, 100), (300, 1490, 0, REST)]


def test_a_read_goes_no_further_than_its_molecule():
    """Bases from nowhere, and another molecule behind: of these a few reads may have both."""
    assert sound(ENDING, part_of=deep) == (0, 1500)
    beginning = [(1480 + 10 * i, LENGTH, 0, 500) for i in range(4)]
    crossing = [(100, LENGTH, 0, 0), (200, LENGTH, 0, 0)]
    assert sound(ENDING + beginning + crossing, part_of=deep) == (0, 1490)
    assert sound(ENDING + crossing, part_of=deep) == (0, LENGTH)
    assert sound(ENDING + beginning + crossing * 2, part_of=deep) == (0, LENGTH)
    assert sound(ENDING[:2], part_of=deep) == (0, LENGTH)


def test_a_molecule_that_ends_as_it_begins_ends_where_reads_of_its_other_end_stop():
    stopping = [(800, 1500, 900, REST + 1)] * 9
    assert sound(ENDING + stopping, part_of=deep) == (0, 1500)
    shorter = [(800, 1500 - RAGGED - 1, 900, 900)]
    assert sound(ENDING + stopping + 3 * shorter, part_of=deep) == (0, 1500)
    assert sound(ENDING + stopping + 4 * shorter, part_of=deep) == (0, LENGTH)


STOPPING = [(0, 1500, 0, 800), (200, 1520, 900, REST + 1), (300, 1490, 0, 5000)]


def test_what_a_read_has_from_elsewhere_is_cut_off():
    stopping = 4 * STOPPING
    assert sound(stopping, part_of=deep) == (0, 1500)
    behind = [(1490 + 10 * i, LENGTH, 800, 0) for i in range(4)]  # another place of the circle
    assert sound(stopping + behind, part_of=deep) == (0, 1500)
    middle = [(start, end - 300, *rest) for start, end, *rest in stopping]
    behind = [(start - 300, *rest) for start, *rest in behind]
    assert sound(middle + behind, part_of=deep) == (0, 1200)
    turned = [(LENGTH - end, LENGTH - start, behind, before) for start, end, before, behind in stopping]
    assert sound(turned, part_of=deep) == (LENGTH - 1500, LENGTH)
    assert sound(stopping[:9], part_of=deep) == (0, LENGTH)  # by chance, or by errors
    assert sound(stopping, part_of=shallow) == (0, LENGTH)  # a bad stretch of a read that is needed


def test_a_read_goes_on_where_others_leave_a_repeat():
    """Of nine that stop there, or of ten, one is a copy of the repeat that goes on as the read does."""
    crossing = [(100, 1500 + CLIP, 0, 800)]
    nine, ten = 3 * STOPPING, [*3 * STOPPING, STOPPING[0]]
    assert sound(nine + crossing, part_of=deep) == (0, LENGTH)
    assert sound(ten + crossing, part_of=deep) == (0, 1500)
    assert sound(10 * STOPPING + 2 * crossing, part_of=deep) == (0, 1500)
    assert sound(20 * STOPPING + 3 * crossing, part_of=deep) == (0, LENGTH)


@pytest.mark.parametrize("sign", [1, -1])
def test_overlaps_that_jump_over_bases_do_not_cross(sign):
    """A read joins two places of a circle, and others, which have both, have bases between that it lacks."""
    bases = LENGTH - 100
    most = sign * max(m for m in range(bases) if m <= CLIP + (bases - m * (sign < 0)) // JUMP)
    crossing = [(100, LENGTH, 0, 0, most)] * 2
    jumping = [(100, LENGTH, 0, 0, most + sign)] * 9
    assert sound(4 * STOPPING + crossing, part_of=deep) == (0, LENGTH)
    assert sound(4 * STOPPING + jumping, part_of=deep) == (0, 1500)


def test_parts_in_common():
    lengths = np.array([1000, 1000])
    one = Sound(np.array([0, 500]), np.array([900, 1000]), lengths)
    other = Sound(np.array([100, 0]), np.array([1000, 400]), lengths)
    assert [part.tolist() for part in one.within(other)[:2]] == [[100, 500], [900, 1000]]
