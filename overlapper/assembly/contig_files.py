"""Contigs as files: FASTA, GFA 1 and a table.

Lines of FASTA are those of unitigs (`overlapper.graph.export.fasta_line`). In GFA 1, segments have the tags
``LN``, bases; ``dp``, depth; ``RC``, reads. ``A`` lines are those of hifiasm: contig, about where the read
begins on it, strand, read, and about which part of the read that is. ``L`` joins ends of contigs, without a
CIGAR, as polishing changed what the reads aligned; a circle is joined to itself by ``0M``. ``W`` lines say
which contigs are of which haplotype: those whose pieces are of one haplotype and of one phase block, or
shared; the name of the sequence is that of the contig, that of the sample `SAMPLE`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.laid_out import Contigs
from overlapper.assembly.placed import PlacedReads
from overlapper.assembly.rubbish import LeftOut
from overlapper.assembly.telomeres import telomeres
from overlapper.correction.doubt import Doubt, Reason
from overlapper.graph.export import fasta_line
from overlapper.graph.gfa import Walk
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
    "deepest",
    "repeat",
    "alt_group",
)
_TELOMERE, _PASSAGES = "telomere", "passages"
_ENDS = {(False, False): "*", (True, False): "start", (False, True): "end", (True, True): "both"}
SAMPLE = "sample"
"""The name of the sample in walks: reads do not tell it."""
REPEATED = 1.5
"""Copies from which on a contig is a repeat."""


def contig_fasta(contigs: Contigs) -> Iterator[str]:
    """Yield the lines of the sequences."""
    names, lengths = contigs.sequences.names, contigs.sequences.lengths
    for contig, columns in enumerate(zip(names, lengths, contigs.circular, contigs.depth, strict=True)):
        yield fasta_line(*columns)
        yield contigs.sequences.sequence(contig)


def contig_gfa(
    contigs: Contigs,
    placed: PlacedReads,
    read_names: Reads,
    phased: Phased | None = None,
    *,
    bases: bool = True,
) -> Iterator[str]:
    """Yield the lines of segments, their reads, links and haplotypes.

    Parameters
    ----------
    contigs : Contigs
    placed : PlacedReads
    read_names : Reads
        All reads of the input.
    phased : Phased, optional
    bases : bool
        Whether segments have sequences; else these are ``*``.
    """
    yield f"H\tVN:Z:{'1.1' if phased else '1.0'}"
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
    for contig, (haplotype, _) in enumerate(_haplotypes(contigs, phased)):
        if haplotype:
            length = int(contigs.sequences.lengths[contig])
            yield Walk(SAMPLE, haplotype, names[contig], 0, length, [2 * contig]).line(names)


def _haplotypes(contigs: Contigs, phased: Phased | None) -> list[tuple[int, int]]:
    """Return haplotype and phase block of each contig; 0 where it has none, or several."""
    found: list[set[tuple[int, int]]] = [set() for _ in range(len(contigs))]
    if phased:
        columns = (phased.pieces.contig, phased.haplotype, phased.block)
        for contig, haplotype, block in zip(*(column.tolist() for column in columns), strict=True):
            if block:
                found[contig].add((haplotype, block))
    return [next(iter(of)) if len(of) == 1 else (0, 0) for of in found]


def contig_table(
    contigs: Contigs,
    error_rate: float,
    doubt: Doubt,
    phased: Phased | None = None,
    motif: str = "",
    passages: np.ndarray | None = None,
) -> Iterator[str]:
    """Yield a header, and one tab-separated line a contig.

    Columns: name; length in bases; yes or no for circular; reads, contained ones included; depth; copies
    (`Contigs.copies`); quality, the Phred value of the mean chance that a base is wrong; unconfirmed, bases
    that too few reads confirm; contradicted, places that most reads contradict; deepest, the highest depth of
    a stretch compared with the median of the contig, 1 where none stands out; repeat, yes where copies are
    nearer to two or more than to one; alt_group, the phase block of a contig that is of one haplotype, as of
    the other haplotype's contigs there; ``*`` for others. With a motif, telomere says which ends are some.
    With ultra-long reads, passages counts theirs.

    Parameters
    ----------
    contigs : Contigs
    error_rate : float
        Of the reads: the chance that an unconfirmed base is wrong.
    doubt : Doubt
    phased : Phased, optional
    motif : str
        Of telomeres (`overlapper.assembly.telomeres`).
    passages : ndarray of int64, shape (contigs,), optional
        Of ultra-long reads.
    """
    blocks = _haplotypes(contigs, phased)
    more = {_TELOMERE: bool(motif), _PASSAGES: passages is not None}
    yield "\t".join([*_COLUMNS, *(name for name, there in more.items() if there)])
    sequences, copies = contigs.sequences, contigs.copies
    contradicted = np.bincount(doubt.contradicted().contig, minlength=len(contigs))
    deep, deepest = np.flatnonzero(doubt.reason == Reason.DEEP), np.ones(len(contigs))
    np.maximum.at(deepest, doubt.contig[deep], doubt.figure[deep])
    ends = telomeres(sequences, motif) & ~contigs.circular[:, None]
    for contig, name in enumerate(sequences.names):
        quality, unconfirmed = _quality(contigs, contig, error_rate)
        yield "\t".join(
            [
                name, str(sequences.lengths[contig]), "yes" if contigs.circular[contig] else "no",
                str(contigs.reads[contig]), f"{contigs.depth[contig]:.1f}", f"{copies[contig]:.2f}",
                quality, unconfirmed, str(contradicted[contig]), f"{deepest[contig]:.2f}",
                "yes" if copies[contig] >= REPEATED else "no", str(blocks[contig][1] or "*"),
                *([_ENDS[tuple(ends[contig].tolist())]] if motif else []),
                *([] if passages is None else [str(passages[contig])]),
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
