"""Every wrong use in wrong_uses.tsv is answered as it says there, and leaves no file behind.

The table has the arguments of a command line that a newcomer may get wrong, the exit code and the message.
"""

import gzip
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from overlapper.io.truth import TruthRow, header
from tests.cli.conftest import assert_refused

TABLE = Path(__file__).with_name("wrong_uses.tsv")
ROWS = [tuple(line.split("\t")) for line in TABLE.read_text().splitlines()[1:]]
SEQUENCE = "ACGTTGCATTGACCAGATTACAGGCATCAGGATCCAATTGGCCATATCGCGTTAAGCTTACGGATC" * 4
LENGTH = len(SEQUENCE)
PAF = f"{{}}\t{LENGTH}\t0\t{LENGTH}\t+\tr2\t{LENGTH}\t0\t{LENGTH}\t{LENGTH}\t{LENGTH}\t255\n"
PLACED = TruthRow("a", "g", 5, 25, "+", 0, 20, 20, "normal", 1.0)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the table speaks of."""
    reads = "".join(f"@r{i}\n{SEQUENCE}\n+\n{'I' * LENGTH}\n" for i in (1, 2, 3))
    texts = {
        "reads.fq": reads, "empty.fq": "", "notes.txt": "see you at noon\n", "notes.json": '{"a": 1}',
        "o.paf": PAF.format("r1"), "other.paf": PAF.format("x1"), "short.paf": "r1\t5\n",
        "typo.toml": "[sketch]\nkmer = 15\n", "u.gfa": "H\tVN:Z:1.0\nS\tu1\tACGT\n", "truth.tsv": "a\tb\n",
        "type.toml": '[sketch]\nwindow = "5"\n', "blank.fa": ">x\n", "blank.gfa": "", "blank.paf": "",
        "quality.paf": PAF.format("r1") + PAF.format("r3").replace("255", "-1"),
        "length.paf": "a\tx\t0\t5\t+\tb\t9\t0\t5\t5\t5\t255\n",
        "stats.json": json.dumps({"version": "0", "seconds": {}, "params": {}, "funnel": {}, "chosen": ""}),
        "cut.json": "{", "list.json": "[1]", "other.tsv": "name\tlength\n",
        "changes.tsv": "name\tbases_in\tbases_out\tcoverage\tidentity\tleft_out\tfate\nread1\t50\n",
        "head.tsv": header() + "a\n", "placed.tsv": header() + PLACED.to_line(),
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "cut.fq.gz").write_bytes(gzip.compress(reads.encode())[:-9])
    (tmp_path / "reads.fq.xz").write_bytes(b"\xfd7zXZ\x00packed")
    (tmp_path / "folder").mkdir()
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


def test_the_table_has_at_least_fifty():
    assert len(ROWS) == len({words for words, _, _ in ROWS}) >= 50


@pytest.mark.parametrize(("words", "code", "message"), ROWS, ids=lambda value: value[:60])
def test_a_wrong_use_is_answered(command, files, tmp_path, words, code, message):
    before = sorted(path.name for path in tmp_path.iterdir())
    result = command(*shlex.split(words))
    assert_refused(result, int(code), message, tmp_path, before)
