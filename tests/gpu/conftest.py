"""Tests that need a GPU; without one they fail."""

import pytest


@pytest.fixture(scope="session")
def gpu():
    """The first CUDA device."""
    from overlapper.runtime.gpu.devices import select_devices

    return select_devices("cuda")[0]
