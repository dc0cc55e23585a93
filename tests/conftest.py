"""Settings of all tests."""

import os

from hypothesis import settings

import tests.tries  # noqa: F401 - has the profiles
from overlapper.runtime.compile import notice

settings.load_profile("all" if os.environ.get("CI") else "few")
notice._FirstCompile.said = True  # commands are run in this process, too, and say it by themselves
