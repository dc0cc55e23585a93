"""Parameters from ``--config`` and from options."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar

from overlapper.errors import FormatError, InputError

Of = TypeVar("Of")


def configured(params: Of, config: str | None, options: Mapping[str, Any]) -> Of:
    """Return parameters, replaced by those of a file, and these by those of options.

    Parameters
    ----------
    params : dataclass
        Defaults.
    config : str or None
        A TOML file.
    options : mapping
        Values by name, those of a section in a mapping of their own; None for what is not given.
    """
    from overlapper.params.shortcuts import without_none
    from overlapper.params.text import changed

    params = changed(params, read_config(config), where=f"file {config}")
    return changed(params, without_none(options), where="options")


def read_config(path: str | None) -> dict[str, Any]:
    """Return what a TOML file holds, nothing of none."""
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", file=path, remedy="Check the path of --config."
        ) from None
    except RecursionError:
        raise FormatError(
            "is nested too deeply", file=path, remedy="Write one with --write-config and edit it."
        ) from None
    except ValueError as error:  # of TOML, of UTF-8, of numbers with too many digits
        raise FormatError(
            f"is not TOML: {error}", file=path, remedy="Write one with --write-config and edit it."
        ) from None
