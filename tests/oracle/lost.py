"""Lost k-mers and the contigs that have them by the definition in docs/algorithms/haplotypes.md."""

from tests.oracle.strands import reverse_complement

K, LEAST, END, CONFIRMED = 31, 2_000, 150, 3


def kmers_of(bases):
    """Return the canonical k-mers of a sequence, with the first base of each."""
    there = [(bases[at : at + K], at) for at in range(len(bases) - K + 1)]
    return [(min(kmer, reverse_complement(kmer)), at) for kmer, at in there if set(kmer) <= set("ACGT")]


def lost_kmers(reads, placed, contigs, depth):
    """Return (read, first base) of the k-mers that half of ``depth`` reads have, and no contig.

    Three reads or more have to have them. Those in the first and last `END` bases of reads are left out.
    """
    in_contigs = {kmer for contig in contigs for kmer, _ in kmers_of(contig)}
    having = {}
    for number, bases in enumerate(reads):
        if number not in placed:
            for kmer, at in kmers_of(bases):
                if kmer not in in_contigs:
                    having.setdefault(kmer, []).append((number, at))
    least = max(depth / 2, CONFIRMED)
    enough = (places for places in having.values() if len({read for read, _ in places}) >= least)
    inside = ((read, at) for places in enough for read, at in places)
    return sorted((read, at) for read, at in inside if END <= at <= len(reads[read]) - END - K)


def contigs_with(lost, rows, contigs):
    """Return the contigs that hold what is lost; rows are (contig, start, read, r_start, r_end, reverse)."""
    places = [[] for _ in range(contigs)]
    for contig, start, read, r_start, r_end, reverse in rows:
        for number, at in lost:
            if number == read and r_start <= at and at + K <= r_end:
                places[contig].append(start + (r_end - at - K if reverse else at - r_start))
    return [i for i, at in enumerate(places) if at and max(at) + K - min(at) >= LEAST]
