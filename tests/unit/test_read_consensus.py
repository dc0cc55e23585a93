"""What correction keeps of a consensus, and how it grows."""

import dataclasses
import itertools

import numpy as np
import pytest

from overlapper.correction.consensus import Consensus, joined
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.read_consensus import ConsensusPart, ConsensusWriter, ReadConsensus
from overlapper.correction.vote_settings import WEIGHT
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.kernels.consensus.consensus import COUNTS
from overlapper.tables import Reads
from overlapper.tables.growing import GrowingArray
from overlapper.tables.ragged import runs_of


def consensus_of(texts, quality, depth, origin):
    """The consensus of reads, of which each has letters, qualities, depths and origins."""
    codes = np.array(["ACGTN".index(letter) for letter in "".join(texts)], np.uint8)
    offsets = np.cumsum([0, *map(len, texts)])
    flat = (np.array([*itertools.chain(*values)]) for values in (quality, depth, origin))
    q, d, o = flat
    counts = np.arange(len(texts) * COUNTS, dtype=np.int64).reshape(-1, COUNTS)
    return Consensus(offsets, codes, q.astype(np.uint8), d.astype(np.uint8), o.astype(np.int32), counts)


def written(parts):
    artifact = MemoryArtifact()
    writer = ConsensusWriter(artifact)
    for part in parts:
        writer.add(part)
    writer.finish()
    made = ReadConsensus.within(artifact)
    return made, made.reads.whole()


def voted(*parts):
    return written([ConsensusPart.of(made, given) for made, given in parts])


def test_bases_qualities_and_what_is_covered_are_kept():
    given = Reads.from_sequences(["a", "b", "c"], ["ACGTA", "", "GGA"])
    given = dataclasses.replace(
        given, qualities=np.array([1, 2, 3, 4, 5], np.uint8), quality_offsets=np.array([0, 5, 5, 5])
    )
    made = consensus_of(
        ["ANGTC", "", "GGG"],
        [[30, 0, 0, 40, 0], [], [0, 20, 0]],
        [[3, 1, 5, 4, 2], [], [3, 3, 0]],
        [[0, 1, 2, 3, 9], [], [0, 1, 2]],
    )
    kept, reads = voted((made, given))
    assert [reads.sequence(i) for i in range(3)] == ["ANGTC", "", "GGG"]
    # Unknown bases have none; the others that they came with, a read without any the usual weight.
    assert reads.qualities.tolist() == [30, 0, 3, 40, 5, WEIGHT, 20, WEIGHT]
    assert list(zip(kept.covered.start, kept.covered.end, strict=True)) == [(0, 1), (2, 4), (0, 2)]
    assert kept.covered.offsets.tolist() == [0, 2, 2, 3]
    assert kept.covered.depth.tolist() == [2.0, 0.0, pytest.approx(4 / 3)]


def test_parts_make_what_the_whole_makes():
    texts = ["ACGNN", "NNA", "", "GATTACA" * 9]
    numbers = [[i % 7 for i in range(len(text))] for text in texts]
    made = consensus_of(texts, numbers, numbers, [range(len(text)) for text in texts])
    given = Reads.from_sequences("abcd", texts)
    parts = []
    for i in range(4):
        some = slice(made.offsets[i], made.offsets[i + 1])
        columns = (getattr(made, name)[some] for name in ("codes", "quality", "depth", "origin"))
        part = Consensus(made.offsets[i : i + 2] - made.offsets[i], *columns, made.counts[i : i + 1])
        parts.append((part, given.rows(i, i + 1)))
    (whole, reads), (by_parts, reads_by_parts) = voted((made, given)), voted(*parts)
    for name in ("words", "qualities", "unknown_start", "unknown_offsets", "lengths"):
        assert getattr(reads_by_parts, name).tolist() == getattr(reads, name).tolist()
    assert by_parts.covered.start.tolist() == whole.covered.start.tolist()
    assert joined([part for part, _ in parts]).codes.tolist() == made.codes.tolist()


def test_runs_are_those_of_each_read():
    marked = np.array([1, 1, 0, 1, 1, 1, 0, 1], bool)
    start, end, runs = runs_of(marked, np.array([0, 2, 2, 4, 8]))
    assert list(zip(start.tolist(), end.tolist(), strict=True)) == [(0, 2), (1, 2), (0, 2), (3, 4)]
    assert runs.tolist() == [1, 0, 1, 2]


def test_packed_reads_are_what_text_makes():
    texts = ["ACGTN" * 13, "", "NN"]
    codes = np.array(["ACGTN".index(letter) for letter in "".join(texts)], np.uint8)
    made = pack_reads(codes, np.array([65, 0, 2]), codes, ["a", "b", "c"]).validate()
    assert [made.sequence(i) for i in range(3)] == texts
    assert made.names == ["a", "b", "c"]


def test_arrays_grow_at_their_ends():
    array = GrowingArray(np.dtype(np.int16))
    parts = [np.arange(n, dtype=np.int16) for n in (0, 3, 1, 900, 0, 77)]
    for part in parts:
        array.append(part)
    assert array.taken().tolist() == np.concatenate(parts).tolist()


def test_reads_of_several_parts_are_put_in_order_some_at_a_time(monkeypatch):
    texts = ["ACGNN", "NNA", "", "GATTACA" * 9, "C", "TTTT"]
    numbers = [[(i + at) % 7 for i in range(len(text))] for at, text in enumerate(texts)]
    made = [
        consensus_of([text], [of_text], [of_text], [range(len(text))])
        for text, of_text in zip(texts, numbers, strict=True)
    ]
    no_reads = Reads.from_sequences([""] * 3, [""] * 3)
    # The parts hold reads 1, 4 and 5; 0, 2 and 3.
    parts = [ConsensusPart.of(joined([made[i] for i in some]), no_reads) for some in ([1, 4, 5], [0, 2, 3])]
    order = np.array([3, 0, 4, 5, 1, 2])
    whole, reads = voted((joined(made), Reads.from_sequences([""] * 6, [""] * 6)))
    for bases in (1, 64, 1 << 20):
        monkeypatch.setattr("overlapper.correction.read_consensus._AT_A_TIME", bases)
        kept, in_order = written(ConsensusPart.in_order(parts, order))
        assert [in_order.sequence(i) for i in range(6)] == texts
        assert in_order.qualities.tolist() == reads.qualities.tolist()
        assert kept.covered.offsets.tolist() == whole.covered.offsets.tolist()
        assert kept.covered.start.tolist() == whole.covered.start.tolist()
        assert (kept.counts == np.arange(COUNTS)).all()
