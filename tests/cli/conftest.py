"""Run a command within this process, as ``overlapper`` would."""

import shutil

import pytest

from overlapper import random_genome, simulate_reads
from overlapper.simulate import adapted_model
from tests.cli import within
from tests.cli.runner import overlapper
from tests.read_sets import fasta_of

RUN_FILES = ("reads.fastq", "o.paf", "run.json", "layout.json", "u.gfa", "corrected.tsv")


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    """A folder with `RUN_FILES`: reads, overlaps, unitigs, what became of corrected reads, counts."""
    from overlapper.io.records import fastq_record
    from overlapper.simulate import generate_reads, random_genome

    folder = tmp_path_factory.mktemp("run")
    genome = random_genome(30_000, seed=2)
    with open(folder / "reads.fastq", "wb") as file:
        for read in generate_reads(genome, coverage=12, seed=2):
            file.write(fastq_record(read.name, read.codes, read.qualities))
    overlapper("overlap", "reads.fastq", "-o", "o.paf", "--stats", "run.json", cwd=folder, check=True)
    options = ("--stats", "layout.json", "--min-overlap", "500")
    overlapper("layout", "reads.fastq", "o.paf", "-o", "u.gfa", *options, cwd=folder, check=True)
    overlapper("correct", "reads.fastq", "-o", "c.fq", "--table", "corrected.tsv", cwd=folder, check=True)
    return folder


@pytest.fixture
def reads_file(folder, tmp_path):
    """The reads of a module's folder, in a folder of the test's own."""
    shutil.copy2(folder / "reads.fa", tmp_path)
    return tmp_path / "reads.fa"


def simulated_file(path, size, mean_length, seed):
    """Write reads of a random genome, eightfold, as FASTA."""
    model = adapted_model("ont", mean_length=mean_length)
    reads, _ = simulate_reads(random_genome(size, seed=seed), model, coverage=8, seed=seed)
    path.write_text(fasta_of(reads))


class Result:
    """What a run of a command left behind."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def command(tmp_path, monkeypatch, capfdbinary):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", [])  # what it was comes back
        capfdbinary.readouterr()
        code = within.main(map(str, arguments))
        out, err = capfdbinary.readouterr()
        return Result(code, out, err.decode())

    return run


def assert_refused(result, code, message, folder, before):
    """Check that a run ended with an error that was told, in lines of any length, and left no file."""
    assert result.code == code
    assert message in (" ".join(result.err.split()) if code == 2 else result.err)
    assert "Traceback" not in result.err
    assert result.out == b""
    assert sorted(path.name for path in folder.iterdir()) == before
    if code == 1:
        assert result.err.splitlines()[-1].startswith("overlapper: error: ")
