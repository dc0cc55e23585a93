"""How many reads have each run of a contig between its surroundings, and how many have another one there."""

from collections import Counter

COMPLEMENT = str.maketrans("ACGT", "TGCA")
LETTERS = "ACGT"
LONGEST = 1023
FEW, TIMES = 3, 2


def turned(bases):
    return bases.translate(COMPLEMENT)[::-1]


def runs(bases, flank):
    """Yield start, end, surroundings and allele of each run, as they are on the strand that is told by."""
    start = 0
    while start < len(bases):
        end = start
        while end < len(bases) and bases[end] == bases[start]:
            end += 1
        before, behind = bases[max(0, start - flank) : start], bases[end : end + flank]
        around = before + behind
        if len(around) == 2 * flank and set(around + bases[start]) <= set(LETTERS):
            base, other = bases[start], turned(around)
            if other < around or (other == around and turned(base) < base):
                around, base = other, turned(base)
            yield start, end, around, (base, min(end - start, LONGEST))
        start = end


def undecided(contigs, reads, flank):
    """Return contig, start, end, how many reads have it, how many the most frequent other one, and that one.

    A contig is ``(bases, is it circular)``. The other one is ``(base, length)`` on the strand of the contig,
    ("", 0) where there is none. Only runs count that at most one read more has.
    """
    here, there = {}, Counter()
    for number, (bases, circular) in enumerate(contigs):
        around = bases[-flank:] + bases + bases[: 2 * flank] if circular else bases
        shift = flank if circular else 0
        for start, end, surroundings, allele in runs(around, flank):
            if 0 <= start - shift < len(bases):
                here[number, start - shift, end - shift] = surroundings, allele, bases[(start - shift)]
    told = {(surroundings, allele) for surroundings, allele, _ in here.values()}
    for read in reads:
        there.update((surroundings, allele) for _, _, surroundings, allele in runs(read, flank))
    found = []
    for (number, start, end), (surroundings, allele, base) in here.items():
        others = [
            (-count, *other) for (where, other), count in there.items()
            if where == surroundings and (where, other) not in told
        ]  # fmt: skip
        count, letter, length = min(others, default=(0, "", 0))
        of_contigs = [(-there[one], *one[1]) for one in told if one[0] == surroundings]
        if there[surroundings, allele] <= FEW and -min(of_contigs)[0] >= max(
            TIMES * there[surroundings, allele], 1 - count
        ):
            count, letter, length = min(of_contigs)
        if there[surroundings, allele] + count <= 1:
            if letter and allele[0] != base:
                letter = turned(letter)
            found.append((number, start, end, there[surroundings, allele], -count, letter, length))
    return sorted(found)
