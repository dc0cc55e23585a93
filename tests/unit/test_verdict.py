"""What a report says first, beside sets of which it is known."""

import dataclasses
import math

import numpy as np
import pytest

from overlapper.graph.gfa import read_gfa
from overlapper.report.page import Finding, Level, page
from overlapper.report.verdict import verdict
from overlapper.sketch.estimates import Estimates
from overlapper.tables import Overlaps

KNOWN = Estimates(
    **{f.name: 0 for f in dataclasses.fields(Estimates)}
    | {"coverage": 31.0, "genome_size": 1e6, "spectrum": (0,) * 1001}
)
NOTHING = dict.fromkeys(("estimates", "overlaps", "lengths", "layout", "gfa"), None) | {"whole_set": True}


def of(**given):
    return {finding.what: finding for finding in verdict(**NOTHING | given)}


def levels(**given):
    return {what: finding.level for what, finding in of(**given).items()}


def overlaps_with(depths):
    """Return overlaps of reads of 100 bases, and one more; all targets are that one, which is long."""
    query = np.repeat(np.arange(len(depths)), depths)
    n = len(query)
    zeros = np.zeros(n)
    table = Overlaps(
        query=query, target=np.full(n, len(depths)), reverse=zeros, q_start=zeros, q_end=zeros + 100,
        t_start=zeros, t_end=zeros + 1, matches=zeros, block_length=zeros, score=zeros, seeds=zeros,
        divergence=zeros, kind=zeros,
    )  # fmt: skip
    return {"overlaps": table, "lengths": np.array([100] * len(depths) + [10 * n])}


@pytest.fixture
def gfa_of(tmp_path):
    """A graph of segments of such lengths, of which the first ones are circles."""

    def made(lengths, circular=0):
        lines = [f"S\tu{i}\t*\tLN:i:{length}" for i, length in enumerate(lengths)]
        lines += [f"L\tu{i}\t+\tu{i}\t+\t0M" for i in range(circular)]
        (tmp_path / "u.gfa").write_text("".join(f"{line}\n" for line in ["H\tVN:Z:1.0", *lines]))
        return read_gfa(str(tmp_path / "u.gfa"))

    return made


@pytest.mark.parametrize(
    ("coverage", "level"),
    [(40, Level.OK), (15, Level.OK), (14, Level.LOOK), (8, Level.LOOK), (7, Level.WRONG)],
)
def test_coverage(coverage, level):
    assert levels(estimates=dataclasses.replace(KNOWN, coverage=coverage)) == {"Coverage": level}


def test_coverage_that_is_unknown_says_why():
    estimates = dataclasses.replace(KNOWN, coverage=math.nan, unknown="there are too few reads")
    finding = of(estimates=estimates)["Coverage"]
    assert (finding.level, finding.text) == (Level.LOOK, "unknown (there are too few reads).")


@pytest.mark.parametrize(
    ("depth", "level"), [(30, Level.OK), (22, Level.OK), (18, Level.LOOK), (80, Level.LOOK), (9, Level.WRONG)]
)
def test_depth_found_beside_depth_expected(depth, level):
    finding = of(estimates=KNOWN, **overlaps_with([depth] * 200))["Overlaps"]
    assert finding.level is level
    assert finding.text.startswith(f"{depth} cover each base of a read; by the coverage, 30 are expected")
    assert ("The others are" in finding.text) == (depth < 20)


@pytest.mark.parametrize(
    ("used", "cut", "expected"),
    [(90, 0, (Level.OK, Level.OK)), (60, 50, (Level.LOOK, Level.LOOK)), (7, 900, (Level.WRONG, Level.WRONG))],
)
def test_reads_used_and_bases_cut(used, cut, expected):
    found = of(assembled={"reads": 100, "reads used": used, "bases": 1000, "bases cut": cut})
    assert (found["Reads used"].level, found["Bases cut off"].level) == expected
    assert f"{used} % of them are in contigs" in found["Reads used"].text
    assert found["Bases cut off"].text.startswith(f"{cut} at ends")


