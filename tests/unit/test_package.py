"""The public names of the package."""

import types

import pytest

import overlapper
from tests.cli.runner import python


@pytest.mark.parametrize("name", overlapper.__all__)
def test_every_public_name_stays_what_it_is(name):
    first = getattr(overlapper, name)
    assert getattr(overlapper, name) is first, "a submodule of that name hides it once it is loaded"
    assert not isinstance(first, types.ModuleType)
    assert name in dir(overlapper)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        overlapper.nonsense  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    script = "import overlapper, sys; print([m for m in ('numba', 'numpy', 'pysam') if m in sys.modules])"
    assert python("-c", script, text=True).stdout == "[]\n"
