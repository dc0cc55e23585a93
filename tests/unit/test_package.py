"""The public names of the package."""

import ast
import sys
import types
from pathlib import Path

import pytest

import overlapper
from tests.cli.runner import ROOT, python


@pytest.mark.parametrize("name", overlapper.__all__)
def test_every_public_name_stays_what_it_is(name):
    first = getattr(overlapper, name)
    assert getattr(overlapper, name) is first, "a submodule of that name hides it once it is loaded"
    assert not isinstance(first, types.ModuleType)
    assert name in dir(overlapper)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        overlapper.nonsense  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    script = "import overlapper, sys; print([m for m in ('numba', 'numpy', 'pysam') if m in sys.modules])"
    assert python("-c", script, text=True).stdout == "[]\n"


@pytest.mark.slow
def test_the_first_call_says_once_that_it_compiles(tmp_path):
    (tmp_path / "reads.fa").write_text(">a\nACGT\n")
    script = "import overlapper; [overlapper.read_fastx('reads.fa') for _ in range(2)]"
    places = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [python("-c", script, text=True, env=places, cwd=tmp_path).stderr for _ in range(3)]
    assert said[0].count("overlapper compiles kernels for this machine") == 1
    assert said[2] == ""  # the second call compiles what Python called after other kernels had


def test_type_checkers_see_every_public_name():
    tree = ast.parse(Path(overlapper.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    homes = {name: sys.modules[overlapper.__name__]._HOMES[name] for name in overlapper.__all__[1:]}
    assert seen == homes


USE = """
import overlapper
reads, truth = overlapper.simulate_reads(overlapper.random_genome(9000), "hifi", coverage=5)
overlaps: overlapper.Overlaps = overlapper.find_overlaps(reads, min_overlap=500, threads=4)
longest: int = (overlaps[:10].q_end - overlaps[:10].q_start).max()
names: list[str] = [read.name for read in reads]
starts: list[int] = [hit.r_st for hit in overlapper.Mapper("ref.fa").map("ACGT")]
text: str = overlapper.align("ACGT", "ACGA").cigar_text(0)
recall: float = overlapper.evaluate_overlaps("truth.tsv", "overlaps.paf").total.recall
overlapper.write_overlaps(overlaps, reads, "overlaps.paf")
mappings: overlapper.Mappings = overlapper.map_reads("ref.fa", ["a.fq", "b.fq"], "hifi")
overlapper.find_overlaps("reads.fq", max_hang=5)
overlapper.align(5, "ACGT")
"""


@pytest.mark.slow
def test_types_are_complete_for_users(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    words = ("-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "kept", "use.py")
    said = python(*words, cwd=tmp_path, env={"MYPYPATH": str(ROOT)}, text=True).stdout
    wrong = [line.partition(":")[2].partition(":")[0] for line in said.splitlines() if "error:" in line]
    assert wrong == ["12", "13"], said
