"""Windows of unitigs, joined again; those of circles begin in the middle in every second round."""

import numpy as np
import pytest

from overlapper.correction.consensus import Consensus
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.unitig_windows import Joined, UnitigWindows
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from tests.read_sets import random_text

LENGTHS = [9_000, 200_000, 5_001]
CIRCULAR = np.array([True, True, False])


def unitigs():
    rng = np.random.default_rng(1)
    return Reads.from_sequences(list("abc"), [random_text(rng, length) for length in LENGTHS])


def as_they_are(windows, changed=()):
    """Return the consensus of windows whose votes change no base but some, given by window and place."""
    lengths = windows.reads.lengths
    codes = np.concatenate([windows.reads.codes(window) for window in range(len(lengths))])
    for window, place in changed:
        codes[offsets_of(lengths)[window] + place] ^= 1
    origin = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    ones = np.ones(len(codes), np.uint8)
    return Consensus(offsets_of(lengths), codes, ones, ones, origin, np.zeros((len(lengths), 0), np.int64))


@pytest.mark.parametrize("turned", [False, True])
def test_windows_are_joined_to_what_they_were_cut_from(turned):
    given = unitigs()
    windows = UnitigWindows(given, CIRCULAR, turned)
    columns = np.array(
        [[0, 10, 60], [0, 8_000, 8_100], [1, 99_990, 100_020], [1, 150_000, 150_300], [2, 7, 9]]
    ).T
    doubt = Doubt(*columns, np.full(5, Reason.MENDED), np.arange(5))
    joined = Joined(windows, doubt)
    joined.add(as_they_are(windows), Doubt.empty())
    made, located = joined.taken()
    assert [made.sequence(i) for i in range(3)] == [given.sequence(i) for i in range(3)]
    order = np.argsort(located.figure)
    places = np.array([located.contig, located.start, located.end])[:, order]
    # A stretch ends where the first window and the last one meet.
    columns[2, 2] = 100_000 if turned else 100_020
    assert np.array_equal(places, columns)


def test_a_circle_is_joined_elsewhere_every_second_round():
    given = unitigs()
    of_first = {turned: UnitigWindows(given, CIRCULAR, turned) for turned in (False, True)}
    begins = {turned: windows.intervals.start + windows.first for turned, windows in of_first.items()}
    assert begins[False].tolist() == [0, 0, 66_666, 133_333, 0]
    assert begins[True].tolist() == [4_500, 100_000, 166_666, 233_333, 0]
    for windows in of_first.values():
        changed = [(0, windows.first[0])]
        joined = Joined(windows, Doubt.empty())
        joined.add(as_they_are(windows, changed), Doubt.empty())
        other = np.flatnonzero(joined.taken()[0].codes(0) != given.codes(0))
        assert other.tolist() == [windows.turn[0]]
