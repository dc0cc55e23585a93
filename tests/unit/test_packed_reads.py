"""Packed reads that a work folder keeps are those that a run asks for, qualities included."""

import os
import pickle

import pytest

from overlapper.errors import InputError
from overlapper.io.fastx import FastxParts
from overlapper.tiled.reads import store_reads
from overlapper.tiled.workdir import Workdir

BASES = "ACGTTGCATTAGGCTAACGT" * 5


def packed(folder, path, keep_qualities=True):
    """Pack reads as a run does."""
    parts = FastxParts(str(path), keep_qualities=keep_qualities)
    with Workdir(folder) as workdir:
        return store_reads(workdir, parts)


@pytest.fixture
def reads_file(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_text(f"@a\n{BASES}\n+\n{'9' * len(BASES)}\n@b\n{BASES}A\n+\n{'5' * len(BASES)}5\n")
    return path


def test_reads_packed_without_qualities_are_packed_again_with_them(tmp_path, reads_file):
    assert packed(tmp_path / "work", reads_file, keep_qualities=False).quality_offsets is None
    assert packed(tmp_path / "work", reads_file).quality_offsets is not None
    assert packed(tmp_path / "work", reads_file, keep_qualities=False).quality_offsets is None


def test_reads_of_other_qualities_are_refused(tmp_path, reads_file):
    packed(tmp_path / "work", reads_file)
    other = tmp_path / "other.fq"
    other.write_text(reads_file.read_text().replace("9", "!"))
    with pytest.raises(InputError, match="Give the same qualities"):
        packed(tmp_path / "work", other)
    packed(tmp_path / "work", other, keep_qualities=False)
    with pytest.raises(InputError, match="Give the same qualities"):
        packed(tmp_path / "work", other)


def test_the_same_qualities_from_another_file_go_on(tmp_path, reads_file):
    before = packed(tmp_path / "work", reads_file)
    copy = tmp_path / "copy.fq"
    copy.write_bytes(reads_file.read_bytes())
    os.utime(copy, (1, 1))
    assert packed(tmp_path / "work", copy).artifact.folder == before.artifact.folder


def test_another_process_opens_the_packed_reads_itself(reads_file, tmp_path):
    store = packed(tmp_path / "work", reads_file)
    sent = pickle.dumps(store)
    again = pickle.loads(sent)
    assert len(sent) < 1000
    assert again.order.tolist() == store.order.tolist()
    assert again.mapped().sequence(0) == store.mapped().sequence(0)
