"""Imports point one way (docs/design.md, "The house")."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest first; a module imports from its own layer or from lower ones.
LAYERS = [
    ["overlapper.version", "overlapper.errors", "overlapper.registry", "overlapper.params.stages",
     "overlapper.params.shortcuts",
     "overlapper.params.scoring", "overlapper.runtime.clock", "overlapper.runtime.memory", "overlapper.runtime.code_digest",
     "overlapper.runtime.leaving", "overlapper.tables"],
    ["overlapper.kernels"],
    ["overlapper.io", "overlapper.sketch", "overlapper.index", "overlapper.drawing", "overlapper.runtime.gpu.devices",
     "overlapper.gpu.gpus"],
    ["overlapper.candidates", "overlapper.extend"],
    ["overlapper.overlap.pipeline", "overlapper.overlap.summary", "overlapper.extend.batches", "overlapper.tiled.plan", "overlapper.tiled.costs",
     "overlapper.tiled.workdir", "overlapper.tiled.tiles",
     "overlapper.tiled.tile_work", "overlapper.tiled.distributed", "overlapper.evaluation.overlaps", "overlapper.evaluation",
     "overlapper.compare",
     "overlapper.mapping", "overlapper.simulate", "overlapper.overlap.presets", "overlapper.runtime.threads"],
    ["overlapper"],
    ["graph"],
    ["overlapper.report", "overlapper.plots", "overlapper.cli", "overlapper.console", "overlapper.__main__"],
]  # fmt: skip
FREE_FOR_ALL = {"overlapper.runtime.gpu.devices", "overlapper.runtime.threads", "overlapper.version"}


def modules():
    for package in ("overlapper", "graph"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def layer_of(module):
    fits = [
        (len(prefix), number)
        for number, prefixes in enumerate(LAYERS)
        for prefix in prefixes
        if module == prefix or (prefix != "overlapper" and module.startswith(prefix + "."))
    ]
    assert fits, f"{module} belongs to no layer: add it to LAYERS and to docs/design.md"
    return max(fits)[1]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the full name"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            known = dict(modules())
            yield from (name if name in known else node.module for name in full)


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda v: v if isinstance(v, str) else "")
def test_imports_point_one_way(module, path):
    for target in imports_of(path):
        if target.split(".")[0] not in ("overlapper", "graph") or target in FREE_FOR_ALL:
            continue
        assert layer_of(target) <= layer_of(module), f"{module} imports {target}, which lies above it"


def test_private_names_stay_in_their_module():
    imported = {
        (module, alias.name)
        for module, path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("overlapper", "graph")
        for alias in node.names
    }
    assert not {(module, name) for module, name in imported if name.startswith("_") and name[:2] != "__"}


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "oracle").glob("*.py")), ids=lambda p: p.stem)
def test_oracles_import_nothing_of_ours(path):
    assert not [n for n in imports_of(path) if n.split(".")[0] in ("overlapper", "graph")]


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=lambda v: v if isinstance(v, str) else "")
def test_modules_stay_short(module, path):
    assert len(path.read_text().splitlines()) <= 400, f"{module} is asking to be two"


def test_computing_on_gpus_loads_no_compiler():
    """numba-cuda takes long to load, and is there for what is not compiled yet (runtime/gpu/cubins.py)."""
    known = dict(modules())
    # What corrects reads defines kernels beside the code that starts them; nothing else needs it.
    known.pop("overlapper.kernels.consensus.cuda.layers")
    extenders = [f"overlapper.extend.{name}" for name in ("xdrop", "gact", "pairwise")]
    left, seen = ["overlapper.gpu.gpus", "overlapper.runtime.gpu.devices", *extenders], []
    while left:
        module = left.pop()
        if module in known and module not in seen:
            seen.append(module)
            left.extend(imports_of(known[module]))
    assert {"overlapper.kernels.gact.cuda.gact", "overlapper.kernels.pairwise.cuda.pairwise"} < set(seen)
    for module in seen:
        for node in ast.parse(known[module].read_text()).body:
            names = (
                [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom | ast.Import) else []
            )
            assert "cuda" not in names and "numba.cuda" not in names, f"{module} loads numba-cuda"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "overlapper" / "kernels").rglob("*.py")), ids=lambda p: p.stem
)
def test_kernels_are_kept_in_our_own_cache(path):
    """That of numba loads what is damaged, and what others wrote (runtime/compile/cache.py)."""
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    of_numba = {alias.name for node in imports if node.module == "numba" for alias in node.names}
    assert not of_numba & {"njit", "jit", "vectorize", "guvectorize"}, (
        "take njit from overlapper.runtime.compile.cache"
    )
