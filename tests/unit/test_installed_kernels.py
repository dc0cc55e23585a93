"""Kernels of an installed copy are taken where they are those of the copy that is tested."""

import pytest

from tests.installed_kernels import take_kernels


@pytest.fixture
def copies(tmp_path):
    """Two folders with the same sources; the first has compiled two kernels, the second one of them."""
    installed, tested = tmp_path / "installed", tmp_path / "tested"
    for folder in (installed, tested):
        (folder / "kernels").mkdir(parents=True)
        (folder / "kernels" / "a.py").write_text("A = 1\n")
    for folder, names in ((installed, ("one", "two")), (tested, ("two",))):
        (folder / "kernels" / "__pycache__").mkdir()
        for name in names:
            (folder / "kernels" / "__pycache__" / f"{name}.nbc").write_text(f"{name} {folder.name}")
    return installed, tested


def test_what_is_not_there_is_taken(copies):
    take_kernels(*copies)
    found = {path.name: path.read_text() for path in copies[1].rglob("*.nbc")}
    assert found == {"one.nbc": "one installed", "two.nbc": "two tested"}


@pytest.mark.parametrize("text", [None, "A = 2\n"])
def test_nothing_is_taken_of_other_sources(copies, text):
    other = copies[0] / "kernels" / "a.py"
    other.unlink() if text is None else other.write_text(text)
    take_kernels(*copies)
    assert [path.name for path in copies[1].rglob("*.nbc")] == ["two.nbc"]


def test_there_need_be_no_installed_copy(copies, tmp_path):
    take_kernels(tmp_path / "nowhere", copies[1])
    assert len(list(copies[1].rglob("*.nbc"))) == 1
