"""Consensus of windows equals the oracle; and its invariants."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlapper.correction.motifs import erring_words
from overlapper.correction.vote_settings import MOST_WEIGHT
from overlapper.kernels.consensus import consensus as kernel
from overlapper.kernels.consensus import window_rows
from overlapper.kernels.consensus.error_probabilities import LIMITS, PROBABILITIES
from overlapper.kernels.consensus.layers import Rows, Sequences, Settings, Windows
from overlapper.kernels.consensus.own_bases import LONGEST_TABLED_RUN, MOST_MISSING
from overlapper.tables import Reads
from tests.oracle import correct as oracle
from tests.tries import tries

K, MAX_GAP = 9, 200
THRESHOLDS = [[30, 30], [57, 40]]
ERRORS, STRANDS = 10_000, 6 * 64
"""Bases of a million that are wrong, and chi square in 64ths of errors of one strand at that rate."""


def mutated(rng, codes, rate):
    """A read of a template, with errors."""
    read = []
    for base in codes:
        kind = rng.random()
        if kind < 0.3 * rate:
            continue
        read.append(int(rng.integers(0, 4)) if kind < 0.5 * rate else int(base))
        if kind > 1 - 0.5 * rate:
            read.append(int(rng.integers(0, 4)))
    return read


def a_pileup(seed, length, rate, n_rows, tandem, haplotypes, unknown, whole):
    """A target and the reads on it: (read on the target's strand, reverse, start, end)."""
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, length)
    if tandem:
        genome[length // 3 : length // 2] = np.resize(rng.integers(0, 4, 3), length // 2 - length // 3)
    other = genome.copy()
    if "bases" in haplotypes:
        other[20::35] = (other[20::35] + 1) % 4
    if "gap" in haplotypes:
        other = np.delete(other, slice(length // 4, length // 4 + int(rng.choice([5, 9, 25]))))
    target = mutated(rng, genome, rate)
    if unknown:
        at = int(rng.integers(0, len(target) - 20))
        target[at : at + unknown] = [4] * len(target[at : at + unknown])
    rows, alike = [], 0.3 if "few" in haplotypes else 0.6
    for _ in range(n_rows):
        part = not whole and rng.random() < 0.3
        low, high = sorted(rng.integers(0, length + 1, 2)) if part else (0, length)
        read = mutated(rng, (genome if rng.random() < alike else other)[low:high], rate) or [0]
        if rng.random() < 0.2 and unknown:
            read[len(read) // 2] = 4
        start, end = low * len(target) // length, high * len(target) // length
        rows.append((read, bool(rng.random() < 0.5), start, min(len(target), max(end, start + 1))))
    return target, rows


PILEUPS = st.builds(
    a_pileup, st.integers(0, 2**32 - 1), st.sampled_from([60, 200, 450]), st.sampled_from([0.0, 0.05, 0.2]),
    st.sampled_from([0, 1, 4, 14, 24]), st.booleans(),
    st.sampled_from(["", "bases", "gap", "bases and gap", "few, gap"]), st.sampled_from([0, 1, 19]),
    st.booleans(),
)  # fmt: skip


def table(sequences, qualities):
    """Reads of codes, with or without qualities."""
    reads = Reads.from_sequences(
        [str(i) for i in range(len(sequences))], ["".join("ACGTN"[c] for c in s) for s in sequences]
    )
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in sequences])]).astype(np.int64)
    return Sequences(
        reads.words, reads.word_offsets, reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
        np.concatenate([*qualities, []]).astype(np.uint8) if qualities else np.zeros(0, np.uint8),
        offsets if qualities else np.zeros(0, np.int64),
    )  # fmt: skip


