"""On how many examples properties are tried: on a quarter of what a test names, on all of them in CI."""

from hypothesis import settings

LEAST = 5
for _profile, _percent in {"few": 25, "all": 100}.items():
    settings.register_profile(_profile, max_examples=_percent, deadline=None)


def tries(number):
    """Return how many examples to try in place of a number, by the profile (``--hypothesis-profile``)."""
    return max(min(number, LEAST), number * settings.default.max_examples // 100)
