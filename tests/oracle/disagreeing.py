"""About which bases of contigs the strands of reads disagree, base by base."""

from collections import Counter

from tests.oracle.undecided import runs, turned

MARGIN, AROUND = 1, 64


def disagreeing(contigs, reads, flank):
    """Return contig, start, end, whether reads of the reverse strand lack it, and how many at most.

    A contig is ``(bases, is it circular)``.
    """
    there = Counter(
        (bases[max(0, start - flank) : end + flank], strand)
        for read in reads
        for strand, bases in enumerate((read, turned(read)))
        for start, end, _, _ in runs(bases, flank)
    )
    once = Counter(
        min(word, turned(word)) for bases, circular in contigs for word in _words(bases, circular, flank)
    )
    found = []
    for number, (bases, circular) in enumerate(contigs):
        around = bases[-flank:] + bases + bases[: 2 * flank] if circular else bases
        shift = flank if circular else 0
        has = [[0] * len(bases) for _ in range(2)]
        for start, end, surroundings, _ in runs(around, flank):
            word = around[start - flank : end + flank]
            if not 0 <= start - shift < len(bases) or surroundings == turned(surroundings):
                continue
            if once[min(word, turned(word))] > 1:
                continue
            for strand in range(2):
                for at in range(start - flank - shift, end + flank - shift):
                    place = at % len(bases)
                    has[strand][place] = max(has[strand][place], min(255, there[word, strand]))
        found += [(number, *row) for row in _stretches(has)]
    return sorted(found)


def _words(bases, circular, flank):
    around = bases[-flank:] + bases + bases[: 2 * flank] if circular else bases
    shift = flank if circular else 0
    for start, end, _, _ in runs(around, flank):
        if 0 <= start - shift < len(bases):
            yield around[start - flank : end + flank]


def _stretches(has):
    lacks = []
    for of_strand in has:
        blocks = [max(of_strand[x : x + AROUND]) for x in range(0, len(of_strand), AROUND)]
        most = [min(before, behind) for before, behind in zip([0, *blocks], [*blocks[1:], 0], strict=False)]
        lacks.append([max(0, most[place // AROUND] - times) for place, times in enumerate(of_strand)])
    for strand, other in ((0, 1), (1, 0)):
        start = 0
        while start < len(has[0]):
            end = start
            while end < len(has[0]) and (
                lacks[strand][end] - has[strand][end] > MARGIN
                and has[other][end] - lacks[other][end] > MARGIN
            ):
                end += 1
            if end > start:
                yield start, end, strand == 1, max(lacks[strand][start:end])
            start = end + 1