@pytest.mark.parametrize(("lonely", "level"), [(5, Level.OK), (15, Level.LOOK), (40, Level.WRONG)])
def test_reads_without_overlaps(lonely, level):
    given = overlaps_with([0] * lonely + [20] * (99 - lonely))
    assert levels(**given)["Reads without overlaps"] is level
    assert "Reads without overlaps" not in levels(**given, whole_set=False)


@pytest.mark.parametrize(
    ("what", "depths", "level"),
    [
        ("Repeats", [20] * 100, Level.OK), ("Repeats", [20] * 90 + [50] * 10, Level.LOOK),
        ("Contamination, by depth", [20] * 99, Level.OK),
        ("Contamination, by depth", [20] * 80 + [3] * 19, Level.LOOK),
        ("Contamination, by depth", [20] * 60 + [3] * 39, Level.WRONG),
    ],
)  # fmt: skip
def test_depths_apart_from_the_median(what, depths, level):
    assert levels(**overlaps_with(depths))[what] is level


def test_no_overlaps_are_wrong():
    assert levels(overlaps=Overlaps.empty(), lengths=np.array([5])) == {"Overlaps": Level.WRONG}


@pytest.mark.parametrize(("chimeric", "level"), [(3, Level.OK), (10, Level.LOOK), (16, Level.WRONG)])
def test_chimeras(chimeric, level):
    layout = {"reads": 100, "counts": {"build": {"chimeric reads cut": chimeric}}}
    assert levels(layout=layout) == {"Chimeras": level}


@pytest.mark.parametrize(
    ("lengths", "level"), [([500_000, 520_000], Level.OK), ([800_000], Level.LOOK), ([100], Level.WRONG)]
)
def test_assembly_size(gfa_of, lengths, level):
    assert levels(estimates=KNOWN, gfa=gfa_of(lengths))["Assembly size"] is level
    assert "Assembly size" not in levels(gfa=gfa_of(lengths))


def test_circles(gfa_of):
    assert of(gfa=gfa_of([9, 5, 4], 1))["Circles"].text == "1 of 3 sequences is a circle."
    assert "Circles" not in of(gfa=gfa_of([9]))


def test_nothing_given_says_nothing():
    assert of() == {}


def test_a_page_opens_with_it():
    findings = [Finding(Level.LOOK, "Repeats", "there are <many>.")]
    text = page("t", "l", [], [], findings)
    assert '<li class="look"><b>look</b> <span>Repeats: there are &lt;many&gt;.</span></li>' in text
    assert text.index('verdict" aria') < text.index("<dl>")
    assert 'aria-label="Verdict"' not in page("t", "l", [], [])


@pytest.mark.parametrize(
    ("lengths", "level"),
    [
        ([1_000_000], Level.OK),
        ([1_050_000, 950_000], Level.OK),
        ([1_400_000], Level.LOOK),
        ([10_000_000], Level.WRONG),
    ],
)
def test_an_assembly_of_two_haplotypes_is_of_one_or_both(gfa_of, lengths, level):
    random = np.random.default_rng(1)
    # A genome of 1 Mb, 30 reads deep, whose haplotypes differ: k-mers of one are 12 deep, of both 24.
    times = np.concatenate([random.poisson(12, 4_000), random.poisson(24, 16_000)])
    diploid = dataclasses.replace(
        KNOWN, coverage=30.0, kmer_mean=24.0, spectrum=tuple(np.bincount(times, minlength=1001).tolist())
    )
    finding = of(estimates=diploid, gfa=gfa_of(lengths))["Assembly size"]
    assert finding.level is level
    assert ("or 2M" in finding.text) == (sum(lengths) > 1_000_000 * 2**0.5)
    noisy = dataclasses.replace(diploid, error_rate=0.06)
    assert "haplotypes" not in of(estimates=noisy, gfa=gfa_of(lengths))["Assembly size"].text
