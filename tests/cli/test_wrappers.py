"""What shows or calls overlapper from other programs: MultiQC, Galaxy."""

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree

from docs.tools.commands import declared
from overlapper.version import __version__
from tests.cli.runner import ROOT, overlapper, python, run

SCRIPT = ROOT / "examples" / "multiqc" / "overlapper_mqc.py"
GALAXY = ROOT / "examples" / "galaxy"


def test_multiqc_shows_every_sample(run_folder, tmp_path):
    for file in ("one.json", "two.paf.gz.stats.json"):
        shutil.copy(run_folder / "run.json", tmp_path / file)
    python(SCRIPT, "one.json", "two.paf.gz.stats.json", cwd=tmp_path, check=True)
    funnel = json.loads((tmp_path / "one.json").read_text())["funnel"]
    general = json.loads((tmp_path / "overlapper_general_mqc.json").read_text())
    assert general["plot_type"] == "generalstats"
    assert general["data"]["one"] == general["data"]["two"]
    assert {name for header in general["pconfig"] for name in header} == general["data"]["one"].keys()
    assert general["data"]["one"]["overlaps"] == funnel["overlaps"]
    bars = json.loads((tmp_path / "overlapper_candidates_mqc.json").read_text())
    assert bars["data"].keys() == {"one", "two"}
    # Every candidate is in the bar once.
    assert sum(bars["data"]["one"].values()) == sum(
        count for name, count in funnel.items() if name.startswith("dropped") or name == "overlaps"
    )
    if shutil.which("multiqc"):
        run("multiqc", ".", cwd=tmp_path, check=True)
        table = (tmp_path / "multiqc_data" / "multiqc_general_stats.txt").read_text().splitlines()
        assert [line.split("\t")[0] for line in table[1:]] == ["one", "two"]


def test_galaxy_calls_options_that_there_are(tmp_path):
    tool = ElementTree.parse(GALAXY / "overlapper_overlap.xml").getroot()
    assert tool.find("macros/token").text == __version__
    options = {p.name: p for p in declared("overlap")[1] if not p.is_argument}
    command = tool.find("command").text
    named = set(re.findall(r"--[a-z-]+", command)) | {p.get("truevalue") for p in tool.iter("param")} - {None}
    assert named <= options.keys()
    for select in tool.iter("param"):
        for choice in select.iter("option"):
            assert choice.get("value") in options[select.get("argument")].help
    test = tool.find("tests/test")
    given = {param.get("name"): param.get("value") for param in test.iter("param")}
    reads = GALAXY / "test-data" / given.pop("reads")
    words = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]
    overlapper("overlap", reads, *words, "-o", "o.paf", "--stats", "s.json", cwd=tmp_path, check=True)
    assert "tp:A:P" in (tmp_path / "o.paf").read_text()
    assert '"funnel"' in (tmp_path / "s.json").read_text()
