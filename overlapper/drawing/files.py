"""Pictures as files: SVG, or PNG made from it by resvg."""

from __future__ import annotations

from overlapper.errors import MissingExtraError, ParameterError
from overlapper.io.outputs import OutputFile

FORMATS = (".svg", ".png")
_PIXELS_A_UNIT = 2


def check_format(path: str) -> None:
    """Raise a `ParameterError` if the name of a picture tells no format."""
    if not path.endswith(FORMATS):
        raise ParameterError(f"the name {path} does not end in one of {', '.join(FORMATS)}")


def write_picture(svg: str, path: str) -> None:
    """Write a picture.

    Parameters
    ----------
    svg : str
    path : str
        Ends in one of `FORMATS`; PNG is drawn on light ground, at twice the size.

    Raises
    ------
    MissingExtraError
        When PNG is asked for and resvg is not installed.
    OutputError
        When the file cannot be written; none is left behind.
    """
    check_format(path)
    data = svg.encode() if path.endswith(".svg") else _png(svg)
    with OutputFile(path) as file:
        file.write(data)


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise MissingExtraError("resvg_py", "plot", "A picture as PNG (SVG needs nothing)") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_PIXELS_A_UNIT))
