"""The build backend: setuptools', with compiled kernels put into the wheel.

``pip install .`` and ``python -m build`` call it (PEP 517; ``pyproject.toml`` names it). A wheel holds the
kernels of its Python and numba, for nearly all processors of a kind (`runtime.compile.processor`), so that no
run has to compile. They are what `overlapper.cli.compile` makes by running every command. Kernels that an
earlier build or run left in the cache of the user are taken from there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
    "get_requires_for_build_sdist", "get_requires_for_build_wheel", "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]  # fmt: skip


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what a wheel is built with: all that commands need, as they are run."""
    needed = tomllib.loads(Path("pyproject.toml").read_text())["project"]["dependencies"]
    return [*build_meta.get_requires_for_build_wheel(config_settings), "wheel>=0.43", *needed]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel with compiled kernels; without them on a machine that could not run them."""
    from overlapper.runtime.compile.processor import common_processor

    if not common_processor():
        return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))
    with tempfile.TemporaryDirectory() as temporary:
        name = build_meta.build_wheel(temporary, config_settings, metadata_directory)
        Path(temporary, "packed").mkdir()
        _wheel("unpack", f"{temporary}/{name}", "-d", f"{temporary}/unpacked")
        (root,) = Path(temporary, "unpacked").iterdir()
        _compile_into(root, Path(temporary))
        _mark_as_of_this_python(next(root.glob("*.dist-info")) / "WHEEL")
        _wheel("pack", str(root), "-d", f"{temporary}/packed")
        (packed,) = Path(temporary, "packed").iterdir()
        shutil.move(packed, Path(wheel_directory, packed.name))
        return packed.name


def _compile_into(root: Path, temporary: Path) -> None:
    """Have the commands of an unpacked wheel compile, and put what they keep into it, and into the cache."""
    from overlapper.cli.compile import run_all

    work, kept = temporary / "work", temporary / "kept"
    work.mkdir()
    kept.mkdir(mode=0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": os.pathsep.join([str(root), *sys.path]), "NUMBA_CACHE_DIR": str(kept)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    run_all(str(work), 2, environment)
    (folder,) = kept.iterdir()
    shutil.copytree(folder, root / "overlapper" / "kernels" / "compiled")
    _keep_for_later(folder)


def _keep_for_later(folder: Path) -> None:
    """Copy kernels into the user's cache, where the next build finds them, if it can be written."""
    from overlapper.runtime.compile import places

    cache = places.of_kernels().write
    if cache is not None:
        for path in folder.glob("*.nbc"):
            shutil.copy(path, cache)


def _mark_as_of_this_python(metadata: Path) -> None:
    """Say in the metadata of a wheel for which Python and platform it is."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    text = metadata.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    metadata.write_text(text.replace("Tag: py3-none-any", f"Tag: {python}-{python}-{platform}"))


def _wheel(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *words], check=True, stdout=subprocess.DEVNULL)
