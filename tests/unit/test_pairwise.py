"""Pairwise alignment on cases that can be read off the page, its limits, its files, and what it refuses."""

import gzip

import edlib
import numpy as np
import pytest

import overlapper
from overlapper.errors import FormatError, ParameterError
from overlapper.extend.pairwise import Aligner, Batch
from overlapper.io.pairwise import read_pairs, write_alignments
from overlapper.params.scoring import Scoring
from overlapper.tables import Pairs, Reads

UNIT = Scoring(match=0, mismatch=-1, unknown=-1, gap_open=0, gap_extend=-1)


def one(query, target, **options):
    """Return score, intervals and CIGAR of a pair."""
    found = overlapper.align([query], [target], threads=1, **options).validate()
    return (
        int(found.score[0]), (int(found.q_start[0]), int(found.q_end[0])),
        (int(found.t_start[0]), int(found.t_end[0])), found.cigar_text(0),
    )  # fmt: skip


def test_modes():
    assert one("ACGTACGT", "ACGTTACGT") == (1, (0, 8), (0, 9), "3=1D5=")
    assert one("GGACGTAC", "ACGTACTT", mode="local") == (6, (2, 8), (0, 6), "6=")
    assert one("GGACGTAC", "ACGTACTT", mode="semi-global") == (6, (2, 8), (0, 6), "6=")
    assert one("ACGT", "TTACGTTT", mode="semi-global", free=["target-start", "target-end"])[2] == (2, 6)


def test_gaps_lie_as_the_rule_says():
    scoring = Scoring(match=2, mismatch=-3, gap_open=-1, gap_extend=-1)
    assert one("CGAAAAGT", "CGAAAGT", scoring=scoring)[3] == "2=1I5="
    assert one("ACCA", "AGGA", scoring=Scoring(2, -9, -1, -1, -1))[3] == "1=2D2I1="


def test_unknown_bases_score_what_is_asked_and_equal_nothing():
    scoring = Scoring(unknown=3)
    assert one("NNNN", "NNNN", scoring=scoring) == (12, (0, 4), (0, 4), "4X")
    assert one("NNNN", "ACGT", scoring=Scoring(unknown=-1), mode="local")[0] == 0


def test_a_matrix():
    transitions = tuple(
        tuple(-1 if 4 in (a, b) else 2 if a == b else -1 if abs(a - b) == 2 else -5 for b in range(5))
        for a in range(5)
    )
    scoring = Scoring(matrix=transitions)
    assert one("ACGT", "GCGT", scoring=scoring)[0] == 5
    assert one("ACGT", "CCGT", scoring=scoring)[0] == 1


def long_pair(length, rate=0.1, seed=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, length)
    kept = np.repeat(codes, rng.choice([0, 1, 2], length, p=[rate / 3, 1 - 2 * rate / 3, rate / 3]))
    changed = rng.random(len(kept)) < rate / 3
    kept[changed] = rng.integers(0, 4, changed.sum())
    return tuple("".join(np.array(list("ACGT"))[c]) for c in (codes, kept))


def test_long_pairs_need_few_rows_at_once():
    query, target = long_pair(12_000)
    score, _, _, cigar = one(query, target, scoring=UNIT)
    peer = edlib.align(query, target)
    assert -score == peer["editDistance"]
    columns = overlapper.align([query], [target], scoring=UNIT, report="cigar")
    assert columns.block_length[0] - columns.matches[0] == peer["editDistance"]
    assert cigar == columns.cigar_text(0)


def test_a_hundred_thousand_bases_within_a_band():
    query, target = long_pair(100_000, rate=0.02)
    found = overlapper.align([query], [target], scoring=UNIT, band=400)
    assert found.block_length[0] - found.matches[0] == -found.score[0]
    assert -found.score[0] == edlib.align(query, target)["editDistance"]


def test_extreme_scores_take_wide_cells_or_are_refused():
    largest = Scoring(match=2**20, mismatch=-(2**20), gap_open=-(2**20), gap_extend=-(2**20))
    assert one("ACGT" * 20, "ACGT" * 20, scoring=largest)[0] == 80 * 2**20
    with pytest.raises(ParameterError, match="32 bits"):
        one("ACGT" * 1000, "ACGT" * 1000, scoring=largest)


def test_cells_are_widened_before_they_overflow():
    for length in (1600, 1638, 1639, 1700, 3300):
        assert one("A" * length, "A" * length, scoring=Scoring(match=20), report="start")[0] == 20 * length
        assert one("A" * length, "C" * length, scoring=Scoring(mismatch=-20, gap_open=-30, gap_extend=-20))


