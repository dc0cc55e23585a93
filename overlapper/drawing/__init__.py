"""Pictures as SVG text: charts with axes, readable on light and on dark ground, without any other package."""

from overlapper.drawing.axis import Axis, short_number
from overlapper.drawing.plane import Plane, shortened
from overlapper.drawing.ring import ring
from overlapper.drawing.svg import THEME, Drawing, element, path_of, picture, standalone, written

__all__ = [
    "THEME", "Axis", "Drawing", "Plane", "element", "path_of", "picture", "ring", "short_number", "shortened",
    "standalone", "written",
]  # fmt: skip
