"""Odd names of reads and of files, references that do not fit, and a system that gives too little."""

import os
import random
import resource

import pysam
import pytest

from tests.cli.runner import overlapper

_RANDOM = random.Random(5)
GENOME = "".join(_RANDOM.choice("ACGT") for _ in range(2000))
NAMES = ("a\u2028b", "c\x85d", "e\u2029f", "\xe9")
NOT_UTF8 = os.fsdecode(b"caf\xe9")


def fasta(names, step=300, length=1000):
    records = enumerate(names)
    return "".join(f">{name}\n{GENOME[i * step : i * step + length]}\n" for i, name in records)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "reads.fa").write_text(fasta(NAMES), newline="")
    (tmp_path / "ref.fa").write_text(f">genome\n{GENOME}\n")
    return tmp_path


def done(result):
    assert result.code == 0, result.err
    return result


def test_names_with_line_ends_of_other_alphabets_come_back(files, command):
    done(command("overlap", "reads.fa", "-o", "o.paf"))
    for path, step in (("o.paf", "o.parquet"), ("o.parquet", "back.paf")):
        done(command("convert", path, step))
    assert (files / "back.paf").read_bytes() == (files / "o.paf").read_bytes()
    done(command("report", "reads.fa", "o.paf", "-o", "r.html"))
    done(command("correct", "reads.fa", "-o", "c.fq", "--table", "c.tsv"))
    done(command("report", "c.tsv", "-o", "r.html"))
    done(command("plot", "pile", "o.paf", NAMES[0], "-o", "p.svg"))


@pytest.mark.parametrize("output", ["m.sam", "m.bam"])
def test_mappings_have_the_names_of_reads(files, command, output):
    done(command("map", "ref.fa", "reads.fa", "-o", output))
    with pysam.AlignmentFile(str(files / output)) as records:
        assert {record.query_name for record in records} == set(NAMES)


def test_names_too_long_for_sam_are_told(files, command):
    (files / "reads.fa").write_text(fasta(["x" * 255]))
    result = command("map", "ref.fa", "reads.fa", "-o", "m.sam")
    assert result.code == 1
    assert "has a name of 255 bytes, but SAM allows 254. Rename it, or write PAF." in result.err
    assert not (files / "m.sam").exists()


@pytest.mark.parametrize("name", ["@HD", "@r", "*"])
@pytest.mark.parametrize("output", ["m.sam", "m.bam"])
def test_names_that_mean_something_else_in_sam_are_told(files, command, name, output):
    (files / "reads.fa").write_text(fasta([name, "*b", "a@", "="]))
    result = command("map", "ref.fa", "reads.fa", "-o", output)
    assert (result.code, (files / output).exists()) == (1, False)
    assert f"the read '{name}' has a name that SAM takes for a line of its header, or for none." in result.err
    (files / "reads.fa").write_text(fasta(["*b", "a@", "="]))
    done(command("map", "ref.fa", "reads.fa", "-o", output))
    with pysam.AlignmentFile(str(files / output)) as records:
        assert {record.query_name for record in records} == {"*b", "a@", "="}


def test_files_may_have_names_that_are_not_utf8(files, command):
    for ending in ("fa", "ref.fa"):
        os.rename(files / ("reads.fa" if ending == "fa" else "ref.fa"), files / f"{NOT_UTF8}.{ending}")
    reads, reference, paf = (f"{NOT_UTF8}.{ending}" for ending in ("fa", "ref.fa", "paf"))
    done(command("overlap", reads, "-o", paf, "--stats", "s.json"))
    done(command("convert", paf, f"{NOT_UTF8}.parquet"))
    done(command("convert", f"{NOT_UTF8}.parquet", f"{NOT_UTF8}.paf.gz"))
    done(command("report", reads, paf, "s.json", "--title", NOT_UTF8, "-o", "r.html"))
    assert "Made from caf\\udce9.fa" in (files / "r.html").read_text()
    for ending in ("sam", "bam"):
        done(command("map", reference, reads, "-o", f"{NOT_UTF8}.{ending}"))
    done(command("index", reference, "-o", f"{NOT_UTF8}.index"))
    done(command("seeds", f"{NOT_UTF8}.index", reads, "-o", "s.tsv"))
    result = command("overlap", f"{NOT_UTF8}.none")
    assert result.code == 1
    assert result.err.endswith(".none: there is no such file. Check the path.\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (">other\nACGT\n", "'genome' is not in wrong.fa"),
        (f">genome\n{GENOME[:-1]}\n", "'genome' has 2000 bases, but 1999 in wrong.fa"),
        (f">genome\n{GENOME[:-1]}N\n", "'genome' has other bases in wrong.fa"),
    ],
)
def test_the_wrong_reference_of_a_cram_file_is_told(files, command, monkeypatch, text, problem):
    monkeypatch.setenv("REF_PATH", "none")
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "genome", "LN": len(GENOME)}]}
    with pysam.AlignmentFile(
        str(files / "reads.cram"), "wc", header=header, reference_filename=str(files / "ref.fa")
    ) as file:
        for i in range(20):
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.query_sequence = f"r{i}", GENOME[1000:]
            record.reference_id, record.reference_start, record.cigarstring = 0, 1000, "1000M"
            file.write(record)
    (files / "ref.fa").rename(files / "moved.fa")
    done(command("overlap", "reads.cram", "--cram-reference", "moved.fa", "-o", "o.paf"))
    (files / "wrong.fa").write_text(text)
    result = command("overlap", "reads.cram", "--cram-reference", "wrong.fa", "-o", "wrong.paf")
    assert result.code == 1
    assert f"file reads.cram: was written against another reference: {problem}" in result.err
    assert not (files / "wrong.paf").exists()


