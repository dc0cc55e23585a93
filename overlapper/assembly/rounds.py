"""Small circles that contigs go round more than once.

A molecule that is two or more copies of a small plasmid in a row contains all its monomers, and is laid out
alone::

    contig       ─────────────────────────────────────────    one round and a half, or more
    monomers       ──────────────────
                               ───────────────────            reads of one round at most, from any base on

**Rounds.** Words of `K` bases pair the places of a contig where they occur with those where they occur next.
Of all windows of distances, `SPREAD` wide, that with most pairs has the *period*, its first pair by place. A
contig goes round a circle if

- from the first pair of the window to the last one, no two neighbours are more than `APART` bases apart,
- no more than `MAX_HANG` bases, as overlaps may leave at ends of reads, are before the first one, and behind
  the last one and its period,
- it is joined to no contig but such of the same period, those of a molecule of which copies differ, and one
  of these has `LEAST` periods at least (a linear molecule with the same at both ends has fewer),
- at least half of its reads are no longer than one round. Reads of satellites and of other arrays are.

What is left is the first round, a circle.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.graph.stats import joined
from overlapper.params.graph import MAX_HANG
from overlapper.sketch.words import NO_WORD, words_of
from overlapper.tables import Reads

K = 11
"""Bases of a word: at an error rate of 14 % two reads share one of 28 places."""
SPREAD = 1.02
"""Chosen: insertions and deletions of noisy reads change the length of a round by less."""
ONE = 1.05
"""Periods that a read of one round has, at most: some with what is left of adapters."""
LEAST, APART = 1.5, 500
"""Chosen: 500 bases without a pair have a chance of 10^-8 at an error rate of 14 %."""
MOST_READS = 4
"""A contig is looked at that is no longer than so many times its longest read: others are of many reads."""


def in_one_round(laid_out: LaidOut) -> LaidOut:
    """Return contigs of which none goes round a small circle more than once."""
    contigs, own = laid_out.contigs, laid_out.reads
    bases = own.r_end.astype(np.int64) - own.r_start
    lengths, longest = contigs.sequences.lengths, np.zeros(len(contigs), np.int64)
    np.maximum.at(longest, own.unitig, bases)
    component = joined(contigs.link_source >> 1, contigs.link_target >> 1, len(contigs))
    small = np.ones(len(contigs), np.bool_)
    small[component[lengths > MOST_READS * longest]] = False
    first, period, rounds = np.zeros((3, len(contigs)))
    for contig in np.flatnonzero(small[component]).tolist():
        begin, round_, times = _first_round(contigs.sequences.codes(contig))
        if round_ and np.median(bases[own.unitig == contig]) <= ONE * round_:
            first[contig], period[contig], rounds[contig] = begin, round_, times
    found: dict[int, tuple[int, int]] = {}
    for some in np.unique(component[rounds >= LEAST]):
        of_it = np.flatnonzero(component == some)
        if period[of_it].max() <= SPREAD * period[of_it].min():
            found |= {contig: (int(first[contig]), int(period[contig])) for contig in of_it.tolist()}
    return _cut_to(laid_out, found) if found else laid_out


def _first_round(codes: np.ndarray) -> tuple[int, int, float]:
    """Return where the first round of a contig begins, its bases, and how many rounds there are; else 0."""
    words = words_of(codes, K)
    order = np.argsort(words, kind="stable")
    order = order[np.count_nonzero(words == NO_WORD) :]  # which are the first ones
    equal = np.flatnonzero(words[order[1:]] == words[order[:-1]])
    before, behind = order[equal], order[equal + 1]
    by_distance = np.argsort(behind - before, kind="stable")
    before, behind = before[by_distance], behind[by_distance]
    distance = behind - before
    count = np.searchsorted(distance, SPREAD * distance, "right") - np.arange(len(distance))
    if not len(count):
        return 0, 0, 0.0
    window = slice(count.argmax(), count.argmax() + count.max())
    first = window.start + int(before[window].argmin())
    period = int(distance[first])
    seen = np.sort(before[window])
    start, end = int(seen[0]), int(seen[-1]) + period
    whole = max(start, len(codes) - end) <= MAX_HANG and np.diff(seen, prepend=start).max() <= APART
    return (start, period, (end - start) / period) if whole else (0, 0, 0.0)


def _cut_to(laid_out: LaidOut, found: dict[int, tuple[int, int]]) -> LaidOut:
    """Cut some contigs to one round each, and put all in order."""
    contigs, own = laid_out.contigs, laid_out.reads
    texts = [contigs.sequences.sequence(contig) for contig in range(len(contigs))]
    circular, depth = contigs.circular.copy(), contigs.depth.copy()
    start, r_start, r_end = own.start.copy(), own.r_start.copy(), own.r_end.copy()
    for contig, (first, period) in found.items():
        texts[contig], circular[contig] = texts[contig][first : first + period], True
        on = own.unitig == contig
        start[on] = (start[on] - first) % period
        longer = np.maximum((r_end - r_start)[on] - period, 0).astype(np.int32)
        r_start[on] += np.where(own.reverse[on], longer, 0)
        r_end[on] -= np.where(own.reverse[on], 0, longer)
        depth[contig] = (r_end - r_start)[on].sum() / period
    stays = ~np.isin(contigs.link_source >> 1, list(found))
    sequences = Reads.from_sequences([""] * len(texts), texts)
    made = Contigs(
        sequences, circular, depth, contigs.reads,
        contigs.link_source[stays], contigs.link_target[stays], contigs.link_overlap[stays],
    )  # fmt: skip
    own = dataclasses.replace(
        own, start=start, r_start=r_start, r_end=r_end, unitig_length=sequences.lengths[own.unitig]
    )
    return LaidOut(made, own).longest_first()
