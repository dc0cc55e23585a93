"""Haplotypes as files: FASTA and GFA 1 of each and of primary contigs, and a table of phase blocks.

Names are those of hifiasm: ``h1tg`` and ``h2tg`` for the haplotypes, ``ptg`` for primary contigs, then a
number, and ``c`` or ``l`` for circular or linear. Tags: ``LN``, bases; ``dp``, depth; ``pb:i``, phase block;
``ut:Z``, stretches of contigs that it consists of, ``NAME:START-END`` and the strand. Lines of FASTA are
those of contigs, with the last two tags behind.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlapper.assembly.haplotigs import Haplotig, Haplotypes, spelled
from overlapper.assembly.haplotypes import Phased
from overlapper.assembly.laid_out import Contigs
from overlapper.graph.export import fasta_line

_COLUMNS = ("block", "haplotype", "contig", "start", "end", "sites")


def haplotype_files(haplotypes: Haplotypes, contigs: Contigs) -> list[Iterator[str]]:
    """Return the lines of all files: FASTA and GFA of each haplotype and of primary contigs; phase blocks."""
    sets = (haplotypes.first, "h1tg"), (haplotypes.second, "h2tg"), (haplotypes.primary, "ptg")
    files = [write(*each, contigs) for each in sets for write in (haplotig_fasta, haplotig_gfa)]
    return [*files, block_table(haplotypes.phased, contigs)]


def names_of(haplotigs: list[Haplotig], prefix: str) -> list[str]:
    """Return the names of the contigs of a haplotype, or of primary contigs."""
    return [f"{prefix}{i:06d}{'c' if one.circular else 'l'}" for i, one in enumerate(haplotigs, start=1)]


def haplotig_fasta(haplotigs: list[Haplotig], prefix: str, contigs: Contigs) -> Iterator[str]:
    """Yield the lines of the sequences."""
    for name, one in zip(names_of(haplotigs, prefix), haplotigs, strict=True):
        line = fasta_line(name, one.length, one.circular, _depth(one, contigs))
        yield " ".join([line, *_tags(one, contigs)[2:]])
        yield spelled(one, contigs.sequences)


def haplotig_gfa(haplotigs: list[Haplotig], prefix: str, contigs: Contigs) -> Iterator[str]:
    """Yield the lines of segments and links: ``0M`` where pieces are adjacent, ``*`` for links of contigs."""
    yield "H\tVN:Z:1.0"
    names = names_of(haplotigs, prefix)
    at_end: dict[int, tuple[str, str]] = {}
    for name, one in zip(names, haplotigs, strict=True):
        yield "\t".join(["S", name, spelled(one, contigs.sequences), *_tags(one, contigs)])
        if one.circular:
            yield f"L\t{name}\t+\t{name}\t+\t0M"
        first, last = one.parts[0], one.parts[-1]
        for part, reverse, strand in ((last, last.reverse, "+"), (first, not first.reverse, "-")):
            outermost = part.start == 0 if reverse else part.end == contigs.sequences.lengths[part.contig]
            if outermost:
                at_end[2 * part.contig + reverse] = name, strand
    begins = {one.parts[0][:2]: name for name, one in zip(names, haplotigs, strict=True)}
    for name, one in zip(names, haplotigs, strict=True):
        contig, _, end, _ = one.parts[-1]
        if contigs.circular[contig]:
            end %= contigs.sequences.lengths[contig]
        if not one.circular and (following := begins.get((contig, end))):
            yield f"L\t{name}\t+\t{following}\t+\t0M"
    turned = {"+": "-", "-": "+"}
    for source, target in zip(contigs.link_source.tolist(), contigs.link_target.tolist(), strict=True):
        if source in at_end and target ^ 1 in at_end:
            (name, strand), (other, other_strand) = at_end[source], at_end[target ^ 1]
            yield "\t".join(["L", name, strand, other, turned[other_strand], "*"])


def block_table(phased: Phased, contigs: Contigs) -> Iterator[str]:
    """Yield a header, and one tab-separated line a piece of a contig.

    Columns: phase block, 0 for what haplotypes share; haplotype, 1, 2 or 0; contig, start and end there
    (0-based, half open); sites, k-mers that tell it from the other haplotype.
    """
    yield "\t".join(_COLUMNS)
    pieces, names = phased.pieces, contigs.sequences.names
    order = np.lexsort([pieces.start, pieces.contig, phased.haplotype, phased.block])
    for row in order.tolist():
        values = phased.block[row], phased.haplotype[row], names[pieces.contig[row]]
        yield "\t".join(map(str, (*values, pieces.start[row], pieces.end[row], pieces.sites[row])))


def _tags(one: Haplotig, contigs: Contigs) -> list[str]:
    names = contigs.sequences.names
    stretches = (f"{names[part.contig]}:{part.start}-{part.end}{'+-'[part.reverse]}" for part in one.parts)
    depth = f"dp:f:{_depth(one, contigs):.2f}"
    return [f"LN:i:{one.length}", depth, f"pb:i:{one.block}", f"ut:Z:{','.join(stretches)}"]


def _depth(one: Haplotig, contigs: Contigs) -> float:
    lengths = [part.end - part.start for part in one.parts]
    return float(np.average([contigs.depth[part.contig] for part in one.parts], weights=lengths))
