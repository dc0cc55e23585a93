"""Settings of all tests."""

import os

from hypothesis import settings

import tests.tries  # noqa: F401 - has the profiles
from tests.installed_kernels import take_kernels

settings.load_profile("all" if os.environ.get("CI") else "few")


def pytest_configure(config):
    """Take the kernels of the installed copy, before there are several processes of pytest."""
    if not hasattr(config, "workerinput"):
        take_kernels()
