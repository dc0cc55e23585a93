"""Runs of many samples on one page of MultiQC: what ``overlapper overlap`` counted, as custom content.

    overlapper overlap sample1.fq.gz -o sample1.paf.gz   # and so on
    python overlapper_mqc.py *.stats.json
    multiqc .

A sample is called as its file of overlaps, or as that of ``--stats``. Needs nothing but Python.
"""

import json
import re
import sys
from pathlib import Path

ABOUT = {
    "parent_id": "overlapper",
    "parent_name": "overlapper",
    "parent_description": "finds the overlaps of long reads.",
}
FALLEN = "dropped: "


def read_funnels(paths):
    """Return the counts of each sample, by its name."""
    kept = r"(\.(paf|paf\.gz|parquet)\.stats)?\.json$"
    return {re.sub(kept, "", Path(path).name): json.loads(Path(path).read_text())["funnel"] for path in paths}


def general(funnels):
    """Return columns of MultiQC's first table."""
    columns = {
        "reads": {"title": "Reads", "description": "Reads that were overlapped", "format": "{:,.0f}"},
        "bases": {"title": "Mb", "description": "Their bases, in millions", "format": "{:,.1f}"},
        "overlaps": {"title": "Overlaps", "description": "Overlaps reported", "format": "{:,.0f}"},
        "per_read": {
            "title": "Overlaps a read",
            "description": "Both reads of each counted",
            "format": "{:,.1f}",
        },
    }
    data = {
        sample: {
            "reads": counts["reads"],
            "bases": counts["bases"] / 1e6,
            "overlaps": counts["overlaps"],
            "per_read": 2 * counts["overlaps"] / max(1, counts["reads"]),
        }
        for sample, counts in funnels.items()
    }
    headers = [{name: {"namespace": "overlapper", **column}} for name, column in columns.items()]
    return {"id": "overlapper_general", "plot_type": "generalstats", "pconfig": headers, "data": data}


def candidates(funnels):
    """Return what became of candidates, a bar a sample."""
    data = {}
    for sample, counts in funnels.items():
        fallen = {name.removeprefix(FALLEN): n for name, n in counts.items() if name.startswith(FALLEN)}
        data[sample] = {"reported": counts["overlaps"], **fallen}
    return {
        **ABOUT,
        "id": "overlapper_candidates",
        "section_name": "Candidates",
        "description": "What became of the candidates that the finder found: reported, or why not.",
        "plot_type": "bargraph",
        "pconfig": {
            "id": "overlapper_candidates_plot",
            "title": "overlapper: candidates",
            "ylab": "candidates",
        },
        "data": data,
    }


def main():
    """Write the files that MultiQC finds by their names."""
    if len(sys.argv) < 2:
        sys.exit("usage: python overlapper_mqc.py STATS.json...")
    funnels = read_funnels(sys.argv[1:])
    for name, content in (("general", general(funnels)), ("candidates", candidates(funnels))):
        Path(f"overlapper_{name}_mqc.json").write_text(f"{json.dumps(content, indent=2)}\n")


if __name__ == "__main__":
    main()
