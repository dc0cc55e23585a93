import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import ParameterError
from overlapper.extend.copies import BYTES_AN_OVERLAP, tell_copies
from overlapper.extend.differences import BYTES_A_DIFFERENCE, find_differences
from tests.graph_cases import overlap_table
from tests.oracle import copies as copies_oracle
from tests.oracle import differences as oracle
from tests.read_sets import reads_of
from tests.tries import tries

LETTERS = "ACGT"
CODES = {letter: code for code, letter in enumerate(LETTERS)}


@st.composite
def related_reads(draw, most_reads=2):
    """Return reads on either strand that are mostly the same, in which runs and repeats are common."""
    unit = draw(st.text("ACGT", min_size=1, max_size=12))
    genome = list((unit * 40)[: draw(st.integers(1, 40))] + draw(st.text("ACGT", max_size=80)))
    reads = []
    for _ in range(draw(st.integers(2, most_reads))):
        bases = list(genome)
        for _ in range(draw(st.integers(0, 5))):
            at = draw(st.integers(0, len(bases) - 1))
            bases[at] = draw(st.sampled_from(["", "A", "C", "G", "T", bases[at] * 2, bases[at] * 3]))
        read = "".join(bases) or "A"
        reads.append(
            (read[::-1].translate(str.maketrans("ACGT", "TGCA")), True)
            if draw(st.booleans())
            else (read, False)
        )
    return reads


def codes(read):
    return [CODES[letter] for letter in read]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [32, 63, 64, 65, 95, 96, 128, 200])
def test_words_are_compared_up_to_the_ends_of_all_reads(length, reverse):
    rng = np.random.default_rng(length)
    read = "".join(rng.choice(list(LETTERS), length))
    for differing in (None, 0, 31, 32, length - 1):
        other = list(read)
        if differing is not None:
            other[differing % length] = LETTERS[CODES[other[differing % length]] ^ 1]
        other = "".join(other)
        if reverse:
            other = other[::-1].translate(str.maketrans("ACGT", "TGCA"))
        table = overlap_table([(0, 1, reverse, 0, length, 0, length), (0, 1, reverse, length, length, 0, 0)])
        found = find_differences(reads_of([read, other]), table, 1)
        assert found.edits.tolist() == [0 if differing is None else 1, 0]


@settings(max_examples=tries(300), deadline=None)
@given(related_reads(), st.integers(0, 12), st.data())
def test_differences_equal_the_oracle(reads, most, data):
    (one, one_reverse), (other, other_reverse) = reads
    # Reads before it let the first word of these be none of the table.
    before = data.draw(st.sampled_from([[], ["ACGTTGCA" * 9]]))
    cut = data.draw(st.integers(0, min(3, len(one) - 1)))
    row = (one_reverse != other_reverse, cut, len(one), 0, len(other))
    expected = oracle.differences(codes(one), codes(other), row, most)
    n = len(before)
    found = find_differences(reads_of([*before, one, other]), overlap_table([(n, n + 1, *row)]), most)
    if expected is None:
        assert found.edits.tolist() == [-1] and len(found.place) == 0
    else:
        assert found.edits.tolist() == [len(expected)]
        both = zip(found.place.tolist(), found.other.tolist(), strict=True)
        assert [(p[0], o[0], p[1], o[1]) for p, o in both] == expected


def all_pairs(reads):
    return [
        (i, j, reads[i][1] != reads[j][1], 0, len(reads[i][0]), 0, len(reads[j][0]))
        for i in range(len(reads))
        for j in range(i + 1, len(reads))
    ]


@settings(max_examples=tries(150), deadline=None)
@given(related_reads(most_reads=9), st.sampled_from([2, 6, 12]))
def test_copies_equal_the_oracle(reads, most):
    sequences = [read for read, _ in reads]
    rows = all_pairs(reads)
    differences = [
        oracle.differences(codes(sequences[row[0]]), codes(sequences[row[1]]), row[2:], most) for row in rows
    ]
    plain = [(row[0], row[1], *row[3:]) for row in rows]
    expected = copies_oracle.tell(plain, differences, sequences)
    found = tell_copies(reads_of(sequences), overlap_table(rows), most_edits=most)
    assert list(zip(found.differing.tolist(), found.same.tolist(), strict=True)) == expected


@settings(max_examples=tries(60), deadline=None)
@given(related_reads(most_reads=9), st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_copies_do_not_depend_on_order_or_threads(reads, seed, threads):
    sequences = [read for read, _ in reads]
    rows = all_pairs(reads)
    alone = tell_copies(reads_of(sequences), overlap_table(rows), most_edits=12)
    order = np.random.default_rng(seed).permutation(len(rows))
    shuffled = tell_copies(
        reads_of(sequences), overlap_table(rows).take(order), most_edits=12, threads=threads
    )
    for column in ("edits", "differing", "same"):
        assert (getattr(alone, column)[order] == getattr(shuffled, column)).all()


def test_reads_of_two_copies_are_told_apart_and_errors_do_not_part_them():
    rng = np.random.default_rng(5)
    genome = "".join(rng.choice(list("ACGT"), 2000))
    other = genome[:500] + ("A" if genome[500] != "A" else "C") + genome[501:]
    reads = [genome] * 4 + [other] * 4
    reads[1] = genome[:900] + genome[902:]  # an error that no other read has
    rows = all_pairs([(read, False) for read in reads])
    found = tell_copies(reads_of(reads), overlap_table(rows))
    assert found.same.tolist() == [(row[0] < 4) == (row[1] < 4) for row in rows]
    assert found.edits.tolist() == [((row[0] < 4) != (row[1] < 4)) + 2 * (1 in row[:2]) for row in rows]


def test_lengths_of_runs_do_not_part_reads():
    rng = np.random.default_rng(7)
    left, right = ("".join(rng.choice(list("ACGT"), 800)) for _ in range(2))
    for lengths, parted in (((3, 4), False), ((2, 3), False), ((1, 2), True)):
        reads = [f"{left}C{'A' * length}C{right}" for length in lengths for _ in range(4)]
        rows = all_pairs([(read, False) for read in reads])
        found = tell_copies(reads_of(reads), overlap_table(rows))
        assert found.edits.max() == 1
        assert (not found.same.all()) == parted


def test_differences_that_do_not_fit_are_told():
    rng = np.random.default_rng(6)
    genome = "".join(rng.choice(list("ACGT"), 600))
    reads = [genome[:i] + genome[i + 1 :] for i in range(100, 500, 100)]
    rows = all_pairs([(read, False) for read in reads])
    overlaps = BYTES_AN_OVERLAP * len(rows)
    room = overlaps + BYTES_A_DIFFERENCE * 2 * len(rows)
    enough = tell_copies(reads_of(reads), overlap_table(rows), room=room)
    assert enough.edits.tolist() == [2] * len(rows)
    with pytest.raises(ParameterError, match=r"the differences of the reads of 6 overlaps take .* 1 MB mo"):
        tell_copies(reads_of(reads), overlap_table(rows), room=room - 1)
    with pytest.raises(ParameterError, match="the memory budget is too small: 6 overlaps take"):
        tell_copies(reads_of(reads), overlap_table(rows), room=overlaps - 1)
