"""The rows that are of the same place as the target: equal to the oracle, and the right ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.correction import voting_rows
from overlapper.correction.voting_rows import take_rows
from overlapper.kernels.consensus import consensus as kernel
from overlapper.kernels.consensus.layers import ELSEWHERE, IDLE, Rows, Settings, Windows
from tests.oracle import layer_paths
from tests.oracle import rows_looked_at as oracle_of_rows
from tests.oracle import same_place as oracle
from tests.property.test_correct import MAX_GAP, PILEUPS, K, mutated, table
from tests.tries import tries

MAX_DEPTH = 5
STRANDS = 6 * 64
"""Chi square in 64ths of errors of one strand: that of reads which err at 1 percent."""


def chosen(target, rows, votes=True, most=voting_rows.MOST_SURPLUS, leads=False):
    """Whether each row of ``(bases, reverse, start, end)`` is chosen by the kernel, as by the oracle.

    The consensus is found, too: where rows are chosen and vote at once, and of the chosen ones.
    """
    layers = [
        {"bases": [5 if c == 4 else c for c in read], "reverse": reverse, "t_start": start, "t_end": end}
        for read, reverse, start, end in rows
    ]
    layer_paths.first_paths(target, layers, K, MAX_GAP, len(target) + 256, most)
    reads = [
        read if not reverse else [3 - c if c < 4 else c for c in read[::-1]] for read, reverse, _, _ in rows
    ]
    sequences = table([target, *reads], [])
    lengths = np.array([len(read) for read in reads], np.int64)
    start, end = (np.array([row[i] for row in rows], np.int64) for i in (2, 3))
    on = Rows(
        np.arange(1, len(rows) + 1, dtype=np.int32), np.array([row[1] for row in rows], bool),
        start, end, np.zeros_like(lengths), lengths,
        *np.zeros((2, len(rows)), np.int32),
    )  # fmt: skip
    window = Windows(np.array([0]), np.array([0]), np.array([len(target)]), np.array([0, len(rows)]))
    how = Settings(
        K, MAX_GAP, MAX_DEPTH, np.full((2, 2), 50), 10, 40, votes, leads, True, 64, 16,
        np.zeros((1, 1), np.int64), 10_000, STRANDS, np.zeros((2, 0), bool),
    )  # fmt: skip
    one, no = np.ones(1, bool), np.zeros(1, bool)
    same = np.array(oracle.same_place(target, layers, votes, STRANDS), bool)
    *at_once, counts, marks = kernel.correct_windows(sequences, sequences, window, on, one, most, how)
    assert on.agreeing.tolist() == [layer["agreeing"] for layer in layers]
    assert on.differing.tolist() == [layer["differing"] for layer in layers]
    voting = oracle_of_rows.voting([row[2:] for row in rows], same, MAX_DEPTH, leads)
    first, chosen_ones = take_rows(window.first, on, np.isin(np.arange(len(rows)), voting))
    *later, without, marks_later = kernel.correct_windows(
        sequences, sequences, window._replace(first=first), chosen_ones, no, most, how
    )
    for in_one, apart in zip(at_once, later, strict=True):
        assert (in_one == apart).all()
    without[:, kernel.LEFT_OUT] += np.count_nonzero(~same)
    assert (counts == without).all()
    assert (marks[voting] == marks_later).all()
    assert (marks[~same] == ELSEWHERE).all()
    without_vote = np.setdiff1d(np.flatnonzero(same), voting)
    assert (marks[without_vote] == IDLE).all()
    return same.tolist()


@settings(max_examples=tries(60), deadline=None)
@given(PILEUPS, st.booleans(), st.sampled_from([voting_rows.MOST_SURPLUS, 100, 20]), st.booleans())
def test_choice_equals_oracle(pileup, votes, most, leads):
    chosen(*pileup, votes, most, leads)


@pytest.mark.parametrize("wrong", [0, 2])
def test_rows_of_other_copies_are_left_out(wrong):
    """There are five copies, those of others in the majority; the target may err where copies differ."""
    rng = np.random.default_rng(wrong)
    genome = rng.integers(0, 4, 450)
    copies = [genome.copy() for _ in range(5)]
    for number, copy in enumerate(copies):
        copy[15 + 5 * number :: 60] = (copy[15 + 5 * number :: 60] + 1) % 4
    copy = np.repeat(np.arange(5), 8)
    rows = [(mutated(rng, copies[c], 0.003), bool(i % 2), 0, 450) for i, c in enumerate(copy)]
    target = copies[0].copy()
    target[[20, 145][:wrong]] = (target[[20, 145][:wrong]] + 1) % 4
    made = chosen(target.tolist(), rows)
    assert np.count_nonzero(np.array(made)[copy == 0]) >= 6
    assert not np.array(made)[copy > 0].any()


def noisy_copies(rng, rate, of_each):
    """Rows of five copies that differ every 60 bases, on both strands, with errors at some rate."""
    genome = rng.integers(0, 4, 450)
    copies = [genome.copy() for _ in range(5)]
    for number, copy in enumerate(copies):
        copy[15 + 5 * number :: 60] = (copy[15 + 5 * number :: 60] + 1) % 4
    copy = np.repeat(np.arange(5), of_each)
    rows = [(mutated(rng, copies[c], rate), bool(i % 2), 0, 450) for i, c in enumerate(copy)]
    return copy, copies[0].tolist(), rows


def test_noisy_rows_of_other_copies_are_left_out():
    copy, target, rows = noisy_copies(np.random.default_rng(1), 0.05, 24)
    made = chosen(target, rows)
    assert np.count_nonzero(np.array(made)[copy == 0]) >= 16
    assert np.count_nonzero(np.array(made)[copy > 0]) <= 2


def test_nearest_rows_join_where_few_are_of_the_same_place():
    copy, target, rows = noisy_copies(np.random.default_rng(2), 0.05, 7)
    made = chosen(target, rows)
    assert sum(made) == 10
    assert np.count_nonzero(np.array(made)[copy == 0]) >= 6


def test_rows_that_no_site_tells_are_taken_where_rows_are_few():
    """Short rows of either copy lie where both are the same; long ones of the target's copy are enough."""
    rng = np.random.default_rng(7)
    genome = rng.integers(0, 4, 900)
    other = genome.copy()
    other[20:600:60] = (other[20:600:60] + 1) % 4
    places = [(genome, 0)] * 12 + [(other, 0)] * 12 + [(genome, 650), (other, 650)] * 12
    rows = [
        (mutated(rng, copy[start:], 0.002), bool(i // 2 % 2), start, 900)
        for i, (copy, start) in enumerate(places)
    ]
    made = np.array(chosen(genome.tolist(), rows))
    assert made[:12].all() and not made[12:].any()
    few = np.array(chosen(genome.tolist(), rows[6:]))
    assert few[:6].all() and not few[6:18].any() and few[18:].sum() == 4
    assert all(chosen(genome.tolist(), rows[:12] + rows[24:]))
    assert np.array(chosen(genome.tolist(), rows, False))[24:].all()


@pytest.mark.parametrize("strands", [(True,), (True, False)])
def test_errors_that_recur_tell_no_rows_apart(strands):
    """At every 25th base half of the reads of the strands are wrong, each read by itself."""
    rng = np.random.default_rng(3)
    genome = rng.integers(0, 4, 450)
    rows = []
    for i in range(60):
        read, reverse = genome.copy(), bool(i % 2)
        recurring = np.arange(10, 450, 25)
        wrong = recurring[rng.random(len(recurring)) < (0.5 if reverse in strands else 0.1)]
        read[wrong] = (read[wrong] + 1) % 4
        rows.append((mutated(rng, read, 0.02), reverse, 0, 450))
    made = chosen(genome.tolist(), rows)
    assert all(made)


@pytest.mark.parametrize("votes", [True, False])
def test_reads_of_unequal_accuracy_are_of_one_place(votes):
    """Some reads have hardly an error and some one at an eighth of their bases; all are of one genome."""
    rng = np.random.default_rng(4)
    genome = rng.integers(0, 4, 450)
    rates = np.resize([0.002, 0.01, 0.03, 0.13], 48)
    rows = [(mutated(rng, genome, rate), bool(i // 4 % 2), 0, 450) for i, rate in enumerate(rates)]
    made = chosen(mutated(rng, genome, 0.1), rows, votes)
    assert sum(made) >= 46


def test_drafts_are_given_the_nearest_rows_however_far_these_are():
    """No row has what an accurate read has alone; it keeps that when it votes, while a draft takes theirs."""
    rng = np.random.default_rng(5)
    genome = rng.integers(0, 4, 450)
    copy = genome.copy()
    copy[20::60] = (copy[20::60] + 1) % 4
    copies = [genome if i < 4 else copy for i in range(40)]
    rows = [(mutated(rng, one, 0.001), bool(i % 2), 0, 450) for i, one in enumerate(copies)]
    assert chosen(genome.tolist(), rows, True) == [True] * 4 + [False] * 36
    made = chosen(genome.tolist(), rows, False)
    assert sum(made) == 10


@pytest.mark.parametrize("unit", [5, 31])
def test_rows_that_are_looked_at_are_bounded_by_their_anchors(unit):
    """Each row of a satellite has hundreds of anchors on 450 bases; those of the first few are enough."""
    rng = np.random.default_rng(unit)
    repeat = np.resize(rng.integers(0, 4, unit), 450)
    rows = [(mutated(rng, repeat, 0.1), bool(i % 2), 0, 450) for i in range(60)]
    made = chosen(mutated(rng, repeat, 0.1)[:450], rows, True, 1000)
    assert 0 < sum(made) < 40 and not any(made[40:])


def test_rows_are_looked_at_where_one_of_their_stretches_is_not_full():
    """Stretches that a row only touches, at its ends, say nothing of it if another one lies in it."""
    rng = np.random.default_rng(6)
    repeat = np.resize(rng.integers(0, 4, 31), 2300)
    repeat[1024:2048] = rng.integers(0, 4, 1024)
    places = [(0, 1024)] * 6 + [(0, 2300)] * 2 + [(0, 1400)] * 6 + [(2100, 2300)] * 2
    rows = [(mutated(rng, repeat[t:u], 0.1), bool(i % 2), t, u) for i, (t, u) in enumerate(places)]
    made = chosen(mutated(rng, repeat, 0.1)[:2300], rows, True, 1000)
    assert any(made[:6]) and all(made[6:8]) and not any(made[8:14]) and any(made[14:])
