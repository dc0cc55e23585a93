"""Arrays at the ends of reads equal the oracle; overlaps within them are left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.sketch import tandem_ends
from overlapper.tables import Intervals
from tests.oracle import tandem_ends as oracle
from tests.read_sets import random_text, reads_of
from tests.steps import assemble_reads
from tests.tries import tries

TEXT = st.text("ACGT", max_size=12)
READ = st.lists(st.tuples(TEXT, st.integers(1, 8)), max_size=4).map(
    lambda drawn: "".join(unit * count for unit, count in drawn)
)


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(READ, min_size=1, max_size=5), st.integers(1, 6), st.integers(7, 20), st.integers(1, 5))
def test_arrays_equal_the_oracle(sequences, longest, span, sites):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LONGEST": longest, "SPAN": span, "SITES": sites, "_BLOCK_BASES": 30}.items():
            patch.setattr(tandem_ends, name, value)
        found = tandem_ends.tandem_ends(reads_of(sequences), 2)
    expected = [[oracle.array(text[::step], longest, span, sites) for step in (1, -1)] for text in sequences]
    assert found.tolist() == expected


def test_overlaps_within_arrays_are_told():
    """Read 0 ends with an array of 800 bases, read 1 is one, read 2 begins with one of 600, 3 has none."""
    lengths = np.array([3000, 1000, 2000, 900])
    arrays = np.array([[0, 800], [1000, 1000], [600, 0], [0, 0]])
    rows = [  # query, target, interval of each; whether within an array
        (0, 1, 2200, 3000, 0, 800, True),
        (0, 1, 2100, 3000, 0, 900, True),  # of read 1
        (0, 1, 1900, 2900, 0, 1000, False),  # read 1 is whole, and read 0 goes beyond the array
        (0, 2, 2200, 3000, 0, 800, True),
        (0, 2, 2100, 3000, 0, 900, False),  # begins before the array of either
        (0, 3, 2200, 3000, 0, 800, True),
        (0, 3, 2100, 3000, 0, 900, False),
        (3, 3, 0, 500, 400, 900, False),
        (1, 1, 0, 1000, 0, 1000, True),  # both are arrays as a whole
    ]
    *columns, within = np.array(rows, np.int32).T
    query, target, *places = columns
    overlaps = Intervals(query, target, np.zeros(len(rows), bool), *places)
    assert tandem_ends.within_arrays(overlaps, lengths, arrays).tolist() == within.astype(bool).tolist()


def test_a_telomere_as_long_as_its_reads_does_not_grow():
    """Two reads that lie in it have the same error, which made their overlap look certain."""
    rng = np.random.default_rng(4)
    unique, unit = random_text(rng, 12_000), "TTAGG"
    genome = unique + unit * 800
    reads = [genome[at : at + 5000] for at in range(0, 11_001, 500)] + [genome[-4500:]]
    for shift in (0, 900):
        array = list(unit * 800)[:3800]
        array[1500 + shift] = "C"
        reads += ["".join(array)] * 4
    made = assemble_reads(reads_of(reads), preset="hifi")
    assert [len(made.contigs.sequences), int(made.contigs.sequences.lengths[0])] == [1, len(genome)]
