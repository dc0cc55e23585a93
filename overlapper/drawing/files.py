"""Pictures as files: SVG, or PNG made from it by resvg."""

from __future__ import annotations

from overlapper.errors import MissingExtraError
from overlapper.io.outputs import OutputFile, check_ending

FORMATS = (".svg", ".png")
_PIXELS_A_UNIT = 2


def write_picture(svg: str, path: str) -> None:
    """Write a picture.

    Parameters
    ----------
    path : str
        Ends in one of `FORMATS`; PNG is drawn on light ground, at twice the size.
    """
    check_ending(path, FORMATS)
    data = svg.encode() if path.endswith(".svg") else _png(svg)
    with OutputFile(path) as file:
        file.write(data)


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise MissingExtraError("resvg-py", "A picture as PNG (SVG needs nothing)") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_PIXELS_A_UNIT))
