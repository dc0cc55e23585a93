"""Settings of all tests."""

import os

from hypothesis import settings

import tests.tries  # noqa: F401 - has the profiles

settings.load_profile("all" if os.environ.get("CI") else "few")
