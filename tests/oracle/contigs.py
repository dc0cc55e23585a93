"""Scores of contigs by the k-mers of a reference, from the definitions in ``docs/algorithms/evaluation.md``.

Sequences are text; ``references`` is a list of haplotypes, each a list of (sequence, is circular).
"""

import math
from itertools import pairwise

from tests.oracle.strands import reverse_complement

RUN, SURE, SLACK, SHARE = 60, 25, 10_000, 50


def kmers(sequence, k, circular=False):
    """Yield position, canonical k-mer and whether it is the reverse complement."""
    n = len(sequence)
    text = sequence + sequence[: k - 1] if circular and n >= k else sequence
    for i in range(len(text) - k + 1):
        one = text[i : i + k]
        if set(one) <= set("ACGT"):
            other = reverse_complement(one)
            yield i, min(one, other), other < one


def length_at(lengths, wanted):
    total = 0
    for length in sorted(lengths, reverse=True):
        total += length
        if 2 * total >= wanted:
            return length
    return 0


def neighbours(a, b, sequences, slack):
    """Tell whether marker b may follow a: (contig position, sequence, position, opposite strand)."""
    if a[1] != b[1] or a[3] != b[3]:
        return False
    along = b[0] - a[0]
    distance = a[2] - b[2] if b[3] else b[2] - a[2]
    sequence, circular = sequences[b[1]]
    if circular:
        distance = (distance + len(sequence) // 2) % len(sequence) - len(sequence) // 2
    return SHARE * abs(distance - along) <= SHARE * slack + along


def stretches_of(markers, length, k, sequences, least_run, slack):
    """Return intervals of the contig between breaks."""
    runs = []
    for marker in markers:
        if runs and neighbours(runs[-1][-1], marker, sequences, slack):
            runs[-1].append(marker)
        else:
            runs.append([marker])
    merged = []
    for run in runs:
        if len(run) < least_run:
            continue
        if merged and neighbours(merged[-1][-1], run[0], sequences, slack):
            merged[-1] = merged[-1] + run
        else:
            merged.append(run)
    return [
        (0 if i == 0 else m[0][0], length if i == len(merged) - 1 else m[-1][0] + k)
        for i, m in enumerate(merged)
    ]


def switches_of(haplotypes, least):
    runs = []
    for haplotype in haplotypes:
        if runs and runs[-1][0] == haplotype:
            runs[-1][1] += 1
        else:
            runs.append([haplotype, 1])
    sure = [haplotype for haplotype, size in runs if size >= least]
    return sum(a != b for a, b in pairwise(sure))


def evaluate(contigs, circular, references, k=31, least_run=RUN, sure_run=SURE, slack=SLACK):
    places, sequences, haplotype_of = {}, [], []
    for haplotype, of_haplotype in enumerate(references):
        for sequence, is_circle in of_haplotype:
            number = len(sequences)
            sequences.append((sequence, is_circle))
            haplotype_of.append(haplotype)
            for i, kmer, reverse in kmers(sequence, k, is_circle):
                places.setdefault(kmer, []).append((number, i, reverse))
    has = [
        {kmer for kmer, found in places.items() if any(haplotype_of[p[0]] == h for p in found)}
        for h in range(len(references))
    ]
    own = [
        has[h].difference(*(other for o, other in enumerate(has) if o != h)) for h in range(len(references))
    ]
    seen, total, missing, rows, lengths = set(), 0, 0, [], []
    for contig, is_circle in zip(contigs, circular, strict=True):
        markers, absent, count = [], 0, 0
        for i, kmer, reverse in kmers(contig, k):
            count += 1
            if kmer not in places:
                absent += 1
                continue
            seen.add(kmer)
            if len(places[kmer]) == 1:
                number, position, strand = places[kmer][0]
                markers.append((i, number, position, strand != reverse))
        stretches = stretches_of(markers, len(contig), k, sequences, least_run, slack)
        lengths += [end - start for start, end in stretches]
        of_haplotype = [haplotype_of[m[1]] for m in markers]
        counts = [of_haplotype.count(h) for h in range(len(references))]
        closed = False
        if is_circle and markers:
            first = markers[0]
            closed = neighbours(markers[-1], (first[0] + len(contig), *first[1:]), sequences, slack)
        rows.append(
            {
                "kmers": count, "missing": absent, "markers": counts, "stretches": stretches,
                "closed": closed, "switches": switches_of(of_haplotype, sure_run),
            }
        )  # fmt: skip
        total, missing = total + count, missing + absent
    bases, reference_bases = sum(map(len, contigs)), sum(len(s) for s, _ in sequences)
    wrong = 1 - (1 - missing / total) ** (1 / k)
    marks = sum(sum(row["markers"]) for row in rows)
    return {
        "contigs": rows,
        "n50": length_at(map(len, contigs), bases),
        "ng50": length_at(map(len, contigs), reference_bases),
        "nga50": length_at(lengths, reference_bases),
        "kmers": total,
        "missing": missing,
        "qv": -10 * math.log10(max(wrong, 1e-9)),
        "have": [(len(h & seen), len(h)) for h in has],
        "own": [(len(h & seen), len(h)) for h in own],
        "breaks": sum(max(0, len(row["stretches"]) - 1) for row in rows),
        "unplaced": sum(not row["stretches"] for row in rows),
        "markers": marks,
        "minority": sum(sum(row["markers"]) - max(row["markers"]) for row in rows),
        "switches": sum(row["switches"] for row in rows),
        "closed": sum(row["closed"] for row in rows),
    }
