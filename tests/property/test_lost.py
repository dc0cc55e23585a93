"""Lost sequence equals the oracle, and contigs of two layouts keep their reads."""

import random

import numpy as np
import pytest

from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.lost import LostKmers
from overlapper.correction.own_reads import OwnReads
from overlapper.errors import ParameterError
from overlapper.tables import Reads
from tests.oracle import lost as oracle
from tests.oracle.strands import reverse_complement
from tests.property.test_haplotypes import mutated
from tests.read_sets import reads_of


def laid_out(sequences, rows, circular=(), links=()):
    """Return contigs, and rows (contig, start, read, r_start, r_end, reverse, read length) on them."""
    contig, start, read, r_start, r_end, reverse, length = np.array(rows, np.int64).reshape(-1, 7).T
    lengths = np.array([len(bases) for bases in sequences], np.int64)
    source, target, overlap = np.array(links, np.int64).reshape(-1, 3).T
    own = OwnReads(contig, read, start, reverse > 0, r_start, r_end, lengths[contig], length)
    depth = np.bincount(contig, r_end - r_start, len(lengths)) / lengths
    is_circular = np.isin(np.arange(len(lengths)), circular)
    contigs = Contigs(
        Reads.from_sequences([f"utg{i}" for i in range(len(lengths))], sequences), is_circular, depth,
        np.bincount(contig, minlength=len(lengths)), source, target, overlap,
    )  # fmt: skip
    return LaidOut(contigs, own)


def reads_on(random_, sequence, contig, first, step=500):
    """Return reads of a contig, some with bases at their ends that were not laid out, and their rows."""
    texts, rows = [], []
    for start in range(0, len(sequence), step):
        end = min(len(sequence), start + random_.randint(1_000, 4_000))
        extra = ["".join(random_.choices("ACGT", k=random_.choice((0, 40)))) for _ in range(2)]
        text, reverse = extra[0] + sequence[start:end] + extra[1], random_.random() < 0.5
        outside = extra[1] if reverse else extra[0]
        texts.append(reverse_complement(text) if reverse else text)
        r_start = len(outside)
        rows.append((contig, start, first + len(rows), r_start, r_start + end - start, reverse, len(text)))
    return texts, rows


@pytest.mark.parametrize("seed", range(6))
def test_lost_kmers_and_their_contigs_equal_the_oracle(seed):
    random_ = random.Random(seed)
    one = "".join(random_.choices("ACGT", k=16_000))
    # The other haplotype is the same at both ends; or it differs at one place alone.
    rate, low, high = [(0.01, 4_000, 12_000), (1.0, 8_000, 8_001)][seed % 2]
    other = one[:low] + mutated(random_, one[low:high], rate, 0, 0) + one[high:]
    of_one, rows = reads_on(random_, one, 0, 0)
    of_other, again = reads_on(random_, other, 0, len(of_one))
    reads = of_one + of_other
    spoilt = len(of_one) + random_.randrange(len(of_other))
    reads[spoilt] = reads[spoilt][:500] + "NN" + reads[spoilt][502:]
    made, depth = laid_out([one], rows), 2.5 + seed
    found = LostKmers.of(reads_of(reads), made, depth, None, threads=1)
    expected = oracle.lost_kmers(reads, set(range(len(of_one))), [one], depth)
    assert sorted(zip(found.read.tolist(), found.place.tolist(), strict=True)) == expected
    assert expected
    lost_alone = {read for read, _ in expected}
    rows_again = [row for row in again if row[2] in lost_alone]
    held = found.contigs_with(laid_out([other, one], rows_again)).tolist()
    assert held == oracle.contigs_with(expected, [row[:6] for row in rows_again], 2)
    assert held == ([] if seed % 2 else [0])


def test_threads_change_nothing():
    random_ = random.Random(9)
    one = "".join(random_.choices("ACGT", k=12_000))
    of_one, rows = reads_on(random_, one, 0, 0)
    of_other, _ = reads_on(random_, mutated(random_, one, 0.01, 0, 2_000), 0, len(of_one))
    made, reads = laid_out([one], rows), reads_of(of_one + of_other)
    found, again = (LostKmers.of(reads, made, 6.0, None, threads) for threads in (1, 3))
    assert len(found.read)
    np.testing.assert_array_equal(found.read, again.read)
    np.testing.assert_array_equal(found.place, again.place)


def test_a_memory_budget_that_is_too_small():
    random_ = random.Random(9)
    one = "".join(random_.choices("ACGT", k=8_000))
    of_one, rows = reads_on(random_, one, 0, 0)
    of_other, _ = reads_on(random_, mutated(random_, one, 0.01, 0, 2_000), 0, len(of_one))
    with pytest.raises(ParameterError, match=r"k-mers that tell what is lost .* expected [0-9]+ MB more"):
        LostKmers.of(reads_of(of_one + of_other), laid_out([one], rows), 6.0, 128 << 20, 1)


def test_nothing_is_lost_where_all_reads_are_laid_out():
    random_ = random.Random(3)
    one = "".join(random_.choices("ACGT", k=6_000))
    texts, rows = reads_on(random_, one, 0, 0)
    found = LostKmers.of(reads_of(texts), laid_out([one], rows), 4.0, None, 1)
    assert not len(found.read)


@pytest.mark.parametrize("seed", range(4))
def test_contigs_of_two_layouts_have_the_bases_of_their_reads(seed):
    """Contigs of one layout beside one of another: each row lies where its read's bases are."""
    random_ = random.Random(seed)
    sequences = ["".join(random_.choices("ACGT", k=size)) for size in (9_000, 5_000, 7_000, 3_000)]
    reads, tables = [], []
    for pair in ((0, 1), (2, 3)):
        rows = []
        for contig, number in enumerate(pair):
            texts, more = reads_on(random_, sequences[number], contig, len(reads))
            reads, rows = reads + texts, rows + more
        tables.append(rows)
    one = laid_out(sequences[:2], tables[0], circular=[1], links=[(0, 3, 70)])
    other = laid_out(sequences[2:], tables[1])
    cut = other.take(np.array([0]))
    both = one.beside(cut)
    contigs, own = both.contigs, both.reads
    assert contigs.sequences.names == ["utg000001l", "utg000002l", "utg000003c"]
    expected = [sequences[0], sequences[2], sequences[1]]
    assert [contigs.sequences.sequence(i) for i in range(3)] == expected
    assert contigs.reads.tolist() == np.bincount(own.unitig).tolist()
    assert (contigs.link_source.tolist(), contigs.link_target.tolist()) == ([0], [5])
    np.testing.assert_array_equal(own.unitig_length, contigs.sequences.lengths[own.unitig])
    assert set(own.read[own.unitig == 1].tolist()) == {row[2] for row in tables[1] if row[0] == 0}
    for unitig, read, start, reverse, r_start, r_end in zip(
        own.unitig, own.read, own.start, own.reverse, own.r_start, own.r_end, strict=True
    ):
        bases = reads[read][r_start:r_end]
        bases = reverse_complement(bases) if reverse else bases
        assert expected[unitig][start : start + len(bases)] == bases