def test_batches_in_flight_and_threads_change_nothing():
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ACGT"), rng.integers(0, 400))) for _ in range(60)]
    reads = Reads.from_sequences(map(str, range(60)), texts)
    everything = Pairs.of(60, 60, "all-to-all")
    whole = overlapper.align(reads, reads, pairs=everything, mode="local", threads=1)
    with Aligner("local", threads=3) as aligner:
        cuts = [everything.take(part) for part in np.array_split(np.arange(3600), 7)]
        futures = [aligner.submit(Batch(reads, reads, part)) for part in cuts]
        parts = [future.result() for future in futures]
        nothing = aligner.submit(Batch(reads, reads, everything.take(np.empty(0, int)))).result()
    joined = type(whole).concat(parts)
    for name in ("query", "target", "score", "q_start", "q_end", "t_start", "t_end", "cigar"):
        assert np.array_equal(getattr(whole, name), getattr(joined, name))
    assert len(nothing.validate()) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "loco"}, "mode is 'loco'"),
        ({"report": "all"}, "report is 'all'"),
        ({"free": ["query-start"]}, "semi-global"),
        ({"mode": "semi-global", "free": ["left"]}, "free end is 'left'"),
        ({"band": -1}, "band is -1"),
        ({"band": 2**64}, "band is 18446744073709551616, expected 0 to 1,000,000,000"),
        ({"device": "gpu"}, "device is 'gpu'"),
        ({"pairs": "some"}, "pairing is 'some'"),
        ({"pairs": Pairs.numbered([0], [2])}, "target is 2"),
        ({"pairs": Pairs([0], [0], [4], [0])}, "q_flags holds 4"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        overlapper.align(["ACGT", "A"], ["ACGT", "A"], **options)


def test_counts_must_fit_the_pairing():
    with pytest.raises(ParameterError, match="2 queries and 1 targets cannot be paired one-to-one"):
        overlapper.align(["A", "C"], ["A"])
    with pytest.raises(ParameterError, match="one-to-all"):
        overlapper.align(["A", "C"], ["A", "C"], pairs="one-to-all")


def test_scores_out_of_range_are_refused():
    for wrong in ({"gap_open": 1}, {"match": 2**21}, {"matrix": ((1, 2), (3, 4))}):
        with pytest.raises(ParameterError):
            Scoring(**wrong)


@pytest.fixture
def tables():
    queries = Reads.from_sequences(["q1", "q2"], ["GGACGTTGCA", "TGCAACGTAA"])
    return queries, Reads.from_sequences(["t1"], ["TTACGTTGCATT"])


def test_paf(tables, tmp_path):
    queries, targets = tables
    pairs = Pairs([0, 1], [0, 0], [0, 3], [0, 0])
    found = overlapper.align(queries, targets, pairs=pairs, mode="local")
    path = tmp_path / "out.paf.gz"
    write_alignments(found, queries, targets, path)
    assert gzip.decompress(path.read_bytes()).decode().splitlines() == [
        "q1\t10\t2\t10\t+\tt1\t12\t2\t10\t8\t8\t255\ttp:A:P\tAS:i:8\tNM:i:0\tcg:Z:8=",
        "q2\t10\t0\t10\t-\tt1\t12\t0\t10\t10\t10\t255\ttp:A:P\tAS:i:10\tNM:i:0\tcg:Z:10=",
    ]


def test_formats_say_what_they_cannot_tell(tables, tmp_path):
    queries, targets = tables
    odd = overlapper.align(queries, targets, pairs=Pairs([0], [0], [1], [0]))
    with pytest.raises(ParameterError, match="only sequences as they are"):
        write_alignments(odd, queries, targets, tmp_path / "out.paf")
    scores = overlapper.align(queries, targets, pairs="one-to-all", report="end")
    with pytest.raises(ParameterError, match="does not end in"):
        write_alignments(scores, queries, targets, tmp_path / "out.txt")
    assert not list(tmp_path.iterdir())


def test_lists_of_pairs(tables, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("q2\tt1\t-\nq1\tt1\n")
    pairs = read_pairs(str(path), *tables)
    assert (pairs.query.tolist(), pairs.target.tolist(), pairs.q_flags.tolist()) == ([1, 0], [0, 0], [3, 0])
    for line, said in (("q1", "expected a query"), ("q1\tt9", "no target 't9'"), ("q1\tt1\tx", "expected")):
        path.write_text(f"q1\tt1\n{line}\n")
        with pytest.raises(FormatError, match=f"line 2: .*{said}"):
            read_pairs(str(path), *tables)