def at_most(share):
    """Of a million layers so many may err alike, or one hundredth more for every base of a run but one."""
    run, missing = np.ogrid[: LONGEST_TABLED_RUN + 1, : MOST_MISSING + 1]
    return np.asarray(share + 10_000 * np.maximum(run - 1, 0) // np.maximum(missing, 1), np.int64)


NEVER = at_most(10**6)
"""All layers may err alike."""
CLEARNESS = st.sampled_from(
    [
        (51, 16, at_most(0)),
        (64, 16, NEVER),
        (160, 16, at_most(50_000)),
        (0, 16, at_most(0)),
        (0, 9, at_most(100_000)),
        (0, 40, NEVER),
    ]
)
"""What the vote of a raw read tells, or nothing, what a doubt counts, and how many of a million err alike."""


def corrected(target, rows, votes, with_qualities, worth=64, doubt=16, alike=NEVER, motifs=()):
    """The consensus by the kernel, as lists, which is that of the oracle."""
    rng = np.random.default_rng(7)
    reads = [
        read if not reverse else [3 - c if c < 4 else c for c in read[::-1]] for read, reverse, _, _ in rows
    ]
    sequences = [target, *reads]
    qualities = [rng.integers(0, 60, len(s)) for s in sequences] if with_qualities else []
    weights = [np.clip(q, 1, 40).tolist() for q in qualities] or [[10] * len(s) for s in sequences]
    sites = rng.choice([[0, 0], [3, 0], [4, 1], [10, 2], [63, 2], [64, 2], [200, 4]], len(rows)).astype(
        np.int32
    )
    sites = sites.reshape(-1, 2)
    layers = [
        {
            "bases": [5 if c == 4 else c for c in read],
            "weights": weights[i + 1][::-1] if reverse else weights[i + 1],
            "reverse": reverse,
            "t_start": start,
            "t_end": end,
            "agreeing": sites[i, 0],
            "differing": sites[i, 1],
        }
        for i, (read, reverse, start, end) in enumerate(rows)
    ]
    own = {
        "bases": [5 if c == 4 else c for c in target],
        "weights": weights[0],
        "reverse": False,
        "used": votes,
    }
    tables = (values[0 if worth else 1].tolist() for values in (PROBABILITIES, LIMITS))
    *expected, counted = oracle.correct(
        target,
        layers,
        K,
        MAX_GAP,
        THRESHOLDS,
        True,
        worth,
        doubt,
        alike.tolist(),
        ERRORS,
        STRANDS,
        own,
        *tables,
        motifs,
    )

    columns = np.array(
        [(start, end, 0, len(read)) for read, _, start, end in rows] or np.zeros((0, 4)), np.int64
    )
    reverse, sites = np.array([reverse for _, reverse, _, _ in rows], bool), np.ascontiguousarray(sites.T)
    offsets, codes, quality, depth, origin, counts, marks = kernel.correct_windows(
        table(sequences, qualities), table(sequences, qualities),
        Windows(np.array([0]), np.array([0]), np.array([len(target)]), np.array([0, len(rows)])),
        Rows(
            np.arange(1, len(rows) + 1, dtype=np.int32), reverse, *np.ascontiguousarray(columns.T), *sites
        ),
        np.zeros(1, bool), 0,
        Settings(
            K, MAX_GAP, 40, np.array(THRESHOLDS), 10, 40, votes, False, True, worth, doubt, alike, ERRORS,
            STRANDS, erring_words(motifs),
        ),
    )  # fmt: skip
    assert offsets.tolist() == [0, len(codes)]
    made = [values.tolist() for values in (codes, quality, depth, origin)]
    columns = [kernel.ALIGNED, kernel.LEFT_OUT, kernel.LOST]
    made += [marks.tolist(), counts[0, columns].tolist()]
    assert made == [*expected, list(counted)]
    return made


@settings(max_examples=tries(60), deadline=None)
@given(PILEUPS, st.booleans(), st.booleans(), CLEARNESS, st.sampled_from([(), ("Ac", "gTT")]))
@example(a_pileup(45958794, 450, 0.2, 1, False, "bases", 0, False), False, True, (51, 16, at_most(0)), ())
def test_consensus_equals_oracle(pileup, votes, with_qualities, clearness, motifs):
    corrected(*pileup, votes, with_qualities, *clearness, motifs)


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_reads_of_the_other_haplotype_are_left_out(rate):
    for seed in range(3):
        pileup = a_pileup(seed, 450, rate, 26, False, "bases", 0, True)
        made = corrected(*pileup, True, False)
        assert made[5][1] >= 6


def rows_with_one_difference(others, strands, lacking=False, own=(False, True, False)):
    """A target, reads as it is, and others that differ in one base or lack it, on these strands in turn.

    The reads as the target is are on ``own`` strands.
    """
    rng = np.random.default_rng(4)
    genome = rng.integers(0, 4, 300).tolist()
    other = [*genome[:150], *([] if lacking else [(genome[150] + 1) % 4]), *genome[151:]]
    rows = [(genome, strand, 0, 300) for strand in own]
    rows += [(other, strands[i % len(strands)], 0, 300) for i in range(others)]
    return genome, rows


@pytest.mark.parametrize(
    ("others", "strands", "alike", "kept"),
    [
        (12, [False, True], 0, True),
        (12, [False, True], 160_000, False),  # three others and the target are too few of sixteen
        (12, [False, True], 140_000, True),
    ],
)
def test_a_target_keeps_its_base_where_both_are_held(others, strands, alike, kept):
    target, rows = rows_with_one_difference(others, strands)
    made = corrected(target, rows, True, False, alike=at_most(alike))
    assert (made[0] == target) == kept


@pytest.mark.parametrize(
    ("others", "own", "kept"),
    [
        ([False] * 12, [False] * 6, True),  # all are on one strand
        ([False] * 12, [False, True, True] * 2, False),  # a chi square of 8.7
        ([False] * 9 + [True] * 3, [False, True] * 6, True),
        ([False] * 12, [False] * 5 + [True], True),  # few are on the other strand
    ],
)
def test_strands_show_errors_where_those_of_the_others_are_unlike_them(others, own, kept):
    target, rows = rows_with_one_difference(12, others, own=own)
    made = corrected(target, rows, True, False, alike=at_most(0))
    assert (made[0] == target) == kept
    assert made[5][1] == (12 if kept else 0)


@pytest.mark.parametrize(
    ("others", "alike", "left"),
    [(6, 140_000, 6), (6, 450_000, 0), (2, 0, 0)],  # too few of ten, and too few of any
)
def test_reads_that_differ_in_one_base_are_left_out_where_errors_do_not_explain_it(others, alike, left):
    target, rows = rows_with_one_difference(others, [False, True])
    made = corrected(target, rows, True, False, alike=at_most(alike))
    assert made[5][1] == left


@pytest.mark.parametrize("copies", [2, 4, 8])
def test_reads_of_many_copies_are_left_out_though_they_agree_at_most_sites(copies):
    """Each copy has four bases of its own, so that two of them differ at eight of many sites."""
    rng = np.random.default_rng(9)
    genome = rng.integers(0, 4, 40 * 4 * copies + 40).tolist()

    def copy(number):
        bases = list(genome)
        for place in range(40 + 40 * number, len(genome) - 20, 40 * copies):
            bases[place] = (bases[place] + 1) % 4
        return bases

    end = len(genome)
    rows = [(copy(number), bool(i % 2), 0, end) for number in range(copies) for i in range(5)]
    made = corrected(copy(0), rows, True, False, alike=at_most(140_000))
    assert made[0] == copy(0)
    assert made[5][1] == 5 * (copies - 1)


@pytest.mark.parametrize(
    ("known", "alike", "decide"),
    [(6, False, True), (5, False, False), (6, True, False)],  # enough, too few, haplotypes that are alike
)
@pytest.mark.parametrize("inserted", [False, True])
def test_reads_known_to_be_of_the_haplotype_decide_where_haplotypes_differ(known, alike, decide, inserted):
    """Reads that reach no site have another length of a run than those of the target's haplotype."""
    rng = np.random.default_rng(4)
    left, right = rng.integers(0, 4, (2, 140)).tolist()
    own, unlike = ([*left[:-1], 1, *n * [0], 2, *right[1:]] for n in ((4, 5) if inserted else (5, 4)))
    other = list(own if alike else unlike)
    other[40] = (other[40] + 1) % 4
    end = len(own)
    rows = [(own, bool(i % 2), 0, end) for i in range(known)]
    rows += [(other, bool(i % 2), 0, end) for i in range(6)]
    rows += [(unlike[60:], bool(i % 2), 60, end) for i in range(24)]
    made = corrected(own, rows, True, False, alike=at_most(140_000))
    assert made[5][1] == 6
    assert (made[0] == own) == decide


@pytest.mark.parametrize("target_lacks", [False, True])
@pytest.mark.parametrize(("bases", "left"), [(4, 0), (8, 6), (30, 6)])
def test_reads_of_which_one_kind_lacks_many_bases_are_told_apart(bases, left, target_lacks):
    rng = np.random.default_rng(8)
    genome = rng.integers(0, 4, 300).tolist()
    shorter = [*genome[:150], *genome[150 + bases :]]
    target, other = (shorter, genome) if target_lacks else (genome, shorter)
    rows = [(target, bool(i % 2), 0, len(target)) for i in range(6)]
    rows += [(other, bool(i % 2), 0, len(target)) for i in range(6)]
    made = corrected(target, rows, True, False, alike=at_most(140_000))
    assert made[0] == target
    assert made[5][1] == left


@pytest.mark.parametrize("target_has", [18, 31])
def test_reads_of_which_one_kind_lacks_most_of_a_run_are_told_apart_whatever_length_they_have(target_has):
    rng = np.random.default_rng(8)
    before, behind = [*rng.integers(0, 4, 150).tolist(), 1], [2, *rng.integers(0, 4, 150).tolist()]
    target = [*before, *[0] * target_has, *behind]
    lengths = [17, 17, 18, 18, 17, 17, 17, 17, 17, 17] + 10 * [31]
    rows = [([*before, *[0] * a, *behind], bool(i % 2), 0, len(target)) for i, a in enumerate(lengths)]
    made = corrected(target, rows, True, False, alike=at_most(140_000))
    assert made[5][1] == 10


@pytest.mark.parametrize(("lacking", "left"), [(440_000, 6), (450_000, 0)])
def test_reads_that_lack_many_bases_are_not_told_apart_where_any_share_may_by_error(lacking, left):
    rng = np.random.default_rng(8)
    genome = rng.integers(0, 4, 300).tolist()
    rows = [(genome, bool(i % 2), 0, 300) for i in range(6)]
    rows += [([*genome[:150], *genome[158:]], bool(i % 2), 0, 300) for i in range(6)]
    alike = np.minimum(at_most(140_000), 450_000)
    alike[5, 5] = lacking
    made = corrected(genome, rows, True, False, alike=alike)
    assert made[5][1] == left


@pytest.mark.parametrize("longer", [False, True])
def test_a_target_keeps_its_run_where_both_lengths_are_held(longer):
    # Of more reads that lack the base, the first draft would lack it, too: 30 in 100 have to have it.
    target, rows = rows_with_one_difference(8, [False, True], lacking=True)
    if longer:  # the reads with and without the base change places
        target = rows[-1][0]
        rows = [(rows[0][0], reverse, start, len(target)) for _, reverse, start, _ in rows]
        rows[:3] = [(target, reverse, 0, len(target)) for _, reverse, _, _ in rows[:3]]
    made = corrected(target, rows, True, False, alike=at_most(0))
    assert made[0] == target


@pytest.mark.parametrize("bases", [1, 3])
def test_single_bases_are_lost_in_long_runs_and_several_are_not(bases):
    """Of twenty layers six lack some of twelve bases: as many as err alike, if it is one."""
    rng = np.random.default_rng(4)
    left, right = rng.integers(0, 4, (2, 120)).tolist()
    target = [*left, 0, *[1] * 12, 2, *right]
    shorter = [*left, 0, *[1] * (12 - bases), 2, *right]
    rows = [(target, bool(i % 2), 0, len(target)) for i in range(14)]
    rows += [(shorter, bool(i % 2), 0, len(target)) for i in range(5)]
    alike = at_most(90_000)
    alike[12] = [0, 300_000, 100_000, *[90_000] * (MOST_MISSING - 2)]
    own = rows[-1][0]
    on_own = [(read, reverse, 0, len(own)) for read, reverse, _, _ in rows]
    made = corrected(own, on_own, True, False, alike=alike)
    assert made[0] == (target if bases == 1 else own)


def test_a_target_gains_no_bases_that_it_lacks_where_both_are_held():
    """Others have twenty bases more: twice as many as one draft can gain, and then some."""
    rng = np.random.default_rng(4)
    target = rng.integers(0, 4, 300).tolist()
    longer = [*target[:150], *[target[149]] * 20, *target[150:]]
    rows = [(target, bool(i % 2), 0, 300) for i in range(5)]
    rows += [(longer, bool(i % 2), 0, 300) for i in range(9)]
    made = corrected(target, rows, True, False, alike=at_most(0))
    assert made[0] == target


def test_a_unitig_takes_the_base_that_most_reads_have():
    target, rows = rows_with_one_difference(12, [False, True])
    made = corrected(target, rows, False, False, alike=at_most(0))
    assert made[0] != target


@pytest.mark.parametrize(("run", "gained"), [([2], True), ([2, 2, 2], True), ([2, 2, 2, 2], False)])
def test_a_unitig_gains_a_base_that_layers_with_another_error_beside_it_hide(run, gained):
    rng = np.random.default_rng(5)
    left, right = [*rng.integers(0, 4, 149).tolist(), 1], [0, *rng.integers(0, 4, 149).tolist()]
    target = [*left, 3, *run[1:], *right]
    # With the base that the target lacks, and all else or without one of its neighbours; without it.
    reads = 3 * [[*left, 3, *run, *right]] + 3 * [[*left, *run, *right]]
    reads += 3 * [[*left, 3, *run, *right[1:]]] + [target]
    rows = [(read, False, 0, len(target)) for read in reads]
    made = corrected(target, rows, False, False)
    assert (made[0] == reads[0]) == gained
    assert gained or made[0] == target


@pytest.mark.parametrize("layers", [2, 3, 5])
@pytest.mark.parametrize("gap", [12, 25, 40])
def test_a_stretch_that_few_layers_have_is_kept(gap, layers):
    rng = np.random.default_rng(gap)
    genome = rng.integers(0, 4, 300).tolist()
    without = genome[:150] + genome[150 + gap :]
    reads = [genome] * layers + [without] * 14
    rows = [(read, bool(i % 2), 0, len(genome)) for i, read in enumerate(reads)]
    codes = corrected(genome, rows, True, False, alike=at_most(100_000))[0]
    # 1.5 layers and a tenth of 17 to 20 are 3 or 4, of which the target is one.
    assert (codes == genome) == (layers > 2)


def test_unknown_bases_are_predicted():
    target, rows = a_pileup(1, 300, 0.0, 12, False, "", 0, True)
    masked = [*target[:100], *[4] * 40, *target[140:]]
    made = corrected(masked, rows, True, False)
    assert made[0] == target


@pytest.mark.parametrize("before", [True, False])
def test_a_path_goes_on_over_200_bases_of_the_target_where_an_unknown_base_leaves_it_fewer(before):
    """Of the target 297 bases are left beyond the anchor, fewer than of the read; 338 would be more."""
    rng = np.random.default_rng(3)
    end, far, anchored = (rng.integers(0, 4, n).tolist() for n in (40, 300, 40))
    target, read = [*end, 4, *far, *anchored], rng.integers(0, 4, 20).tolist()
    for place, base in enumerate(far):  # one in 8 differs, one in 40 is missing
        read += [(base + 1) % 4] if place % 8 == 7 else [] if place % 40 == 32 else [base]
    read += anchored
    way = 1 if before else -1
    depth = corrected(target[::way], [(read[::way], False, 0, len(target))] * 3, False, False)[2][::way]
    assert depth.index(3) == 41 + 297 - 200


def test_rows_on_a_stretch_are_few_enough_for_the_votes():
    n = 3 * window_rows.MOST_ROWS
    # Every row covers the first stretch, and one that no other row does.
    t_end = window_rows.BIN * np.arange(2, n + 2)
    taken = window_rows.within_depth(np.array([0, n]), np.zeros(n, np.int64), t_end, 3)
    assert taken[: window_rows.MOST_ROWS].all() and not taken[window_rows.MOST_ROWS :].any()
    assert np.iinfo(np.uint16).max >= MOST_WEIGHT * (window_rows.MOST_ROWS + 1)
