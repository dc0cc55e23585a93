"""Every example runs, from any folder, without a warning."""

import pytest

from overlapper.runtime.compile.notice import SAID
from tests.cli.runner import ROOT, python


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    result = python("-W", "error", str(path), cwd=tmp_path, text=True)
    assert (result.returncode, result.stderr.replace(f"{SAID}\n", "")) == (0, "")
    assert result.stdout
