"""Alignments end where they stop paying, and what is left of reads is mapped, too; the best place wins."""

import dataclasses

import numpy as np
import pytest

from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import MapParams
from overlapper.tables import MappingKind
from tests.read_sets import mutated, random_text, reads_of, reverse_complement

EXTENDERS = ["edits", "local", "xdrop", "gact"]


def mapped(reference, read, preset="ont", **changes):
    """Rows of a read in the order of the read: kind, strand, start and end on read and on reference."""
    params = dataclasses.replace(MapParams.preset(preset), **changes)
    table = map_reads(reads_of([reference]), reads_of([read]), params, threads=1).validate()
    rows = table[table.kind != MappingKind.SECONDARY]
    return sorted(
        [(r.q_start, r.q_end, r.reverse, r.t_start, r.t_end, r.quality, r.kind) for r in rows]
    ), rows


def assert_pieces(rows, expected, slack):
    """``expected`` are start and end on the read, strand, start and end on the reference."""
    assert len(rows) == len(expected), rows
    for row, piece in zip(rows, expected, strict=True):
        assert row[2] == piece[2]
        np.testing.assert_allclose(
            [row[0], row[1], row[3], row[4]], [piece[0], piece[1], piece[3], piece[4]], atol=slack
        )
        assert row[5] >= 50
    assert sorted(row[6] for row in rows) == [MappingKind.PRIMARY] + [MappingKind.SUPPLEMENTARY] * (
        len(rows) - 1
    )


@pytest.mark.parametrize("length", [200, 300, 1000, 4000])
@pytest.mark.parametrize("errors", [0, 0.05])
def test_an_inversion_is_a_record_of_its_own(length, errors):
    rng = np.random.default_rng(length)
    reference = random_text(rng, 20_000)
    a, b = 8000, 8000 + length
    read = mutated(
        rng, reference[5000:a] + reverse_complement(reference[a:b]) + reference[b : b + 3000], errors
    )
    rows, _ = mapped(reference, read)
    scale = len(read) / (6000 + length)
    ends = [0, round(3000 * scale), round((3000 + length) * scale), len(read)]
    assert_pieces(
        rows,
        [
            (ends[0], ends[1], False, 5000, a), (ends[1], ends[2], True, a, b),
            (ends[2], ends[3], False, b, b + 3000),
        ],
        slack=5 if not errors else 60,
    )  # fmt: skip


@pytest.mark.parametrize("extender", EXTENDERS)
@pytest.mark.parametrize("length", [500, 2500, 8000])
def test_both_flanks_of_unknown_bases_are_mapped(extender, length):
    rng = np.random.default_rng(3)
    text = random_text(rng, 4000 + length)
    reference = text[:2000] + "N" * length + text[2000 + length :]
    rows, _ = mapped(reference, text, extender=extender)
    flanks = [(0, 2000, False, 0, 2000), (2000 + length, 4000 + length, False, 2000 + length, 4000 + length)]
    assert_pieces(rows, flanks, slack=60)


@pytest.mark.parametrize("extender", EXTENDERS)
@pytest.mark.parametrize("length", [800, 4000])
def test_both_flanks_of_foreign_bases_are_mapped(extender, length):
    rng = np.random.default_rng(4)
    reference = random_text(rng, 4000 + length)
    read = reference[:1500] + random_text(rng, length) + reference[1500 + length : 3000 + length]
    rows, _ = mapped(reference, read, extender=extender)
    flanks = [(0, 1500, False, 0, 1500), (1500 + length, 3000 + length, False, 1500 + length, 3000 + length)]
    assert_pieces(rows, flanks, slack=60)


def test_a_middle_of_another_place_is_mapped_there():
    rng = np.random.default_rng(5)
    reference = random_text(rng, 20_000)
    read = reference[1000:3000] + reference[15_000:15_400] + reference[3400:5400]
    rows, _ = mapped(reference, read)
    assert_pieces(
        rows,
        [
            (0, 2000, False, 1000, 3000), (2000, 2400, False, 15_000, 15_400),
            (2400, 4400, False, 3400, 5400),
        ],
        slack=12,
    )  # fmt: skip


@pytest.mark.parametrize("extender", EXTENDERS)
def test_flanks_shorter_than_what_lies_between_them_are_mapped(extender):
    """Their chain goes on behind the inversion, and most of its span is aligned there."""
    rng = np.random.default_rng(8)
    reference = random_text(rng, 12_000)
    read = reference[3000:4000] + reverse_complement(reference[4000:8000]) + reference[8000:9000]
    rows, _ = mapped(reference, read, extender=extender)
    assert_pieces(
        rows,
        [(0, 1000, False, 3000, 4000), (1000, 5000, True, 4000, 8000), (5000, 6000, False, 8000, 9000)],
        slack=5,
    )


