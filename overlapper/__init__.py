"""Find how long DNA reads overlap."""

from overlapper.version import __version__

__all__ = ["__version__"]
