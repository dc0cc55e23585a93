"""Reads aligned at their places on contigs."""

import dataclasses

import numpy as np
import pysam

from overlapper.assembly.beginnings import Beginnings
from overlapper.assembly.laid_out import Contigs
from overlapper.assembly.placed import ContigMapper, PlacedReads, write_reads
from overlapper.io.mappings import MappingOptions
from overlapper.io.read_store import ReadStore
from overlapper.sketch.canonical import packed
from overlapper.tables import MappingKind, Reads
from tests.read_sets import mutated, random_text, reverse_complement

RNG = np.random.default_rng(11)
LINE, CIRCLE = random_text(RNG, 6000), random_text(RNG, 5000)


def contigs_of(*sequences, circular):
    names = [f"utg{number}" for number in range(len(sequences))]
    none, circular = np.zeros(len(sequences)), np.array(circular)
    links = np.empty(0, np.int64)
    return Contigs(Reads.from_sequences(names, sequences), circular, none, none, links, links, links)


def placed_at(rows, texts):
    """Return places of (read, contig, start, reverse), of whole reads."""
    read, contig, start, reverse = (np.array(column) for column in zip(*rows, strict=True))
    lengths = np.array([len(texts[number]) for number in read])
    zeros = np.zeros(len(rows), np.int64)
    return PlacedReads(contig, read, start, reverse, zeros, lengths, lengths, zeros, zeros)


def mapped(contigs, placed, texts, aside=()):
    store = packed(Reads.from_sequences([f"r{i}" for i in range(len(texts))], texts), 1)
    assert isinstance(store, ReadStore)
    found = list(ContigMapper(contigs, placed, 1, np.array(aside, int)).aligned(store))
    assert [number for numbers, _, _ in found for number in numbers] == list(range(len(texts)))
    return [row for _, _, mappings in found for row in mappings]


def test_reads_lie_where_the_layout_has_them_and_not_on_copies():
    """The second contig is the first one again; one read has no place; places are some hundred off."""
    texts = [mutated(RNG, LINE[1000:4000], 0.05), reverse_complement(LINE[2000:5000]), LINE[:2000]]
    placed = placed_at([(0, 1, 1250, False), (1, 0, 1800, True)], texts)
    rows = mapped(contigs_of(LINE, LINE, circular=[False, False]), placed, texts)
    assert [(row.query, row.target, bool(row.reverse)) for row in rows] == [(0, 1, False), (1, 0, True)]
    assert all(row.kind == MappingKind.PRIMARY and row.quality > 30 for row in rows)
    assert abs(rows[0].t_start - 1000) < 5 and (rows[1].t_start, rows[1].t_end) == (2000, 5000)


def test_reads_across_the_first_base_of_a_circle_have_two_records():
    across = (CIRCLE + CIRCLE)[3500:6000]
    texts = [across, reverse_complement(across), CIRCLE[500:3000], mutated(RNG, across, 0.05)]
    rows = [(0, 0, 3450, False), (1, 0, -1550, True), (2, 0, 560, False), (3, 0, 3600, False)]
    found = mapped(contigs_of(CIRCLE, circular=[True]), placed_at(rows, texts), texts)
    for read, reverse in ((0, False), (1, True)):
        first, second = (row for row in found if row.query == read)
        assert (first.kind, first.t_start, first.t_end) == (MappingKind.PRIMARY, 3500, 5000)
        assert (second.kind, second.t_start, second.t_end) == (MappingKind.SUPPLEMENTARY, 0, 1000)
        parts = [(1000, 2500), (0, 1000)] if reverse else [(0, 1500), (1500, 2500)]
        assert [(row.q_start, row.q_end) for row in (first, second)] == parts
        assert [row.matches for row in (first, second)] == [1500, 1000]
        assert first.second_score == second.second_score == 0, (
            "its part behind the first base is no other place"
        )
    (whole,) = (row for row in found if row.query == 2)
    assert (whole.t_start, whole.t_end) == (500, 3000)
    noisy = [row for row in found if row.query == 3]
    assert {row.second_score for row in noisy} == {0}
    assert {row.t_end for row in noisy} & {5000} and {row.t_start for row in noisy} & {0}
    assert sum(row.q_end - row.q_start for row in noisy) > 0.99 * len(texts[3])
    for row in noisy:
        on_read, on_target = (sum(n >> 4 for n in row.cigar.tolist() if n & 15 != gap) for gap in (2, 1))
        assert (on_read, on_target) == (row.q_end - row.q_start, row.t_end - row.t_start)