@pytest.mark.parametrize("length", [50, 200, 450])
@pytest.mark.parametrize("inserted", [True, False])
def test_a_long_gap_is_one_gap(length, inserted):
    """Noisy reads have seeds far from the gap; the bases between pair on either side of it."""
    rng = np.random.default_rng(length)
    one, other = random_text(rng, 4000), random_text(rng, length)
    longer = one[:2000] + other + one[2000:]
    read = mutated(rng, longer if inserted else one, 0.1)
    rows, table = mapped(one if inserted else longer, read, "clr")
    assert len(rows) == 1
    runs = [(run >> 4, "MIDNSHP=X"[run & 15]) for run in table.cigar.tolist()]
    longest = max(run for run in runs if run[1] == ("I" if inserted else "D"))[0]
    assert longest >= 0.9 * length


@pytest.mark.parametrize("length", [700, 20_000])
def test_both_flanks_of_long_deletions_are_mapped(length):
    rng = np.random.default_rng(6)
    reference = random_text(rng, 4000 + length)
    rows, _ = mapped(reference, mutated(rng, reference[:2000] + reference[-2000:], 0.05))
    assert len(rows) == 2
    np.testing.assert_allclose(
        [[r[3], r[4]] for r in rows], [[0, 2000], [2000 + length, 4000 + length]], atol=40
    )


def test_a_noisy_read_stays_whole():
    rng = np.random.default_rng(7)
    reference = random_text(rng, 12_000)
    rows, _ = mapped(reference, mutated(rng, reference[1000:11_000], 0.14), "clr")
    assert len(rows) == 1


@pytest.mark.parametrize(("unit", "divergence"), [(171, 0.03), (340, 0.01), (340, 0.03)])
def test_reads_of_satellites_are_mapped_to_their_copies(unit, divergence):
    rng = np.random.default_rng(unit)
    base = random_text(rng, unit)
    array = "".join(mutated(rng, base, divergence) for _ in range(40_000 // unit))
    reference = random_text(rng, 12_000) + array + random_text(rng, 12_000)
    starts = rng.integers(5000, len(reference) - 16_000, 12)
    reads = [mutated(rng, reference[start : start + 10_000], 0.003) for start in starts.tolist()]
    table = map_reads(reads_of([reference]), reads_of(reads), "hifi", threads=1)
    table = table[table.kind != MappingKind.SECONDARY]
    assert table.query.tolist() == list(range(len(reads)))
    np.testing.assert_allclose(table.t_start, starts, atol=30)
    np.testing.assert_allclose(table.t_end, starts + 10_000, atol=30)
    assert table.edits.max() < 70
    assert table.quality.min() >= 30


def test_a_short_tandem_repeat_is_not_left_for_a_detour():
    """Seeds of a neighbouring unit do not draw an alignment off its diagonal and back."""
    rng = np.random.default_rng(8)
    base = random_text(rng, 33)
    array = "".join(mutated(rng, base, 0.08) for _ in range(45))
    reference = random_text(rng, 4000) + array + random_text(rng, 4000)
    reads = [mutated(rng, reference[500:-500], 0.004) for _ in range(8)]
    table = map_reads(reads_of([reference]), reads_of(reads), "hifi", threads=1)
    assert table.edits.max() < 80
    assert (table.kind == MappingKind.PRIMARY).all()


def test_qualities_are_those_of_all_seeds_of_a_place():
    """An alignment that two chains of the same place lead to is reported once, and is certain."""
    rng = np.random.default_rng(9)
    left, right = random_text(rng, 3000), random_text(rng, 3000)
    reference = left + "N" * 100 + right
    read = left + random_text(rng, 100) + right
    rows, table = mapped(reference, read, seeds=dataclasses.replace(MapParams().seeds, hit_limit=1))
    assert {row[5] for row in rows} == {60}
    assert len(table) == len(rows) <= 2


@pytest.mark.parametrize(("unknown", "records"), [(100, 1), (101, 2)])
def test_what_costs_400_stays_within_an_alignment(unknown, records):
    rng = np.random.default_rng(10)
    text = random_text(rng, 3000)
    rows, _ = mapped(text[:1500] + "N" * unknown + text[1500 + unknown :], text)
    assert len(rows) == records
