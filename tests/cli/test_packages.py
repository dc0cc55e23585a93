"""What is packed: the wheel and the source, the recipe for conda, the container file."""

import fnmatch
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import PurePath

import pytest
import yaml

from overlapper.cli import compile
from overlapper.errors import EXTRAS
from overlapper.version import __version__
from tests.cli.runner import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PACKAGING = ROOT / "examples" / "packaging"
WHEEL = {"overlapper", f"overlapper-{__version__}.data", f"overlapper-{__version__}.dist-info"}
SOURCE = {
    "LICENSE", "PKG-INFO", "README.md", "docs", "overlapper", "overlapper.egg-info",
    "pyproject.toml", "setup.cfg",
    "tests",  # setuptools takes tests/test_*.py of itself
}  # fmt: skip


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The wheel and the source, packed from a copy without anything that git would ignore."""
    folder = tmp_path_factory.mktemp("packed")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".*")
    for name in ("overlapper", "graph", "docs", "tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    words = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(folder)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    (wheel,), (source,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return wheel, source


@pytest.mark.slow
def test_both_hold_what_they_should_and_nothing_else(packed):
    wheel, source = packed
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == WHEEL
    kernels = {name for name in names if name.startswith("overlapper/kernels/compiled/")}
    assert len(kernels) > 100
    assert {PurePath(name).suffix for name in kernels} == {".nbc"}
    assert PurePath(wheel.name).stem.split("-")[2] == f"cp{sys.version_info[0]}{sys.version_info[1]}"
    code = {name for name in names if name.startswith("overlapper/")} - kernels
    above = {"overlapper": ROOT, "graph": ROOT / "overlapper"}  # where the link to graph/ is
    present = {
        folder / path.relative_to(ROOT) for part, folder in above.items() for path in (ROOT / part).rglob("*")
    }
    wanted = {path for path in present if path.suffix in (".py", ".toml") or path.name == "py.typed"}
    assert code == {str(path.relative_to(ROOT)) for path in wanted}
    data = {name.partition(".data/")[2] for name in names if ".data/" in name}
    assert data == {f"data/share/man/man1/{page.name}" for page in (ROOT / "docs" / "man").iterdir()}
    with tarfile.open(source) as file:
        parts = [name.split("/") for name in file.getnames()]
    assert {part[1] for part in parts if len(part) > 1} == SOURCE


@pytest.mark.slow
def test_twine_finds_nothing_amiss(packed):
    words = [sys.executable, "-m", "twine", "check", "--strict", *map(str, packed)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_wheel_alone_is_enough(packed, tmp_path):
    """Installed into an empty environment, with nothing of this copy on the path but what it depends on."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(packed[0])], check=True, cwd=tmp_path)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    # Its own site-packages come first, so that an overlapper that is installed here cannot stand in.
    (site / "dependencies.pth").write_text("\n".join(p for p in sys.path if p.endswith("-packages")) + "\n")
    script = (
        "import overlapper.graph, overlapper.cli; from overlapper.simulate import random_genome;"
        "print(overlapper.__file__, overlapper.graph.__file__, len(random_genome(100)))"
    )
    out = subprocess.check_output([str(python), "-c", script], text=True, cwd=tmp_path, env={})
    assert out.split()[:2] == [
        str(site / name / "__init__.py") for name in ("overlapper", "overlapper/graph")
    ]
    program = tmp_path / "env" / "bin" / "overlapper"
    for number, line in enumerate((*compile.READS, *compile.OTHERS[:3])):
        done = subprocess.run(
            [str(program), *line.split()], cwd=tmp_path, env={}, capture_output=True, text=True, check=True
        )
        assert "compiling kernels" not in done.stderr, f"run {number} takes no longer than a second one would"
    version = subprocess.check_output([str(program), "--version"], text=True, cwd=tmp_path, env={})
    assert version == f"overlapper {__version__}\n"
    assert (tmp_path / "env" / "share" / "man" / "man1" / "overlapper-overlap.1").exists()


def test_the_recipe_says_what_the_project_says():
    recipe = yaml.safe_load((PACKAGING / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == __version__
    assert recipe["about"]["summary"] == PROJECT["description"]
    needed = {re.sub(r"\s", "", text) for text in recipe["requirements"]["run"]}
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    scripts = recipe["build"]["python"]["entry_points"]
    assert scripts == [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    # What it imports once it is built is what the wheel installs.
    imports = recipe["tests"][0]["python"]["imports"]
    wanted = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert all(any(fnmatch.fnmatch(name, pattern) for pattern in wanted) for name in imports)


def test_the_container_file_copies_what_is_there():
    text = (PACKAGING / "Containerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (.+)$", text, re.MULTILINE) for word in line.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert f"overlapper:{__version__} " in text
    asked = re.search(r"\[(.+)\]", re.search(r"pip install .+", text)[0])[1].split(",")
    assert set(asked) <= PROJECT["optional-dependencies"].keys()
    python = re.search(r"^FROM python:(3\.\d+)", text, re.MULTILINE)[1]
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]


def test_what_a_missing_package_asks_pip_for_is_in_an_extra():
    names = ("gpu", "dask", "parquet", "frames", "zstd")
    extras = {name: PROJECT["optional-dependencies"][name] for name in names}
    asked = {requirement.partition(";")[0] for listed in extras.values() for requirement in listed}
    assert {*EXTRAS.values()} == asked
    assert all(requirement.startswith(package) for package, requirement in EXTRAS.items())