def test_reads_set_aside_lie_where_they_align_best():
    """The first two contigs are equal: nothing says of which one a read of theirs is."""
    across = (CIRCLE + CIRCLE)[4000:6000]
    texts = [LINE[:2000], mutated(RNG, across, 0.02), reverse_complement(LINE[3000:5000]), LINE[3000:5000]]
    contigs = contigs_of(LINE, LINE, CIRCLE, circular=[False, False, True])
    rows = mapped(contigs, placed_at([(0, 1, 0, False)], texts), texts, aside=[1, 2])
    assert {row.query for row in rows} == {0, 1, 2}, "a read that was not laid out has no place"
    (sure,) = (row for row in rows if row.query == 0)
    assert (sure.target, sure.quality) == (1, 60)
    across = [(row.target, row.t_start, row.t_end) for row in rows if row.query == 1]
    assert sorted(across) == [(2, 0, 1000), (2, 4000, 5000)]
    assert all(row.quality == 60 for row in rows if row.query == 1)
    (unsure,) = (row for row in rows if row.query == 2)
    assert (unsure.reverse, unsure.t_start, unsure.t_end, unsure.quality) == (True, 3000, 5000, 0)


def test_places_move_with_their_contigs():
    """Polishing made the contig half as long again, 30 bases were cut off, then it was turned."""
    placed = placed_at([(0, 0, 400, False), (1, 1, 400, False)], ["A" * 100] * 2)
    before, after = np.array([1000, 1000]), np.array([1500, 1500])
    cut = np.array([[30, 0], [0, 0]])
    assert placed.moved(before, after, cut, None).start.tolist() == [570, 600]
    beginnings = Beginnings(np.array([0, 650]), np.array([False, True]))
    moved = placed.moved(before, after, cut, beginnings)
    assert moved.start.tolist() == [570, 1451] and moved.reverse.tolist() == [False, True]


@dataclasses.dataclass
class Pieces:
    contig: np.ndarray
    start: np.ndarray
    end: np.ndarray


@dataclasses.dataclass
class Phased:
    pieces: Pieces
    block: np.ndarray
    haplotype: np.ndarray


def test_reads_set_aside_have_the_haplotype_of_where_they_align(tmp_path):
    pieces = Pieces(np.array([0, 0]), np.array([0, 3000]), np.array([3000, 6000]))
    phased = Phased(pieces, np.array([1, 0]), np.array([2, 0]))
    texts = [LINE[:2000], reverse_complement(LINE[500:2500]), LINE[4000:6000], random_text(RNG, 2000)]
    placed = placed_at([(0, 0, 0, False)], texts).phased(phased)
    mapper = ContigMapper(contigs_of(LINE, circular=[False]), placed, 1, np.array([1, 2, 3]))
    store = packed(Reads.from_sequences([f"r{i}" for i in range(4)], texts), 1)
    counts = write_reads(f"{tmp_path}/o.bam", mapper, phased, store, MappingOptions())
    assert counts == {
        "reads of contigs": 1, "reads of contigs not aligned": 0, "reads set aside, aligned to contigs": 2,
    }  # fmt: skip
    with pysam.AlignmentFile(f"{tmp_path}/o.bam") as file:
        found = {r.query_name: (r.is_mapped, dict(r.get_tags())) for r in file}
    assert [found[f"r{i}"][0] for i in range(4)] == [True, True, True, False]
    assert [(tags.get("HP"), tags.get("PS")) for _, tags in found.values()] == [(2, 1)] * 2 + [
        (None, None)
    ] * 2


def test_a_read_has_the_haplotype_of_the_piece_that_holds_most_of_it():
    pieces = Pieces(np.array([0, 0, 0, 1]), np.array([0, 500, 900, 0]), np.array([500, 900, 2000, 800]))
    phased = Phased(pieces, np.array([1, 0, 2, 1]), np.array([1, 0, 2, 2]))
    rows = [
        (0, 0, 350, False),
        (1, 0, 550, False),
        (2, 0, 450, True),
        (3, 1, 700, False),
        (4, 0, 1100, False),
    ]
    placed = placed_at(rows, ["A" * 200, "A" * 200, "A" * 600, "A" * 200, "A" * 100]).phased(phased)
    assert placed.haplotype.tolist() == [1, 0, 2, 2, 2]
    assert placed.block.tolist() == [1, 0, 2, 1, 2]
