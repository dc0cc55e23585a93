"""The examples in docstrings run."""

import doctest
import importlib

import pytest

from tests.test_architecture import MODULES

WITH_EXAMPLES = [module for module, path in MODULES.items() if ">>> " in path.read_text()]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0
