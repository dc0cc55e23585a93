"""Axes, charts and the SVG that they are written as."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from overlapper.drawing import THEME, Axis, Plane, element, short_number, standalone

SVG = "{http://www.w3.org/2000/svg}"


def luminance(colour):
    """Relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("low", "high", "log", "labels"),
    [
        (0, 10, False, ["0", "2", "4", "6", "8", "10"]),
        (0, 3, False, ["0", "0.5", "1", "1.5", "2", "2.5", "3"]),
        (1000, 500_000, True, ["1k", "3k", "10k", "30k", "100k", "300k"]),
        (200, 1500, True, ["200", "500", "1k"]),
        (5, 5, False, ["5"]),
    ],
)
def test_ticks_are_round_numbers_within_the_axis(low, high, log, labels):
    got = [label for _, label in Axis("x", low, high, log=log).ticks(7)]
    assert got == labels


@pytest.mark.parametrize("high", [0.001, 1, 7, 99, 12345, 3e9])
@pytest.mark.parametrize("log", [False, True])
def test_ticks_are_neither_too_many_nor_outside(high, log):
    axis = Axis("x", high / 1000, high, log=log)
    ticks = [value for value, _ in axis.ticks()]
    assert 1 <= len(ticks) <= 6
    assert all(high / 1001 <= value <= high * 1.001 for value in ticks)


def test_whole_axes_label_whole_numbers():
    assert [label for _, label in Axis("reads", 0, 2, whole=True).ticks()] == ["0", "1", "2"]


def test_places_are_shares_of_the_axis():
    assert Axis("x", 10, 20).place(np.array([0, 10, 15, 20, 99])).tolist() == [0, 0, 0.5, 1, 1]
    assert Axis("x", 1, 100, log=True).place(np.array([0, 1, 10, 100])).tolist() == [0, 0, 0.5, 1]


def test_short_numbers():
    assert [short_number(v) for v in (0, 0.05, 999, 1000, 4_600_000, 3e9)] == [
        "0", "0.05", "999", "1k", "4.6M", "3G"]  # fmt: skip


def test_a_file_is_well_formed_and_says_what_it_shows():
    plane = Plane(Axis("a < b & c", 0, 10), Axis("y", 0, 5))
    plane.bars(np.array([0, 5, 10]), np.array([1, 5]))
    plane.band(np.array([0, 10]), np.array([1, 1]), np.array([2, 2]), "<band>")
    plane.line(np.array([0, 10]), np.array([0, 5]), "line")
    plane.mark(9.9, "N50")
    drawing = plane.drawing()
    root = ElementTree.fromstring(standalone(drawing, drawing, 'A "title" & more', "what < it shows"))
    assert root.find(f"{SVG}title").text == 'A "title" & more'
    assert root.find(f"{SVG}desc").text == "what < it shows"
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert {"a < b & c", "<band>", "line", "N50"} <= set(texts)


def test_bars_have_the_heights_of_their_values():
    plane = Plane(Axis("x", 0, 2), Axis("y", 0, 4))
    plane.bars(np.array([0, 1, 2]), np.array([4, 1]))
    root = ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}">{plane.drawing().body}</svg>')
    (bars,) = [p for p in root.iter(f"{SVG}path") if p.get("class") == "fill-a"]
    heights = [float(point.split()[1]) for point in bars.get("d").strip("MZ").split("L")]
    base, tall, short = heights[0], heights[1], heights[3]
    assert base - tall == pytest.approx(4 * (base - short))


def test_attributes_are_quoted():
    assert element("a", class_="x", stroke_width=1.5, label='"<') == (
        '<a class="x" stroke-width="1.5" label=\'"&lt;\'/>'
    )


def test_a_key_that_does_not_fit_goes_on_below_and_moves_the_chart_down():
    drawings = []
    for width in (800.0, 300.0):
        plane = Plane(Axis("x", 0, 10), Axis("y", 0, 5), width=width, height=200.0)
        for key in ("a key of some length", "another one", "and a third"):
            plane.line(np.array([0, 10]), np.array([0, 5]), key)
        drawings.append(plane.drawing())
    one_line, more_lines = drawings
    assert one_line.height == 200 and "translate" not in one_line.body
    added = more_lines.height - 200
    assert added > 0 and f"translate(0 {added:g})" in more_lines.body


@pytest.mark.parametrize("theme", ["_LIGHT", "_DARK"])
def test_colours_stand_out_of_their_ground(theme):
    from overlapper.drawing import svg

    colours = getattr(svg, theme)
    assert contrast(colours["ink"], colours["ground"]) >= 7
    for name in ("a", "b", "c", "d", "axis") + (("pale",) if theme == "_DARK" else ()):
        assert contrast(colours[name], colours["ground"]) >= 3, name
        assert colours[name] in THEME
