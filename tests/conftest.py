"""Settings of all tests."""

from hypothesis import settings

import tests.tries  # noqa: F401 - has the profiles

settings.load_profile("few")
