"""Contigs as files: FASTA, GFA 1 and a table.

FASTA names carry the tags of the GFA file: ``LN``, bases; ``dp``, depth; ``RC``, reads. In GFA 1, ``L`` joins
ends of contigs, without a CIGAR, as polishing changed what the reads aligned; a circle is joined to itself by
``0M``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlapper.assemble.laid_out import Contigs
from overlapper.assemble.rubbish import LeftOut
from overlapper.correct.doubt import Doubt, Reason
from overlapper.kernels.common.error_sums import ONE, error_sums

_LEFT_OUT_COLUMNS = ("left_out", "read", "contig", "start", "end")
_COLUMNS = (
    "name",
    "length",
    "circular",
    "reads",
    "depth",
    "copies",
    "quality",
    "unconfirmed",
    "contradicted",
    "deepest",
)


def contig_fasta(contigs: Contigs) -> Iterator[str]:
    """Yield the lines of the sequences."""
    for contig, name in enumerate(contigs.sequences.names):
        yield f">{name} {' '.join(_tags(contigs, contig))}"
        yield contigs.sequences.sequence(contig)


def contig_gfa(contigs: Contigs) -> Iterator[str]:
    """Yield the lines of segments and links."""
    yield "H\tVN:Z:1.0"
    names = contigs.sequences.names
    for contig, name in enumerate(names):
        yield "\t".join(["S", name, contigs.sequences.sequence(contig), *_tags(contigs, contig)])
        if contigs.circular[contig]:
            yield f"L\t{name}\t+\t{name}\t+\t0M"
    for source, target in zip(contigs.link_source.tolist(), contigs.link_target.tolist(), strict=True):
        ends = (field for end in (source, target) for field in (names[end >> 1], "+-"[end & 1]))
        yield "\t".join(["L", *ends, "*"])


def contig_table(contigs: Contigs, error_rate: float, doubt: Doubt) -> Iterator[str]:
    """Yield a header, and one tab-separated line a contig.

    Columns: name; length in bases; yes or no for circular; reads, contained ones included; depth; copies
    (`Contigs.copies`); quality, the Phred value of the mean chance that a base is wrong; unconfirmed, bases
    that too few reads confirm; contradicted, places that most reads contradict; deepest, the highest depth of
    a stretch compared with the median of the contig, 1 where none stands out.

    Parameters
    ----------
    contigs : Contigs
    error_rate : float
        Of the reads: the chance that an unconfirmed base is wrong.
    doubt : Doubt
    """
    yield "\t".join(_COLUMNS)
    sequences, copies = contigs.sequences, contigs.copies
    contradicted = np.bincount(doubt.contradicted().contig, minlength=len(contigs))
    deep, deepest = np.flatnonzero(doubt.reason == Reason.DEEP), np.ones(len(contigs))
    np.maximum.at(deepest, doubt.contig[deep], doubt.figure[deep])
    for contig, name in enumerate(sequences.names):
        quality, unconfirmed = _quality(contigs, contig, error_rate)
        yield "\t".join(
            [
                name, str(sequences.lengths[contig]), "yes" if contigs.circular[contig] else "no",
                str(contigs.reads[contig]), f"{contigs.depth[contig]:.1f}", f"{copies[contig]:.2f}",
                quality, unconfirmed, str(contradicted[contig]), f"{deepest[contig]:.2f}",
            ]
        )  # fmt: skip


def left_out_table(left_out: LeftOut, names: list[str], contigs: Contigs) -> Iterator[str]:
    """Yield a header, and one tab-separated line a read of contigs that are left out.

    Columns: number of the contig that is left out; read; contig that it belongs to, and about where the
    contig that is left out lies there (0-based, half open); ``*``, 0 and 0 if it belongs to none.
    """
    yield "\t".join(_LEFT_OUT_COLUMNS)
    known = [*contigs.sequences.names, "*"]  # which `NOWHERE` is the number of
    columns = (left_out.group, left_out.contig, left_out.start, left_out.end)
    for name, (group, contig, start, end) in zip(names, zip(*columns, strict=True), strict=True):
        yield "\t".join(map(str, (group, name, known[contig], start, end)))


def _tags(contigs: Contigs, contig: int) -> list[str]:
    length, depth, reads = (
        values[contig] for values in (contigs.sequences.lengths, contigs.depth, contigs.reads)
    )
    return [f"LN:i:{length}", f"dp:f:{depth:.2f}", f"RC:i:{reads}"]


def _quality(contigs: Contigs, contig: int, error_rate: float) -> tuple[str, str]:
    """Return the quality of a contig, and how many of its bases are not confirmed."""
    qualities = contigs.sequences.qualities_of(contig)
    assert qualities is not None
    confirmed = qualities[qualities > 0]
    unconfirmed = len(qualities) - len(confirmed)
    summed = error_sums(confirmed, np.array([0, len(confirmed)]))[0] / ONE + unconfirmed * error_rate
    wrong = summed / len(qualities) if summed else 1.0
    return f"{-10 * np.log10(wrong) + 0.0:.1f}", str(unconfirmed)
