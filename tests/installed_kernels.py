"""Kernels that the installed copy of overlapper has compiled, for the copy that is tested.

README installs overlapper and runs it before it runs the tests, which import the sources beside them. Where
both are the same, what the first has compiled need not be compiled again.
"""

import filecmp
import shutil
import sysconfig
from pathlib import Path

TESTED = Path(__file__).parents[1] / "overlapper"
INSTALLED = Path(sysconfig.get_path("purelib"), "overlapper")


def take_kernels(installed=INSTALLED, tested=TESTED):
    """Copy them to where they would be written, unless something is there or any source is another one."""
    sources = [path.relative_to(tested) for path in tested.rglob("*.py")]
    if not installed.is_dir() or not all(_is_same(installed / path, tested / path) for path in sources):
        return
    for kept in installed.rglob("__pycache__/*.nbc"):
        place = tested / kept.relative_to(installed)
        if not place.exists():
            place.parent.mkdir(mode=0o755, exist_ok=True)
            shutil.copyfile(kept, place)


def _is_same(one, other):
    return one.is_file() and filecmp.cmp(one, other, shallow=False)
