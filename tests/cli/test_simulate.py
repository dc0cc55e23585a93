"""``overlapper simulate`` from outside: files, streams, errors."""

import collections
import gzip
import os
import re

import pysam
import pytest

from overlapper.cli.sizes import parse_size
from overlapper.io.truth import read_truth
from overlapper.simulate import PRESETS
from tests.cli.runner import overlapper


def simulate(folder, *options, **more):
    return overlapper("simulate", *options, cwd=folder, **more)


SMALL = ("--genome-size", "20k", "--coverage", "5", "--mean-length", "2000", "--seed", "3")


@pytest.mark.parametrize("name", ["reads.fastq", "reads.fq.gz", "reads.fasta", "reads.fa.gz"])
def test_files_hold_the_reads_of_the_truth(tmp_path, name):
    result = simulate(tmp_path, *SMALL, "-o", name, "--truth", "truth.tsv", "--reference-out", "ref.fa")
    assert (result.returncode, result.stdout) == (0, b"")
    assert sorted(os.listdir(tmp_path)) == sorted([name, "ref.fa", "truth.tsv"])
    truth = read_truth(str(tmp_path / "truth.tsv"))
    with pysam.FastxFile(str(tmp_path / name)) as file:
        reads = [(read.name, len(read.sequence), read.quality) for read in file]
    expected = dict(zip(truth.read.tolist(), truth.read_len.tolist(), strict=True))
    assert [(read, length) for read, length, _ in reads] == list(expected.items())
    as_fastq = name.startswith(("reads.fastq", "reads.fq"))
    assert all((quality is not None) == as_fastq for _, _, quality in reads)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    with pysam.FastxFile(str(tmp_path / "ref.fa")) as file:
        assert [(r.name, len(r.sequence)) for r in file] == [("genome", 20_000)]


def test_the_same_command_gives_the_same_bytes_and_a_new_seed_others(tmp_path):
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        simulate(
            tmp_path, *SMALL, "--seed", seed, "-o", f"{name}.fq.gz", "--truth", f"{name}.tsv", check=True
        )
    for suffix in (".fq.gz", ".tsv"):
        a, b, c = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "abc")
        assert a == b != c


def test_standard_output_holds_reads_alone(tmp_path):
    result = simulate(tmp_path, *SMALL, "-o", "-", check=True)
    simulate(tmp_path, *SMALL, "-o", "reads.fa", "--quiet", check=True)
    assert result.stdout == (tmp_path / "reads.fa").read_bytes()
    assert result.stderr.decode().count("\n") == 5  # the footer has two


def test_reads_of_a_given_reference(tmp_path):
    with gzip.open(tmp_path / "ref.fa.gz", "wt") as file:
        file.write(">chr1 one\n" + "ACGTTGCA" * 500 + "\n>chr2\n" + "GATTACAA" * 500 + "\n")
    options = ("--mean-length", "1000", "--preset", "perfect", "--circular")
    simulate(tmp_path, "--reference", "ref.fa.gz", *options, "-o", "r.fa", "--truth", "t.tsv", check=True)
    truth = read_truth(str(tmp_path / "t.tsv"))
    assert set(truth.ref) == {"chr1", "chr2"}
    assert (truth.end > 4000).any()


def test_planted_repeats(tmp_path):
    simulate(tmp_path, *SMALL, "--repeats", "5,1000,0", "-o", "r.fa", "--reference-out", "ref.fa", check=True)
    with pysam.FastxFile(str(tmp_path / "ref.fa")) as file:
        (genome,) = [record.sequence for record in file]
    words = collections.Counter(genome[i : i + 50] for i in range(len(genome) - 50))
    ((most, count),) = words.most_common(1)
    assert count + words[most[::-1].translate(str.maketrans("ACGT", "TGCA"))] == 5


def test_options_change_the_preset(tmp_path):
    options = "--identity 0.8 --identity-sd 0 --length-sd 0 --junk 0 --chimeras 1"
    simulate(
        tmp_path, *SMALL, *options.split(), "--adapters", "1", "-o", "r.fa", "--truth", "t.tsv", check=True
    )
    truth = read_truth(str(tmp_path / "t.tsv"))
    assert set(truth.kind) == {"chimera"}
    assert truth.identity.mean() == pytest.approx(0.8, abs=0.02)
    assert truth.qstart[::2].tolist() == [28] * (len(truth) // 2)


def test_help_names_every_preset(tmp_path):
    words = re.findall(r"[\w-]+", simulate(tmp_path, "--help").stdout.decode())
    assert set(PRESETS) <= set(words)


def test_lengths_may_have_units(tmp_path):
    for name, units in (("plain", (3000, 1000, 2000, 500)), ("units", ("3k", "1K", "0.002M", "0.5k"))):
        mean, deviation, least, repeat = map(str, units)
        options = ("--mean-length", mean, "--length-sd", deviation, "--min-length", least)
        more = ("--repeats", f"2,{repeat},0", "-o", f"{name}.fa")
        simulate(tmp_path, "--genome-size", "20k", *options, *more, check=True)
    assert (tmp_path / "plain.fa").read_bytes() == (tmp_path / "units.fa").read_bytes()


def test_sizes():
    assert [parse_size(text) for text in ("500", "200k", "4.6M", "3G", " 1K ")] == [
        500, 200_000, 4_600_000, 3_000_000_000, 1000]  # fmt: skip
