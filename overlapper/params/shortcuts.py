"""Parameters under the names that options of the command line and keyword arguments have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from overlapper.errors import ParameterError
from overlapper.params.text import changed

Of = TypeVar("Of")
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
        section = SECTIONS[name]
        (changes.setdefault(section, {}) if section else changes)[name] = value
    return without_none(changes)


def of_assembly(
    *,
    correct_rounds: int | None = None,
    polish_rounds: int | None = None,
    min_overlap: int | None = None,
    telomere: str | None = None,
    haplotypes: str | None = None,
    phases: bool = False,
    **plain: Any,
) -> dict[str, Any]:
    """Return options of an assembly as changes of `AssembleParams`; others have the names that these have.

    Reads that phase, of parents or Hi-C, tell haplotypes apart unless something else is asked for.
    """
    no_more = None if correct_rounds is None else 0
    return without_none(
        {
            **plain,
            "haplotypes": haplotypes or ("phase" if phases else None),
            "telomere": telomere and telomere.upper(),
            "correction": {"rounds": correct_rounds, "further_rounds": no_more},
            "accurate_polish_rounds": polish_rounds,
            "polishing": {"rounds": polish_rounds},
            "graph": {"min_overlap": min_overlap},
        }
    )


def without_none(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested options without those that are None, and without sections that have no others."""
    kept = {
        name: without_none(value) if isinstance(value, Mapping) else value for name, value in options.items()
    }
    return {name: value for name, value in kept.items() if value not in (None, {})}


def merged(base: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two nested mappings as one; where both have a value, that of ``above``."""
    both = dict(base)
    for name, value in above.items():
        within = isinstance(value, Mapping) and isinstance(base.get(name), Mapping)
        both[name] = merged(base[name], value) if within else value
    return both


def changed_by(
    base: Of,
    shortcuts: Mapping[str, Any],
    changes: Mapping[str, Any] | None,
    unknown: Mapping[str, Any],
    names: Iterable[str],
) -> Of:
    """Return parameters with changes, and above these the shortcuts, without those that are None.

    Parameters
    ----------
    shortcuts : mapping
        Nested as in the dataclass.
    unknown, names
        See `refuse`.
    """
    refuse(unknown, base, names)
    where = "changes" if changes else "keywords"
    return changed(base, merged(changes or {}, without_none(shortcuts)), where=where)


def refuse(unknown: Mapping[str, Any], params: Any, names: Iterable[str]) -> None:
    """Raise a `ParameterError` for keyword arguments that nothing has, which says where they belong.

    Parameters
    ----------
    params : dataclass
        What ``changes`` changes.
    names : iterable of str
        Keywords that there are.
    """
    for name, value in unknown.items():
        if name in _OF_FILES:
            raise ParameterError(
                f"{name} says which reads of files count: give the function what read_fastx(..., "
                f"{name}={value!r}) returns, so that results number these reads"
            )
        if name in vars(params) and not dataclasses.is_dataclass(vars(params)[name]):
            raise ParameterError(f"{name} is no keyword: give changes={{{name!r}: {value!r}}}")
        sections = [
            section
            for section, default in vars(params).items()
            if dataclasses.is_dataclass(default) and name in vars(default)
        ]
        if sections:
            ways = " or ".join(f"changes={{{section!r}: {{{name!r}: {value!r}}}}}" for section in sections)
            within = ", ".join(f"[{section}]" for section in sections)
            raise ParameterError(f"{name} is a parameter of the section {within}: give {ways}")
        raise ParameterError(
            f"there is no parameter {name}, expected one of preset, {', '.join(names)}, changes, threads, "
            "device, gpu_memory"
        )
