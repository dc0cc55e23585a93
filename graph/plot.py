"""A picture of an assembly graph.

Every segment is drawn as a string of points, the longer the more; consecutive points and the ends that links
join are neighbours. Each component is laid out by stress majorization (Gansner, Koren & North 2005): points
are moved until their distances in the picture are as near as can be to their distances along the graph. The
components are then packed in rows, largest first.

Drawn length grows with the square root of the bases, so that short segments can be seen beside long ones. No
random numbers: the same file gives the same picture.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from overlapper.drawing import Drawing, element, path_of, short_number, standalone, written
from overlapper.errors import EmptyInputError, ParameterError
from overlapper.graph.gfa import Gfa, Join
from overlapper.graph.stats import components
from overlapper.io.outputs import check_ending, write_text
from overlapper.tables.ragged import offsets_of

MOST_SEGMENTS = 2000
WIDTH, NARROW = 1152, 400
"""Width of a picture, and of the part shown where there is little room, in pixels."""
_MOST_POINTS, _ALL_POINTS = 12, 1200
_LONGEST = 10.0
_SHORTEST = 0.6
_LINK = 0.5
_GAP, _MARGIN = 1.5, 0.03
_ROUNDS, _STILL = 200, 1e-4
_COLOURS = "abcd"
_WIDTH = 5.0
_LETTER, _LINE = 7.8, 15.0
"""About the width of a letter and the height of a line, in pixels."""
_FLATTEST = 0.5
"""Least height of a picture relative to its width, so that a lone line has room for its name."""
_LEAST_WIDTH, _MOST_WIDTH = 200, 20_000
_LONGEST_NAME = 16


def place_segments(gfa: Gfa) -> list[np.ndarray]:
    """Return where to draw the segments.

    Returns
    -------
    list of ndarray of float64, shape (points, 2)
        The points of every segment, from its first base to its last.
    """
    if not gfa.names:
        raise EmptyInputError("the graph has no segments, so there is nothing to draw")
    drawn = np.maximum(_LONGEST * np.sqrt(gfa.lengths / max(int(gfa.lengths.max()), 1)), _SHORTEST)
    most = int(np.clip(_ALL_POINTS // len(gfa.names), 2, _MOST_POINTS))
    points = np.clip(np.ceil(drawn).astype(np.int64) + 2, 2, most)
    circular = gfa.circular
    points[circular] = np.maximum(points[circular], 8)
    starts = offsets_of(points)
    joined = _neighbours(gfa, drawn, starts)

    component = components(gfa)
    places = np.zeros((starts[-1], 2))
    boxes = []
    of_point = np.repeat(component, points)
    bases = np.bincount(component, gfa.lengths)
    for number in np.lexsort([np.arange(len(bases)), -bases]):
        members = np.flatnonzero(of_point == number)
        places[members] = _upright(_stress_layout(joined[members][:, members]))
        boxes.append((members, places[members].max(axis=0)))
    _pack(places, boxes)
    return [places[starts[i] : starts[i + 1]] for i in range(len(points))]


def _neighbours(gfa: Gfa, drawn: np.ndarray, starts: np.ndarray) -> Any:
    """Return the distances of neighbouring points, a sparse symmetric array."""
    from scipy.sparse import coo_array

    steps = np.diff(starts) - 1
    first = np.concatenate([np.arange(starts[i], starts[i + 1] - 1) for i in range(len(steps))])
    second = first + 1
    size = np.repeat(drawn / steps, steps)
    ends = {}
    for link in gfa.links:
        left, right = link.first >> 1, link.second >> 1
        a = starts[left] if link.first & 1 else starts[left + 1] - 1
        b = starts[right + 1] - 1 if link.second & 1 else starts[right]
        if a != b:
            ends[min(a, b), max(a, b)] = _LINK
    extra = np.array(list(ends), np.int64).reshape(-1, 2)
    first, second = np.concatenate([first, extra[:, 0]]), np.concatenate([second, extra[:, 1]])
    size = np.concatenate([size, np.full(len(extra), _LINK)])
    joined = coo_array((size, (first, second)), shape=(starts[-1], starts[-1])).tocsr()
    return joined.maximum(joined.T)


def _stress_layout(joined: Any) -> np.ndarray:
    """Return places whose distances are close to those along the graph, by stress majorization."""
    from scipy.linalg import lu_factor, lu_solve
    from scipy.sparse.csgraph import shortest_path

    distance = shortest_path(joined, directed=False)
    places = _classical_scaling(distance)
    weight = np.zeros_like(distance)
    apart = distance > 0
    weight[apart] = distance[apart] ** -2.0
    laplacian = np.diag(weight.sum(axis=1)) - weight
    # The first point stays where it is: the stress does not change when all points move together.
    solver = lu_factor(laplacian[1:, 1:])
    before = np.inf
    for _ in range(_ROUNDS):
        now = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        stress = float((weight * (now - distance) ** 2).sum())
        if before - stress <= _STILL * stress:
            break
        before = stress
        pull = np.zeros_like(distance)
        moved = now > 0
        pull[moved] = -(weight * distance)[moved] / now[moved]
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = np.concatenate([np.zeros((1, 2)), lu_solve(solver, (pull @ places)[1:])])
    return places


def _classical_scaling(distance: np.ndarray) -> np.ndarray:
    """Return places by the two foremost axes of the squared distances (Torgerson 1952)."""
    from scipy.linalg import eigh

    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    last = len(distance) - 1
    values, axes = eigh(-0.5 * centred, subset_by_index=[max(last - 1, 0), last])
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    places = (axes * np.sqrt(np.maximum(values, 0)))[:, ::-1]
    # A graph that is a straight line leaves no second axis; a little bend keeps its points apart.
    places[:, 1] += 1e-3 * np.sin(np.arange(len(places)))
    return places


def _upright(places: np.ndarray) -> np.ndarray:
    """Turn places so that they are widest along the first axis, and start at 0."""
    centred = places - places.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ axes.T
    return turned - turned.min(axis=0)


def _pack(places: np.ndarray, boxes: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Move components beside and below each other."""
    area = sum((box[0] + _GAP) * (box[1] + _GAP) for _, box in boxes)
    width = max(max(box[0] for _, box in boxes), 1.4 * np.sqrt(area))
    gap = max(_GAP, _MARGIN * width)
    x = y = height = 0.0
    for members, (wide, high) in boxes:
        if x and x + wide > width:
            x, y, height = 0.0, y + height + gap, 0.0
        places[members] += (x, -y - high)
        x, height = x + wide + gap, max(height, high)


