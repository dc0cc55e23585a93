"""Leaders, followers and settled reads equal the oracle; what rows are turned round to."""

import dataclasses
import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import find_overlaps, random_genome, simulate_reads
from overlapper.correction import consensus, leaders, pileup_source
from overlapper.correction.pileups import Pileups, Rows, rows_of
from overlapper.correction.resources import Resources
from overlapper.correction.settled import settled_of
from overlapper.correction.voting_rows import Chosen, turned
from overlapper.io.read_store import ReadStore
from overlapper.kernels.consensus import layers
from overlapper.kernels.consensus.layers import ALIKE, CIS, ELSEWHERE, IDLE, UNLIKE, Windows
from overlapper.params.correction import CorrectParams
from overlapper.simulate import adapted_model
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from tests.oracle import leaders as oracle
from tests.read_sets import reads_of
from tests.steps import correct
from tests.tries import tries

PARAMS = dataclasses.replace(CorrectParams(), thresholds=(30, 57), run_threshold=57)
LETTERS = np.array(list("ACGTN"))


@st.composite
def pileups(draw):
    """Lengths of reads, and rows on them, many of which lie on the whole of both."""
    lengths = draw(st.lists(st.integers(1, 700), min_size=2, max_size=9))
    rows = []
    for _ in range(draw(st.integers(0, 40))):
        target, read = (draw(st.integers(0, len(lengths) - 1)) for _ in range(2))
        intervals = []
        for of in (target, read):
            length = lengths[of]
            start = draw(st.sampled_from([0, 0, min(60, length - 1), length // 3]))
            end = draw(st.sampled_from([length, length, max(start + 1, length - 90), start + 1]))
            intervals += [start, end]
        rows.append((target, read, draw(st.booleans()), *intervals))
    return lengths, sorted(rows)


def table_of(lengths, rows):
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    none = np.zeros(columns.shape[1])
    reads = Reads.without_bases([""] * len(lengths), np.array(lengths, np.int64))
    return Pileups(reads, reads, Rows(*columns, none, none), targets_vote=True)


@settings(max_examples=tries(150), deadline=None)
@given(pileups(), st.sampled_from([1, 1 << 20]))
def test_roles_equal_the_oracle(case, at_a_time):
    lengths, rows = case
    whole = table_of(lengths, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pileup_source, "_PART_ROWS", at_a_time)
        leading, follow, of_leaders = [], set(), []
        for wave in range(1, leaders.WAVES + 1):
            roles = leaders.roles_of(np.array(leading, int), table_of(lengths, of_leaders), 1)
            assert set(np.flatnonzero(roles.leads).tolist()) == set(leading)
            assert set(np.flatnonzero(roles.follows).tolist()) == follow
            found = leaders.leaders_of(whole, roles, wave, 1).tolist()
            assert set(found) == oracle.leads(lengths, rows, set(leading), follow, wave)
            leading += found
            of_leaders = [row for row in rows if row[1] in leading]
            follow = oracle.follows(lengths, set(leading), of_leaders)


MARKS = ALIKE, CIS, UNLIKE, ELSEWHERE, IDLE
SPANS = st.lists(
    st.tuples(st.integers(0, 3000), st.sampled_from([1, 700, 999, 1000, 1001, 2400])).map(
        lambda span: (span[0], span[0] + span[1])
    ),
    max_size=5,
)


@settings(max_examples=tries(200), deadline=None)
@given(
    st.lists(st.tuples(*[SPANS] * len(MARKS)), min_size=1, max_size=3),
    st.sampled_from([0, 125]),
)
def test_rows_that_touch_those_left_out_equal_the_oracle(windows, most):
    """Rows of each window that have each mark."""
    spans = [span for rows in windows for of_mark in rows for span in of_mark]
    spans = np.array(spans, np.int64).reshape(-1, 2)
    marks = [
        mark
        for rows in windows
        for mark, of_mark in zip(MARKS, rows, strict=True)
        for mark in [mark] * len(of_mark)
    ]
    n, none = len(windows), np.zeros(len(spans), np.int64)
    ends = np.full(n, 6000)
    first = offsets_of(np.array([sum(map(len, rows)) for rows in windows]))
    chosen = Chosen(
        Windows(np.arange(n), np.zeros(n, np.int64), ends, first),
        layers.Rows(
            np.arange(len(spans)), none > 0, spans[:, 0], spans[:, 1], spans[:, 0], spans[:, 1], none, none
        ),
        np.zeros(n, bool),
    )  # fmt: skip
    rows = turned(chosen, np.array(marks, np.uint8), np.zeros(n, np.int64), ends, most)
    expected, row = [], 0
    for alike, cis, unlike, left_out, idle in windows:
        few = oracle.few([*alike, *cis, *unlike], left_out, most)
        for place, span in enumerate([*alike, *cis], row):
            told = place >= row + len(alike) or few or oracle.beyond(span, left_out)
            if span[1] - span[0] >= 100 and told:
                expected.append(place)
        row += sum(map(len, (alike, cis, unlike, left_out, idle)))
    assert rows.target.tolist() == expected


@st.composite
def overlapping(draw):
    """Reads of a short genome on either strand, some with an error or an unknown base, and rows on them.

    Some are there as often as settles a read, or once more or less, or twice as often.
    """
    noise = random.Random(draw(st.integers(0, 1 << 32)))
    genome = "".join(noise.choices("ACGT", k=40))
    spans, texts = [], []
    for copies in draw(st.lists(st.sampled_from([1, 2, 5, 6, 7, 12, 13]), min_size=1, max_size=4)):
        start, length = noise.choice([0, 0, 0, 5, 12]), noise.randint(12, 28)
        text = genome[start : start + length]
        if noise.random() < 0.3:
            place = noise.randrange(length)
            text = text[:place] + noise.choice("ACGTN") + text[place + 1 :]
        for _ in range(copies):
            spans.append((start, noise.random() < 0.5))
            texts.append(strand(text, spans[-1][1]))
    rows = []
    for target, read in itertools.permutations(range(len(texts)), 2):
        (a, one), (b, other) = spans[target], spans[read]
        start, end = max(a, b), min(a + len(texts[target]), b + len(texts[read]))
        less = noise.choice([0, 0, 1, 3])
        on = interval(start + less - a, end - a, len(texts[target]), one)
        of = interval(start + less - b, end - b, len(texts[read]), other)
        if noise.random() < 0.02:
            of = of[0], of[1] - 1
        rows.append((target, read, one != other, *on, *of))
    return texts, rows


def strand(text, reverse):
    return "".join("TGCAN"["ACGTN".index(base)] for base in reversed(text)) if reverse else text


def interval(start, end, length, reverse):
    return (length - end, length - start) if reverse else (start, end)


@settings(max_examples=tries(300), deadline=None)
@given(overlapping(), st.sampled_from([1, 1 << 20]), st.booleans())
def test_settled_reads_equal_the_oracle(case, at_a_time, apart):
    texts, rows = case
    reads = Reads.from_sequences([""] * len(texts), texts)
    columns, none = np.array(rows, np.int64).reshape(-1, 7).T, np.zeros(len(rows))
    targets = ReadStore.of(reads)
    others = ReadStore.of(reads) if apart else targets
    rows_of_all = Rows(*columns, none, none)
    pileups = pileup_source.PileupSource.of_rows(targets, others, rows_of_all, None, targets_vote=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pileup_source, "_PART_ROWS", at_a_time)
        found = settled_of(pileups, Resources.of(None, 1))
    assert found.stays.tolist() == oracle.settled(texts, rows)


def test_settled_reads_stay_as_they_are():
    reads = accurate(30)
    rounds = [
        correct(reads, params=dataclasses.replace(CorrectParams(), rounds=n), threads=2) for n in (1, 2)
    ]
    first, second = (made.reads for made in rounds)
    same = [first.sequence(i) == second.sequence(i) for i in range(len(reads))]
    settled = rounds[1].funnel["round 2: settled"]
    assert 0.8 * len(reads) < settled <= sum(same)
    kept = [
        (first.qualities[a:b] == second.qualities[c:d]).all()
        for a, b, c, d, alike in zip(
            first.quality_offsets, first.quality_offsets[1:], second.quality_offsets,
            second.quality_offsets[1:], same, strict=False,
        )
        if alike
    ]  # fmt: skip
    assert sum(kept) >= settled


def accurate(coverage, seed=3, *, errors=True, bases=20_000):
    """Simulated HiFi reads, or the same without an error, of a random genome."""
    model = adapted_model("hifi", mean_length=2000)
    genome = random_genome(bases, seed=1)
    reads, truth = simulate_reads(genome, model, coverage=coverage, seed=seed)
    if errors:
        return reads
    texts = []
    for row in truth.rows():
        codes = genome.codes(0)[row.start : row.end]
        codes = codes if row.strand == "+" else 3 - codes[::-1]
        texts.append("".join(LETTERS[codes]))
    return reads_of(texts)


@pytest.mark.parametrize("window", [50_000, 700])
def test_rows_are_turned_round_to_the_same_bases(monkeypatch, window):
    monkeypatch.setattr(consensus, "WINDOW_BASES", window)
    monkeypatch.setattr(consensus, "MARGIN", 100)
    reads = accurate(12, errors=False)
    rows = rows_of(find_overlaps(reads, "hifi", min_overlap=300))
    made = consensus.consensus(Pileups(reads, reads, rows, targets_vote=True), PARAMS, 2)
    assert len(made.alike) >= len(rows)
    for row in made.alike:
        there = made.codes[made.offsets[row.read] :][row.r_start : row.r_end]
        there = 3 - there[::-1] if row.reverse else there
        assert there.tolist() == reads.codes(row.target)[row.t_start : row.t_end].tolist()


def test_most_reads_follow_and_all_come_out_right():
    reads = accurate(30)
    genome = random_genome(20_000, seed=1).sequence(0)
    both = genome + "|" + genome[::-1].translate(str.maketrans("ACGT", "TGCA"))
    made = correct(reads, params=dataclasses.replace(CorrectParams(), rounds=1))
    depth = made.changes.coverage
    assert np.mean(depth < 12) > 0.5 > 0.3 > np.mean(depth > 20) > 0.02
    middle = [text[200:-200] for text in (made.reads.sequence(i) for i in range(len(reads)))]
    assert np.mean([text in both for text in middle]) > 0.98
