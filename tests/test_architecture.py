"""Imports point one way (docs/design.md, "Code layout")."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest layer first; a module imports from its own package and from lower ones.
PACKAGES = [
    "version", "errors", "registry", "runtime", "tables", "params",
    "kernels.common", "kernels.text", "kernels.seeds", "kernels.candidates", "kernels.chain",
    "kernels.selection", "kernels.xdrop", "kernels.pairwise", "kernels.gact", "kernels.index",
    "kernels.mapping", "kernels.consensus", "kernels.graph", "kernels.evaluation",
    "io", "gpu", "drawing", "sketch", "index", "simulate",
    "candidates", "extend", "tiled", "overlap", "mapping", "evaluation",
    "graph", "correction", "assembly", "library",
    "plots", "report", "cli", "console", "wheel", "__main__",
]  # fmt: skip


def named(path, *above):
    """Return the name of the module in a file."""
    return ".".join((*above, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {named(path): path for path in sorted((ROOT / "overlapper").rglob("*.py"))} | {
    named(path, "overlapper"): path for path in sorted((ROOT / "graph").rglob("*.py"))
}


def layer_of(module):
    parts = module.split(".")[1:]
    package = ".".join(parts[:2]) if parts[0] == "kernels" else parts[0]
    assert package in PACKAGES, f"{module} is in no package: add it to PACKAGES and to docs/design.md"
    return PACKAGES.index(package)


@functools.cache
def import_statements(path):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Import | ast.ImportFrom)]


@functools.cache
def imports_of(path):
    return list(_imports(path))


def _imports(path):
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path}: relative import; write the full name"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in full)


@pytest.mark.parametrize(("module", "path"), MODULES.items(), ids=lambda v: v if isinstance(v, str) else "")
def test_imports_point_one_way(module, path):
    if module in ("overlapper", "overlapper.kernels"):  # the packages themselves import nothing above errors
        return
    for target in imports_of(path):
        if target.startswith("overlapper."):
            assert layer_of(target) <= layer_of(module), f"{module} imports {target}, which lies above it"


def test_private_names_stay_in_their_module():
    imported = {
        (module, alias.name)
        for module, path in MODULES.items()
        for node in import_statements(path)
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "overlapper"
        for alias in node.names
    }
    assert not {(module, name) for module, name in imported if name.startswith("_") and name[:2] != "__"}


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "oracle").glob("*.py")), ids=lambda p: p.stem)
def test_oracles_import_nothing_of_ours(path):
    assert not [n for n in imports_of(path) if n.split(".")[0] == "overlapper"]


@pytest.mark.parametrize(("module", "path"), MODULES.items(), ids=lambda v: v if isinstance(v, str) else "")
def test_modules_stay_short(module, path):
    assert len(path.read_text().splitlines()) <= 400, f"{module} is asking to be two"


def test_computing_on_gpus_loads_no_compiler():
    """numba-cuda takes long to load, and is there for what is not compiled yet (runtime/gpu/cubins.py)."""
    extenders = [f"overlapper.extend.{name}" for name in ("xdrop", "gact", "pairwise")]
    left, seen = ["overlapper.gpu.gpus", "overlapper.runtime.gpu.devices", *extenders], []
    while left:
        module = left.pop()
        if module in MODULES and module not in seen:
            seen.append(module)
            left.extend(imports_of(MODULES[module]))
    assert {"overlapper.kernels.gact.cuda.gact", "overlapper.kernels.pairwise.cuda.pairwise"} < set(seen)
    for module in seen:
        for node in ast.parse(MODULES[module].read_text()).body:
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom | ast.Import) else []
            )
            assert "cuda" not in names and "numba.cuda" not in names, f"{module} loads numba-cuda"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "overlapper" / "kernels").rglob("*.py")), ids=lambda p: p.stem
)
def test_kernels_are_kept_in_our_own_cache(path):
    """That of numba loads what is damaged, and what others wrote (runtime/compile/cache.py)."""
    imports = [node for node in import_statements(path) if isinstance(node, ast.ImportFrom)]
    of_numba = {alias.name for node in imports if node.module == "numba" for alias in node.names}
    assert not of_numba & {"njit", "jit", "vectorize", "guvectorize"}, (
        "take njit from overlapper.runtime.compile.cache"
    )


ON_GPUS = [p for p in sorted((ROOT / "overlapper/kernels").glob("*/cuda/*.py")) if p.stem != "__init__"]


@pytest.mark.parametrize("path", ON_GPUS, ids=lambda p: p.stem)
def test_twins_have_one_name(path):
    says = ast.get_docstring(ast.parse(path.read_text())).partition("\n")[0]
    has_twin = (path.parents[1] / path.name).exists()
    assert re.findall(r"twin of \S+\.py", says) == [f"twin of ../{path.name}"] * has_twin


ON_CPUS = [
    path
    for path in sorted((ROOT / "overlapper/kernels").glob("*/*.py"))
    if path.stem != "__init__" and (path.parent / "cuda").is_dir()
]


@pytest.mark.parametrize("path", ON_CPUS, ids=lambda p: p.stem)
def test_kernels_for_cpus_name_their_twin(path):
    says = ast.get_docstring(ast.parse(path.read_text())).split("\n\n")[1]
    if (path.parent / "cuda" / path.name).exists():
        assert says == f"GPU twin: cuda/{path.name}."
    else:
        assert re.match(r"CPU only[.:]|CPU and GPU: |GPU twin: |A part of ", says)
        for name in re.findall(r"[\w./]*cuda/\w+\.py", says):
            assert (path.parent / name).exists(), f"{path} names {name}, which is not there"


def test_the_design_says_whose_parts_other_modules_for_gpus_are():
    design = (ROOT / "docs/design.md").read_text()
    for path in ON_GPUS:
        family = path.parents[1]
        known = {
            twin.stem for twin in ON_GPUS if twin.parent == path.parent and (family / twin.name).exists()
        }
        known |= set(re.findall(rf"`{family.name}/cuda/(\w+)\.py`", design))
        is_part = any(path.stem.startswith(name.removesuffix("s")) for name in known)
        assert is_part or family.name == "common", f"docs/design.md does not say what {path} is a part of"


def test_the_calls_that_the_design_follows_exist():
    followed = (ROOT / "docs/design.md").read_text().partition("Two reads followed")[2].partition("```")[0]
    names = re.findall(r"`([\w./]+)`", followed)
    assert len(names) > 60
    package = ROOT / "overlapper"
    defined = "".join(path.read_text() for top in (package, ROOT / "graph") for path in top.rglob("*.py"))
    for name in names:
        if name.endswith(".py"):
            found = any(package.rglob(name))
        else:
            found = re.search(rf"(?:def|class) {name.rpartition('.')[2]}\b", defined)
        assert found, f"docs/design.md follows reads through {name}, which is not there"