def plot_graph(gfa: Gfa, path: str | os.PathLike[str], *, width: int = WIDTH) -> None:
    """Draw a graph, without contained segments, to a file.

    Letters are 14 pixels high at the width given: a narrow picture has fewer of them, not smaller ones.

    Parameters
    ----------
    gfa : Gfa
    path : str or path
        Ends in ``.svg``.
    width : int
        Of the picture on a screen, in CSS pixels, 200 to 20,000.

    Raises
    ------
    ParameterError
        When the name tells no format, the picture is too narrow or too wide, or there are more than
        `MOST_SEGMENTS` segments.
    EmptyInputError
        When there are no segments.
    OutputError
        When the file cannot be written; none is left behind.
    """
    path = os.fspath(path)
    check_ending(path, [".svg"])
    if not _LEAST_WIDTH <= width <= _MOST_WIDTH:
        raise ParameterError(
            f"the width of the picture is {width} pixels, expected {_LEAST_WIDTH} to {_MOST_WIDTH}"
        )
    gfa = gfa.without_contained()
    if len(gfa.names) > MOST_SEGMENTS:
        raise ParameterError(
            f"the graph has {len(gfa.names)} segments, and more than {MOST_SEGMENTS} cannot be read in a "
            "picture: draw a part of it"
        )
    places = place_segments(gfa)
    wide = draw_graph(gfa, places, width)
    narrow = draw_graph(gfa, places, min(width, NARROW))
    write_text(path, standalone(wide, narrow, "Assembly graph", describe(gfa)))


