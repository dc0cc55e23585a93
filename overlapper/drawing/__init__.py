"""Pictures as SVG text: charts with axes, readable on light and on dark ground, without any other package."""

from overlapper.drawing.axis import Axis, short_number
from overlapper.drawing.plane import Plane
from overlapper.drawing.svg import THEME, element, standalone, written

__all__ = ["THEME", "Axis", "Plane", "element", "short_number", "standalone", "written"]
