"""Contigs as files: FASTA, GFA 1 and a table.

Lines of FASTA say behind the name what readers of Flye's, Unicycler's and hifiasm's contigs look for:
``length=``, ``circular=`` and ``depth=``. In GFA 1, segments have the tags ``LN``, bases; ``dp``, depth;
``RC``, reads. ``A`` lines are those of hifiasm: contig, about where the read begins on it, strand, read, and
about which part of the read that is. ``L`` joins ends of contigs, without a CIGAR, as polishing changed what
the reads aligned; a circle is joined to itself by ``0M``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from overlapper.assemble.laid_out import Contigs
from overlapper.assemble.placed import PlacedReads
from overlapper.assemble.rubbish import LeftOut
from overlapper.kernels.common.error_sums import ONE, error_sums
from overlapper.tables import Reads

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
)


def contig_fasta(contigs: Contigs) -> Iterator[str]:
    """Yield the lines of the sequences."""
    for contig, name in enumerate(contigs.sequences.names):
        circular = "true" if contigs.circular[contig] else "false"
        length, depth = contigs.sequences.lengths[contig], contigs.depth[contig]
        yield f">{name} length={length} circular={circular} depth={depth:.2f}x"
        yield contigs.sequences.sequence(contig)


def contig_gfa(
    contigs: Contigs, placed: PlacedReads, read_names: Reads, *, bases: bool = True
) -> Iterator[str]:
    """Yield the lines of segments, their reads, and links.

    Parameters
    ----------
    contigs : Contigs
    placed : PlacedReads
    read_names : Reads
        All reads of the input.
    bases : bool
        Whether segments have sequences; else these are ``*``.
    """
    yield "H\tVN:Z:1.0"
    names = contigs.sequences.names
    bounds = np.searchsorted(placed.contig, np.arange(len(contigs) + 1))
    for contig, name in enumerate(names):
        spelled = contigs.sequences.sequence(contig) if bases else "*"
        yield "\t".join(["S", name, spelled, *_tags(contigs, contig)])
        for row in range(bounds[contig], bounds[contig + 1]):
            start, strand = max(int(placed.start[row]), 0), "+-"[int(placed.reverse[row])]
            part = placed.r_start[row], placed.r_end[row]
            yield f"A\t{name}\t{start}\t{strand}\t{read_names.name(placed.read[row])}\t{part[0]}\t{part[1]}"
        if contigs.circular[contig]:
            yield f"L\t{name}\t+\t{name}\t+\t0M"
    for source, target in zip(contigs.link_source.tolist(), contigs.link_target.tolist(), strict=True):
        ends = (field for end in (source, target) for field in (names[end >> 1], "+-"[end & 1]))
        yield "\t".join(["L", *ends, "*"])


def contig_table(contigs: Contigs, error_rate: float, contradicted: Mapping[str, int]) -> Iterator[str]:
    """Yield a header, and one tab-separated line a contig.

    Columns: name; length in bases; yes or no for circular; reads, contained ones included; depth; copies
    (`Contigs.copies`); quality, the Phred value of the mean chance that a base is wrong; unconfirmed, bases
    that too few reads confirm; contradicted, places that most reads contradict.

    Parameters
    ----------
    contigs : Contigs
    error_rate : float
        Of the reads: the chance that an unconfirmed base is wrong.
    contradicted : mapping of str to int
        Such places of contigs, by name, that have any.
    """
    yield "\t".join(_COLUMNS)
    sequences, copies = contigs.sequences, contigs.copies
    for contig, name in enumerate(sequences.names):
        quality, unconfirmed = _quality(contigs, contig, error_rate)
        yield "\t".join(
            [
                name, str(sequences.lengths[contig]), "yes" if contigs.circular[contig] else "no",
                str(contigs.reads[contig]), f"{contigs.depth[contig]:.1f}", f"{copies[contig]:.2f}",
                quality, unconfirmed, str(contradicted.get(name, 0)),
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
