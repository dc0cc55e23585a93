"""Parameters under the names that options of the command line and keyword arguments have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from overlapper.errors import ParameterError
from overlapper.params.stages import Params

SECTIONS = {
    "finder": "",
    "extender": "",
    "kmer_length": "sketch",
    "window": "sketch",
    "min_overlap": "classes",
    "keep_internal": "classes",
    "best": "classes",
    "best_of_pair": "classes",
}
"""Section of `Params` of each name; none for what stands above the sections."""
_OF_FILES = ("min_length", "min_quality")
"""What the command line has besides, and reads must be read with."""


def nested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options, by the names above, as `Params.changed` takes them, without those that are None."""
    changes: dict[str, Any] = {}
    for name, value in options.items():
        if value is not None:
            section = SECTIONS[name]
            (changes.setdefault(section, {}) if section else changes)[name] = value
    return changes


def merged(base: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two nested mappings as one; where both have a value, that of ``above``."""
    both = dict(base)
    for name, value in above.items():
        within = isinstance(value, Mapping) and isinstance(base.get(name), Mapping)
        both[name] = merged(base[name], value) if within else value
    return both


def refuse(unknown: Mapping[str, Any]) -> None:
    """Raise a `ParameterError` for keyword arguments that nothing has, which says where they belong."""
    for name, value in unknown.items():
        if name in _OF_FILES:
            raise ParameterError(
                f"{name} says which reads of files count: give find_overlaps what read_fastx(..., "
                f"{name}={value!r}) returns, so that overlaps number these reads"
            )
        sections = [
            section
            for section, default in vars(Params()).items()
            if dataclasses.is_dataclass(default) and name in vars(default)
        ]
        if sections:
            ways = " or ".join(f"changes={{{section!r}: {{{name!r}: {value!r}}}}}" for section in sections)
            within = ", ".join(f"[{section}]" for section in sections)
            raise ParameterError(f"{name} is a parameter of the section {within}: give {ways}")
        raise ParameterError(
            f"there is no parameter {name}, expected one of preset, {', '.join(SECTIONS)}, changes, threads, "
            "device, gpu_memory"
        )