def test_a_graph_without_segments_is_reported_and_not_drawn(files, command):
    done(command("overlap", "reads.fa", "-o", "o.paf"))
    done(command("layout", "reads.fa", "o.paf", "-o", "l.gfa"))
    assert not [line for line in (files / "l.gfa").read_text().splitlines() if line.startswith("S")]
    done(command("report", "l.gfa", "-o", "r.html"))
    done(command("graph", "stats", "l.gfa"))
    result = command("graph", "plot", "l.gfa", "-o", "p.svg")
    assert (result.code, "has no segments, so there is nothing to draw" in result.err) == (1, True)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "a = [" * 5000,
        "[spgemm]\nbin_size = 1e20\n",
        f"[spgemm]\nbin_size = {10**20}\n",
        f"[chain]\nmin_score = {'9' * 5000}\n",
    ],
    ids=range(5),
)
def test_parameters_that_are_none_are_told(files, command, text):
    (files / "p.toml").write_text(text)
    result = command("overlap", "reads.fa", "--config", "p.toml", "-o", "o.paf")
    assert (result.code, result.err.count("\n")) == (1, 1), result.err
    assert result.err.startswith("overlapper: error: file p.toml: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_standard_error_changes_nothing(files):
    with open("/dev/full", "wb") as full:
        assert overlapper("overlap", "reads.fa", "-o", "o.paf", cwd=files, stderr=full).returncode == 0
        assert overlapper("overlap", "nothere", cwd=files, stderr=full).returncode == 1
        assert overlapper("overlap", cwd=files, stderr=full).returncode == 2
    assert (files / "o.paf").read_bytes()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["overlap", "reads.fa"], ["graph", "stats", "o.gfa"]], ids=" ".join)
def test_standard_output_that_takes_a_part_alone_is_an_error(files, words, unbuffered):
    for words_before in (
        ["overlap", "reads.fa", "-o", "o.paf"],
        ["layout", "reads.fa", "o.paf", "-o", "o.gfa"],
    ):
        overlapper(*words_before, cwd=files, check=True)
    limits = (40, 40)

    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    with open(files / "part", "wb") as part:
        result = overlapper(
            *words, cwd=files, stdout=part, preexec_fn=lower, text=True, env={"PYTHONUNBUFFERED": unbuffered}
        )
    assert (result.returncode, os.path.getsize(files / "part")) == (1, 40)
    assert "File too large" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("options", [[], ["--sort", "--index"]], ids=" ".join)
def test_bam_that_finds_no_room_is_told(files, options):
    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    words = ["map", "ref.fa", "reads.fa", "-o", "m.bam", "-q", *options]
    before = sorted(os.listdir(files))
    result = overlapper(*words, cwd=files, text=True, preexec_fn=lower)
    assert result.returncode == 1
    assert result.stderr.startswith(
        "overlapper: error: file m.bam cannot be written to its end. Check the free"
    )
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir(files)) == before


def test_numba_that_may_not_compile_is_told(files):
    result = overlapper("overlap", "reads.fa", cwd=files, text=True, env={"NUMBA_DISABLE_JIT": "1"})
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(
        "overlapper: error: NUMBA_DISABLE_JIT is set: kernels would not be compiled"
    )


@pytest.mark.parametrize("setting", ["NUMBA_NUM_THREADS=0", "NUMBA_NUM_THREADS=many", "NUMBA_OPT=9"])
def test_settings_that_numba_cannot_use_are_told(files, setting):
    result = overlapper("overlap", "reads.fa", cwd=files, text=True, env=dict([setting.split("=")]))
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("overlapper: error: numba cannot be used with ")
    assert setting in result.stderr


@pytest.mark.parametrize("megabytes", [100, 300, 500, 1000])
def test_too_little_address_space_is_told(files, megabytes):
    limit = megabytes << 20

    def lower():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    result = overlapper("convert", "o.paf", "o.parquet", cwd=files, text=True, preexec_fn=lower)
    assert result.returncode == 1
    assert result.stderr.startswith("overlapper: error: ulimit -v allows")
    assert result.stderr.count("\n") == 1
