"""On how many examples properties are tried: on few by default, on all that a test names in releases."""

from hypothesis import settings

LEAST = 5
for _name, _percent in {"few": 25, "all": 100}.items():
    settings.register_profile(_name, max_examples=_percent, deadline=None)


def tries(number):
    """Return how many examples to try in place of a number, by the profile (``--hypothesis-profile``)."""
    return max(min(number, LEAST), number * settings.default.max_examples // 100)
