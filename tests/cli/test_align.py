"""The command align, as a user runs it."""

from tests.cli.runner import overlapper


def files(tmp_path):
    (tmp_path / "a.fa").write_text(">q1\nGGACGTTGCA\n>q2\nTGCAACGTAA\n")
    (tmp_path / "b.fa").write_text(">t1\nTTACGTTGCATT\n")
    return tmp_path


def test_scores_and_intervals_of_every_query_with_one_target(tmp_path):
    result = overlapper(
        "align", "a.fa", "b.fa", "--pairing", "one-to-all", "--mode", "local", cwd=files(tmp_path), check=True
    )
    rows = [line.split("\t") for line in result.stdout.decode().splitlines()]
    assert [row[0] for row in rows] == ["q1", "q2"]
    assert " ".join(rows[0][1:]) == "10 2 10 + t1 12 2 10 8 8 255 tp:A:P AS:i:8 NM:i:0"


def test_a_list_of_pairs(tmp_path):
    (files(tmp_path) / "list.tsv").write_text("q2\tt1\t-\n")
    result = overlapper(
        "align", "a.fa", "b.fa", "--pairs", "list.tsv", "--mode", "semi-global", "--cigar", "-o", "out.paf",
        cwd=tmp_path,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (0, b"")
    fields = (tmp_path / "out.paf").read_text().split()
    assert (fields[4], fields[7:9], fields[-1]) == ("-", ["0", "10"], "cg:Z:10=")
