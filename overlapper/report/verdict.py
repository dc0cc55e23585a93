"""The verdict that a report opens with: what is fine, what to look at, what is wrong.

The limits are rules of thumb, the same for all sets: they say where to look, not what to do. A finding whose
input is missing is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from overlapper.drawing import short_number
from overlapper.graph.gfa import Gfa
from overlapper.report.overlaps import REPEAT_DEPTH
from overlapper.report.page import Finding, Level
from overlapper.sketch.estimates import Estimates
from overlapper.sketch.ploidy import ploidy
from overlapper.tables import Overlaps

_LOW_DEPTH = 0.25
"""Times the median depth, below which a read may be another genome's."""
_INACCURATE = 0.04
"""Error rate from which spectra do not tell haplotypes: recurring errors of real R10 reads have a peak."""
_CHIMERIC = "chimeric reads cut"


def verdict(
    estimates: Estimates | None,
    overlaps: Overlaps | None,
    lengths: np.ndarray | None,
    whole_set: bool,
    layout: Mapping[str, Any] | None,
    gfa: Gfa | None,
    assembled: Mapping[str, float] | None = None,
) -> list[Finding]:
    """Return the findings.

    Parameters
    ----------
    estimates : Estimates, optional
        What the reads say about themselves.
    overlaps : Overlaps, optional
    lengths : ndarray of int64, shape (reads,), optional
        Of the reads that the overlaps number.
    whole_set : bool
        These are the reads that were overlapped, not only those that the overlaps name.
    layout : mapping, optional
        Counts of the layout.
    gfa : Gfa, optional
    assembled : mapping, optional
        Of an assembly: ``reads``, ``reads used``, ``bases``, and ``bases cut`` off ends of contigs.
    """
    findings: list[Finding] = []
    if estimates:
        findings += _coverage(estimates)
    if overlaps is not None and lengths is not None and len(lengths):
        findings += _of_overlaps(overlaps, lengths, whole_set, estimates)
    if layout and _CHIMERIC in layout["counts"].get("build", {}):
        findings += _chimeras(layout["counts"]["build"][_CHIMERIC], layout)
    if gfa:
        findings += _assembly(gfa.without_contained(), estimates)
    if assembled:
        findings += _used(assembled)
    return findings


def _coverage(estimates: Estimates) -> Iterator[Finding]:
    if math.isnan(estimates.coverage):
        yield Finding(Level.LOOK, "Coverage", f"unknown ({estimates.unknown}).")
        return
    yield _finding(
        "Coverage", -estimates.coverage, -15, -8,
        f"about {estimates.coverage:.0f}x, estimated from the reads.",
        "This is low: gaps are expected, and more reads would close them.",
    )  # fmt: skip


def _of_overlaps(
    overlaps: Overlaps, lengths: np.ndarray, whole_set: bool, estimates: Estimates | None
) -> Iterator[Finding]:
    depth = overlaps.mean_cover(lengths)
    some = depth[depth > 0]
    if not len(some):
        yield Finding(Level.WRONG, "Overlaps", "none.")
        return
    usual = float(np.median(some))
    if estimates and not math.isnan(estimates.coverage) and estimates.coverage > 1:
        # Over a base of a read lie the overlaps of all reads there but itself.
        expected = estimates.coverage - 1
        ratio = usual / expected
        yield _finding(
            "Overlaps", abs(math.log(ratio)), math.log(1.5), math.log(3),
            f"{usual:.0f} cover each base of a read; by the coverage, {expected:.0f} are expected.",
            "The others are too short, too different, or left out as internal matches."
            if ratio < 1
            else "The cause may be repeats, or copies that are not told apart.",
        )  # fmt: skip
    if whole_set:
        share = float((depth == 0).mean())
        yield _finding(
            "Reads without overlaps", share, 0.05, 0.2, f"{100 * share:.1f} % of the reads.",
            "They may be junk or contamination, or their overlaps are too short.",
        )  # fmt: skip
    share = float((some > REPEAT_DEPTH * usual).mean())
    yield _finding(
        "Repeats", share, 0.05, math.inf,
        f"{100 * share:.1f} % of the overlapping reads are covered more than twice as deep as the median.",
    )  # fmt: skip
    share = float((some < _LOW_DEPTH * usual).mean())
    yield _finding(
        "Contamination, by depth", share, 0.05, 0.3,
        f"{100 * share:.1f} % of the overlapping reads are covered less than a quarter as deep as the "
        "median.", "The cause may be another genome at a lower depth, or reads with many errors.",
    )  # fmt: skip


def _chimeras(chimeric: float, layout: Mapping[str, Any]) -> Iterator[Finding]:
    reads = layout.get("reads", 0)
    if reads:
        share = chimeric / reads
        text = f"{100 * share:.1f} % of the reads were cut, because they join two places of the genome."
        yield _finding("Chimeras", share, 0.03, 0.15, text)


def _size_of_both(estimates: Estimates) -> float:
    """Return the bases of both haplotypes together, where k-mers of accurate reads show two; else NaN."""
    found = None if estimates.error_rate >= _INACCURATE else ploidy(np.array(estimates.spectrum))
    if not found or not found.has_both_peaks:
        return math.nan
    return estimates.genome_size * estimates.kmer_mean / found.depth


def _assembly(gfa: Gfa, estimates: Estimates | None) -> Iterator[Finding]:
    bases = int(gfa.lengths.sum())
    if bases and estimates and estimates.genome_size > 0:
        size, both = estimates.genome_size, _size_of_both(estimates)
        text = f"{short_number(bases)} bases, {short_number(size)} are estimated from the reads"
        if abs(math.log(bases / both)) < abs(math.log(bases / size)):
            text += f", or {short_number(both)} if the k-mers are from two haplotypes"
            size = both
        off = abs(math.log(bases / size))
        yield _finding("Assembly size", off, math.log(1.1), math.log(1.5), f"{text}.")
    circles = int(gfa.circular.sum())
    if circles:
        told = "is a circle" if circles == 1 else "are circles"
        yield Finding(Level.OK, "Circles", f"{circles:,} of {len(gfa.lengths):,} sequences {told}.")


def _used(assembled: Mapping[str, float]) -> Iterator[Finding]:
    reads, used = assembled["reads"], assembled["reads used"]
    if reads:
        yield _finding(
            "Reads used", -used / reads, -0.8, -0.5, f"{100 * used / reads:.0f} % of them are in contigs.",
            "The others are too short, or have too few overlaps.",
        )  # fmt: skip
    bases, cut = assembled["bases"], assembled["bases cut"]
    if bases:
        text = f"{int(cut):,} at ends of contigs, where too few reads lie, or they disagree."
        yield _finding("Bases cut off", cut / (bases + cut), 0.01, 0.1, text)


def _finding(what: str, value: float, look: float, wrong: float, text: str, cause: str = "") -> Finding:
    """Return a finding whose value is the worse the higher; a limit itself is still the better level."""
    level = Level.OK if value <= look else Level.LOOK if value <= wrong else Level.WRONG
    return Finding(level, what, f"{text} {cause}" if cause and level is not Level.OK else text)
