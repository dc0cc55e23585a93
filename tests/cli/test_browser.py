"""The report in a real browser, Chromium without a window; skipped where there is none.

The page is put into a frame as wide as a phone, a tablet or a desk, and a script beside the frame measures
it.
"""

import html
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from overlapper.graph.gfa import read_gfa
from overlapper.plots import align_pair, plot_pair, plot_pile
from overlapper.report import build_report, read_inputs
from overlapper.report.circles import GRAPH, circle_parts
from overlapper.report.doubt import DOUBT
from overlapper.report.page import Section
from overlapper.report.page import page as page_of
from overlapper.tables import Reads
from tests.cli.conftest import RUN_FILES

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium"),
]

MEASURE = """
<pre id="result"></pre><script>
const frame = document.querySelector("iframe"), problems = [];
frame.onload = () => {
  const page = frame.contentDocument, view = frame.contentWindow, box = e => e.getBoundingClientRect();
  const all = [...page.querySelectorAll("main *, header *, nav *")];
  const inside = e => !e.closest("details:not([open])") && !e.closest(".scroll");
  const seen = svg => [...svg.querySelectorAll("text")].filter(text => text.getClientRects().length);
  const shown = [...page.querySelectorAll("svg[role=img]")];
  for (const svg of shown) {
    const frame = box(svg), words = seen(svg);
    for (const text of words) {
      const at = box(text);
      if (at.left < frame.left - 1 || at.right > frame.right + 1 || at.top < frame.top - 1
          || at.bottom > frame.bottom + 1)
        problems.push("outside its picture: " + text.textContent);
      for (const other of words) {
        const to = box(other);
        if (text !== other && at.left < to.right - 1 && to.left < at.right - 1 && at.top < to.bottom - 3
            && to.top < at.bottom - 3)
          problems.push("over each other: " + text.textContent + " / " + other.textContent);
      }
    }
  }
  const focusable = [...page.querySelectorAll("a[href], summary, [tabindex='0']")];
  for (const e of focusable) {
    e.focus();
    if (page.activeElement !== e && inside(e)) problems.push("no focus: " + e.outerHTML.slice(0, 80));
  }
  const style = e => view.getComputedStyle(e);
  document.querySelector("#result").textContent = JSON.stringify({
    wide: page.documentElement.scrollWidth, width: view.innerWidth,
    beyond: all.filter(e => inside(e) && box(e).right > view.innerWidth + 1).map(e => e.outerHTML),
    letters: Math.min(...shown.flatMap(seen).map(t => box(t).height)),
    pictures: shown.map(s => box(s).height), problems, ground: style(page.body).backgroundColor,
    ink: style(page.body).color, text: style(seen(shown[0])[0]).fill,
    loaded: view.performance.getEntriesByType("resource").length,
  });
};
frame.srcdoc = PAGE;
</script>
"""


def browse(folder, text, width, scheme):
    """Return what the script measured."""
    page = folder / "outer.html"
    script = MEASURE.replace("PAGE", json.dumps(text).replace("</", "<\\/"))
    style = f"iframe{{border:0;width:{width}px;height:900px}}"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style><iframe></iframe>{script}")
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    result = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *dark,
         f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--v=0",
         "--window-size=1500,1000", "--virtual-time-budget=5000", "--dump-dom", f"file://{page}"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    found = re.search(r'<pre id="result">(.*?)</pre>', result.stdout, re.DOTALL)
    assert found and found[1], result.stderr[-2000:]
    return json.loads(html.unescape(found[1])) | {"console": re.findall(r"CONSOLE.*", result.stderr)}


@pytest.fixture(scope="module")
def inputs(run_folder):
    # The folder's long path is a word that must be broken.
    return read_inputs([str(run_folder / name) for name in RUN_FILES])


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (800, "light"), (1400, "light")])
def test_the_report_is_right_at_each_width(inputs, tmp_path, width, scheme):
    seen = browse(tmp_path, build_report(inputs), width, scheme)
    assert seen["width"] == width
    assert seen["wide"] <= width, seen["beyond"]
    assert seen["beyond"] == []
    assert seen["problems"] == []
    assert (seen["loaded"], seen["console"]) == (0, [])
    assert seen["letters"] >= 12
    assert min(seen["pictures"]) > 150
    dark = scheme == "dark"
    assert seen["ground"] == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)")
    assert seen["text"] == seen["ink"] == ("rgb(238, 241, 244)" if dark else "rgb(27, 31, 36)")


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (800, "dark"), (1400, "light")])
def test_plots_are_right_at_each_width(inputs, tmp_path, width, scheme):
    pile = plot_pile(inputs.overlaps, inputs.named, inputs.named.name(0))
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(1).integers(0, 4, 4_000)]
    text = letters.tobytes().decode()
    folded = text[:3_000] + text[:1_000].translate(str.maketrans("ACGT", "TGCA"))[::-1]
    pair = plot_pair(align_pair(Reads.from_sequences(["a" * 60, "b"], [text, folded])))
    for picture in (pile, pair):
        seen = browse(tmp_path, f"<!DOCTYPE html><body>{picture}</body>", width, scheme)
        assert (seen["problems"], seen["console"]) == ([], [])
        assert seen["wide"] <= width
        assert seen["letters"] >= 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_maps_of_circles_are_right_on_a_phone(tmp_path, scheme):
    lines = []
    for length in (5, 3_000, 80_000, 4_641_652):
        lines += [f"S\tc{length}\t*\tLN:i:{length}\tdp:f:12000", f"L\tc{length}\t+\tc{length}\t+\t0M"]
    (tmp_path / GRAPH).write_text("\n".join(lines) + "\n")
    (tmp_path / DOUBT).write_text("c80000\t0\t400\tdeep\t2.0\nc80000\t79000\t80000\tdeep\t2.0\n")
    parts = circle_parts(tmp_path, read_gfa(tmp_path / GRAPH), "")
    seen = browse(tmp_path, page_of("Maps", [], [], [Section("Contigs", parts)]), 390, scheme)
    assert (seen["problems"], seen["beyond"], seen["console"]) == ([], [], [])
    assert seen["wide"] <= 390 and seen["letters"] >= 12
    assert len(seen["pictures"]) == 4 and min(seen["pictures"]) > 300
    assert seen["text"] == ("rgb(238, 241, 244)" if scheme == "dark" else "rgb(27, 31, 36)")


def test_the_script_sees_what_is_wrong(tmp_path):
    words = '<text x="5" y="20">one</text><text x="9" y="22">two</text><text x="395" y="90">three</text>'
    picture = f'<svg role="img" viewBox="0 0 400 200" width="400">{words}</svg>'
    page = f'<main><div style="width:2000px">wide</div>{picture}<script>nothing()</script></main>'
    seen = browse(tmp_path, f"<!DOCTYPE html>{page}", 1000, "light")
    assert seen["wide"] == 2008
    assert any("wide" in element for element in seen["beyond"])
    assert {"over each other: one / two", "outside its picture: three"} <= set(seen["problems"])
    assert "nothing is not defined" in "".join(seen["console"])
