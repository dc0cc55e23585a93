"""Every query of the index on the GPU equals the CPU's, rows and order."""

import dataclasses
from random import Random

import numpy as np
import pytest

from overlapper.errors import DeviceError, ParameterError
from overlapper.index import Index, bwt
from overlapper.tables import Matches, Reads
from tests.cli.runner import overlapper
from tests.oracle.strands import reverse_complement
from tests.read_sets import fasta_of, reads_of

pytestmark = pytest.mark.gpu

KINDS = ("mems", "smems", "nov_smems")


def sequence(random, length, unknown=0.0005):
    """Random bases, tandem repeats and unknown bases."""
    parts, missing = [], length
    while missing > 0:
        kind = random.random()
        if kind < 0.7:
            part = "".join(random.choices("ACGT", k=random.randint(1, 400)))
        elif kind < 1 - unknown * 100:
            part = "".join(random.choices("ACGT", k=random.randint(1, 40))) * random.randint(2, 12)
        else:
            part = "N" * random.randint(1, 5)
        parts.append(part[:missing])
        missing -= len(parts[-1])
    return "".join(parts)


def with_errors(random, bases, rate):
    """Substitutions, insertions and deletions."""
    out = []
    for base in bases:
        kind = random.random()
        if kind < rate / 3:
            out.append(random.choice("ACGT"))
        elif kind < 2 * rate / 3:
            out.append(base + random.choice("ACGT"))
        elif kind >= rate:
            out.append(base)
    return "".join(out)


def case(seed, *, texts=12, longest=4000, reads=60, rate=0.1):
    """A text with copies of its own pieces, and reads of it with errors, on either strand."""
    random = Random(seed)
    pieces = [sequence(random, random.randint(1, longest)) for _ in range(texts)]
    pieces += [with_errors(random, random.choice(pieces), 0.02) for _ in range(texts)]
    found = []
    for _ in range(reads):
        source = random.choice(pieces)
        start = random.randrange(len(source)) if source else 0
        read = with_errors(random, source[start : start + random.randint(1, longest)], rate)
        read += sequence(random, random.randint(0, 50), unknown=0.003)
        found.append(reverse_complement(read) if random.random() < 0.5 else read)
    return [reads_of(s) for s in (pieces, [*found, "", "N", "ACG"])]


def on_gpu(index, **options):
    from overlapper.index.gpu import GpuIndex

    return GpuIndex(index, **options)


def assert_equal(found, expected):
    for field in dataclasses.fields(Matches):
        there, wanted = getattr(found, field.name), getattr(expected, field.name)
        assert there.dtype == wanted.dtype
        np.testing.assert_array_equal(there, wanted, err_msg=field.name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_matches_equal_the_cpu(gpu, kind, seed):
    rate = (0.0, 0.005, 0.05, 0.15)[seed % 4]
    text, reads = case(seed, rate=rate)
    index = Index.build(text, sample_rate=(1, 8, 32)[seed % 3], kmer_length=(None, 1, 5, 8)[seed % 4])
    device = on_gpu(index)
    for min_length in (11, 14, 20, 33):
        wanted = getattr(index, kind)(reads, min_length)
        assert_equal(getattr(device, kind)(reads, min_length), wanted)
    assert len(getattr(index, kind)(reads, 14))


@pytest.mark.parametrize("kind", KINDS)
def test_wide_rows_equal_the_cpu(gpu, kind, monkeypatch):
    monkeypatch.setattr(bwt, "NARROW_ROWS", 0)
    monkeypatch.setattr(bwt, "SUPERBLOCK_SHIFT", 1)
    text, reads = case(77)
    index = Index.build(text)
    assert index.fm.samples.itemsize == 8
    assert_equal(getattr(on_gpu(index), kind)(reads, 15), getattr(index, kind)(reads, 15))


@pytest.mark.parametrize("kind", KINDS)
def test_long_matches_and_many_places_equal_the_cpu(gpu, kind):
    """Matches of thousands of bases, found from many shares; hundreds of copies, sorted by blocks."""
    random = Random(5)
    genome = sequence(random, 30_000, unknown=0)
    copies = [genome[1000:1400]] * 300 + [genome[2000:9000]] * 5 + ["ACG" * 700]
    text = Reads.from_sequences(map(str, range(len(copies) + 1)), [genome, *copies])
    reads = [with_errors(random, genome[a : a + 12_000], 0.0005) for a in range(0, 18_000, 1500)]
    reads += ["CGA" * 300, reverse_complement(genome)]
    reads = reads_of(reads)
    index = Index.build(text)
    wanted = getattr(index, kind)(reads, 30)
    assert wanted.length.max() > 4000
    assert_equal(getattr(on_gpu(index), kind)(reads, 30), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_shares_of_several_gpus_and_small_batches_change_nothing(gpu, kind, monkeypatch):
    from overlapper.index import gpu as module

    text, reads = case(3)
    index = Index.build(text)
    wanted = getattr(index, kind)(reads, 12)
    assert_equal(getattr(on_gpu(index, devices=(0, 0, 0)), kind)(reads, 12), wanted)
    monkeypatch.setattr(module, "_BASES_A_BLOCK", 1 << 12)
    device = on_gpu(index, memory=3_000_000)
    assert_equal(getattr(device, kind)(reads, 12), wanted)


def test_an_index_beyond_the_memory_is_refused(gpu):
    index = Index.build(case(4)[0])
    with pytest.raises(DeviceError, match="the index takes"):
        on_gpu(index, memory=10_000)


def test_nothing_to_find(gpu):
    text, _ = case(6)
    device = on_gpu(Index.build(text))
    nothing = Reads.from_sequences("abc", ["NNNN", "", "N"])
    for kind in KINDS:
        assert len(getattr(device, kind)(nothing, 3)) == 0
        assert len(getattr(device, kind)(Reads.empty(), 3)) == 0
    with pytest.raises(ParameterError, match="expected"):
        device.mems(nothing, 0)


@pytest.mark.parametrize("kind", ["mem", "smem", "nov-smem"])
def test_the_command_writes_the_same_on_either(gpu, tmp_path, kind):
    text, reads = case(8)
    for name, table in (("text.fa", text), ("reads.fa", reads)):
        (tmp_path / name).write_text(fasta_of(table))
    for device in ("cpu", "cuda:0"):
        options = ("--kind", kind, "-l", "15", "--device", device, "-o", f"{device}.tsv", "-q")
        result = overlapper("seeds", "text.fa", "reads.fa", *options, cwd=tmp_path, text=True)
        assert (result.returncode, result.stderr) == (0, "")
    found = (tmp_path / "cuda:0.tsv").read_bytes()
    assert found.count(b"\n") > 100
    assert found == (tmp_path / "cpu.tsv").read_bytes()


def test_a_process_that_searched_on_all_gpus_ends_well(tmp_path):
    random = Random(3)
    text = sequence(random, 20_000)
    (tmp_path / "text.fa").write_text(f">text\n{text}\n")
    (tmp_path / "reads.fa").write_text("".join(f">{i}\n{text[i : i + 900]}\n" for i in range(0, 9000, 30)))
    for kind in ("mem", "smem"):
        overlapper(
            "seeds", "text.fa", "reads.fa", "--kind", kind, "--device", "cuda", "-o", "found.tsv",
            cwd=tmp_path, text=True, check=True,
        )  # fmt: skip