def describe(gfa: Gfa) -> str:
    """Return a description of the picture of a graph."""
    return (
        f"Segments: {len(gfa.names):,}; links: {len(gfa.links):,}. The length of a line is the square root "
        "of its bases, its width the depth compared with that of the median segment."
    )


def draw_graph(gfa: Gfa, places: list[np.ndarray], width: int) -> Drawing:
    """Draw a graph.

    Parameters
    ----------
    gfa : Gfa
        Without segments that others contain.
    places : list of ndarray
        Of `place_segments`.
    width : int
        Pixels.
    """
    everything = np.concatenate(places)
    low, high = everything.min(axis=0), everything.max(axis=0)
    margin = max(_GAP, _MARGIN * max(high - low))
    low, high = low - margin, high + margin
    lacking = max(0.0, _FLATTEST * float((high - low)[0]) - float((high - low)[1]))
    higher = np.array([0, lacking / 2])
    low, high = low - higher, high + higher
    scale = float(width / (high - low)[0])
    size = (high - low) * scale
    placed = [(place - low) * (scale, -scale) + (0, size[1]) for place in places]
    parts = [
        element("path", d=path_of(*_joint(placed, link).T), class_="line-axis", stroke_width=1)
        for link in gfa.links
    ]
    thin = np.sqrt(min(width / WIDTH, 1))
    for segment, (place, wide) in enumerate(zip(placed, thin * _widths(gfa), strict=True)):
        name = escape(f"{gfa.names[segment]}, {int(gfa.lengths[segment]):,} bases")
        parts.append(
            element(
                "path", element("title", name), d=path_of(*place.T),
                class_=f"line-{_COLOURS[segment % len(_COLOURS)]}", stroke_width=float(wide),
                stroke_linecap="round", stroke_linejoin="round",
            )
        )  # fmt: skip
    labels = [(_short(name), short_number(int(n))) for name, n in zip(gfa.names, gfa.lengths, strict=True)]
    for segment, (x, y) in _labels(labels, gfa.lengths, placed, size):
        for line, text in enumerate(labels[segment]):
            at = float(x), float(y) - 3 + line * _LINE
            # The ground around it sets a letter apart from what it crosses.
            parts.append(
                written(text, *at, text_anchor="middle", class_="line-ground", stroke_width=4,
                        stroke_linejoin="round", paint_order="stroke")
            )  # fmt: skip
    return Drawing("".join(parts), float(width), float(size[1]))


def _joint(places: list[np.ndarray], link: Join) -> np.ndarray:
    """Return the ends that a link joins."""
    # The right end of a forward segment, or the left end of a reversed one, meets the other's opposite.
    first = places[link.first >> 1][0 if link.first & 1 else -1]
    return np.array([first, places[link.second >> 1][-1 if link.second & 1 else 0]])


def _labels(
    labels: list[tuple[str, str]], lengths: np.ndarray, places: list[np.ndarray], size: np.ndarray
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield which segments to label, and where: the longest first, but none over another's label.

    ``places`` are pixels; labels stay within a picture of this size.
    """
    taken = np.zeros((0, 4))
    for segment in np.argsort(-lengths, kind="stable").tolist():
        letters = max(map(len, labels[segment]))
        reach = np.array([_LETTER * letters / 2 + 2, _LINE + 2])
        middle = np.clip(places[segment][len(places[segment]) // 2], reach, np.maximum(size - reach, reach))
        box = np.concatenate([middle - reach, middle + reach])
        apart = (box[:2] > taken[:, 2:]).any(axis=1) | (box[2:] < taken[:, :2]).any(axis=1)
        if apart.all():
            taken = np.concatenate([taken, box[None]])
            yield segment, middle


def _widths(gfa: Gfa) -> np.ndarray:
    """Return line widths in pixels, by depth over that of the median segment."""
    known = ~np.isnan(gfa.depth) & (gfa.depth > 0)
    widths = np.full(len(gfa.names), _WIDTH)
    if known.any():
        widths[known] = _WIDTH * np.clip(gfa.depth[known] / np.median(gfa.depth[known]), 0.5, 3)
    return widths


def _short(name: str) -> str:
    """Return a name without its middle where it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 5]}…{name[-4:]}"
