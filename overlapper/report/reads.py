"""What a report says of the reads: lengths, qualities, the k-mer spectrum with its model."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from overlapper.drawing import Axis, Plane, short_number
from overlapper.graph.stats import n50
from overlapper.kernels.common.error_sums import ONE, error_sums
from overlapper.report.charts import chart, histogram
from overlapper.report.page import Part, Remark, Section, Table
from overlapper.runtime.messages import counted
from overlapper.sketch.estimates import Estimates
from overlapper.sketch.spectrum import fit_spectrum, repeat_limit
from overlapper.tables import Reads

NEEDS_READS = "Lengths, qualities and the k-mer spectrum are left out: they need the file of reads."


def reads_section(reads: Reads, estimates: Estimates) -> Section:
    """Describe a set of reads."""
    return Section("Reads", [_lengths(reads), _qualities(reads), *_spectrum(estimates)])


def mean_qualities(reads: Reads) -> np.ndarray:
    """Return the Phred quality of the mean error probability of each read that has qualities and bases.

    Returns
    -------
    ndarray of float64
    """
    if reads.qualities is None or reads.quality_offsets is None:
        return np.empty(0)
    offsets = reads.quality_offsets
    some = offsets[1:] > offsets[:-1]
    if not some.any():
        return np.empty(0)
    sums = error_sums(reads.qualities, offsets)[some] / ONE
    return -10 * np.log10(sums / (offsets[1:] - offsets[:-1])[some])


def _lengths(reads: Reads) -> Part:
    lengths = reads.lengths[reads.lengths > 0]
    if not len(lengths):
        return Remark("Read lengths are left out: no read has bases.")
    half = n50(lengths)
    empty = len(reads) - len(lengths)
    told = f" Not drawn: {counted(empty, 'read')} without bases." if empty else ""
    caption = (
        f"{counted(len(reads), 'read')} of {lengths.min():,} to {lengths.max():,} bases; half of all bases "
        f"are in reads of {half:,} bases (N50) or more.{told}"
    )
    return histogram(
        "Read lengths", caption, lengths, "length, bases", "reads", log=True, marks=((half, "N50"),)
    )


def _qualities(reads: Reads) -> Part:
    qualities = mean_qualities(reads)
    if not len(qualities):
        return Remark("Read qualities are left out: the reads have none (FASTA, or alignments without them).")
    caption = (
        "Phred quality of the mean error probability of each read; the median is "
        f"{np.median(qualities):.1f}. The sequencer's own estimate, before any overlap."
    )
    return histogram("Read qualities", caption, qualities, "mean quality of a read, Phred", "reads")


def _spectrum(estimates: Estimates) -> list[Part]:
    spectrum = np.array(estimates.spectrum)
    fit, limit = fit_spectrum(spectrum), repeat_limit(spectrum)
    if fit is None:
        return [Remark(f"The k-mer spectrum is left out: {estimates.unknown}.")]
    if fit.mean != estimates.kmer_mean:
        told = (
            "The k-mer spectrum is left out: at so low a coverage it does not tell genome and errors apart."
        )
        return [Remark(told), _estimates(estimates, limit)]
    last = min(len(spectrum) - 2, max(math.ceil(2.2 * max(fit.mean, limit / 2)), 12))
    at = np.arange(1, last + 1)
    counts = spectrum[1 : last + 1]
    model = fit.expected(at)
    top = 1.15 * max(float(model.max()), float(counts[fit.lower - 1 :].max(initial=0)))
    x = Axis(f"occurrences of a {estimates.kmer_length}-mer", 0.5, last + 0.5)
    plane = Plane(x, Axis("distinct k-mers", 0, top))
    plane.bars(np.arange(0.5, last + 1), np.minimum(counts, top), "pale")
    plane.line(at, np.minimum(model, top), "model")
    if limit <= last:
        plane.mark(limit + 0.5, "repeats", "c")
    title = "k-mer spectrum"
    caption = (
        f"How often the k-mers of a sample occur, and the model fitted to them from {fit.lower} occurrences "
        f"on: k-mers that the genome holds once occur {fit.mean:.1f} times on average. Those to the left "
        f"of it are errors; those of more than {limit} occurrences count as repeats. The highest bars are "
        "cut off."
    )
    rows = [(int(m), int(c), float(e)) for m, c, e in zip(at, counts, model, strict=True)]
    drawn = chart(title, caption, plane, ("occurrences", "distinct k-mers", "model"), rows)
    return [drawn, _estimates(estimates, limit)]


def _estimates(estimates: Estimates, limit: int) -> Table:
    def known(value: float, form: Callable[[float], str]) -> str:
        return f"unknown ({estimates.unknown})" if math.isnan(value) else form(value)

    rows = [
        ("coverage", known(estimates.coverage, "{:.1f}".format)),
        ("error rate", known(100 * estimates.error_rate, "{:.2f} %".format)),
        ("genome size, bases", known(estimates.genome_size, short_number)),
        ("mean occurrences of a correct k-mer", known(estimates.kmer_mean, "{:.2f}".format)),
        ("occurrences above which a k-mer is a repeat", str(limit)),
        ("k-mers sampled", f"{estimates.samples:,}"),
        ("pairs of reads that the error rate was measured on", f"{estimates.pairs:,}"),
    ]
    return Table("Estimated from the reads alone", ("what", "value"), rows)
