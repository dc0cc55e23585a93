"""Sites of a reference, and what corrected reads have there, from ``docs/algorithms/evaluation.md``.

A path is a list of operations, one a base: ``=``, ``X``, ``I`` (of the read alone), ``D``.
"""

from tests.oracle.strands import reverse_complement


def sites(sequences, k=31):
    """Return {(sequence, position): other bases} of (sequence, is circular)."""
    half = k // 2
    middles, places = {}, []
    for number, (sequence, circular) in enumerate(sequences):
        n = len(sequence)
        text = sequence + sequence[: k - 1] if circular and n >= k else sequence
        for i in range(len(text) - k + 1):
            kmer = text[i : i + k]
            if not set(kmer) <= set("ACGT"):
                continue
            for strand, word in ((0, kmer), (1, reverse_complement(kmer))):
                flanks, middle = word[:half] + word[half + 1 :], word[half]
                if flanks == reverse_complement(flanks):
                    continue
                middles.setdefault(flanks, set()).add(middle)
                if strand == 0:
                    places.append((number, (i + half) % n, flanks, middle))
    return {
        (number, position): middles[flanks] - {middle}
        for number, position, flanks, middle in places
        if len(middles[flanks]) > 1
    }


def states(path, start, read):
    """Return {position: (base or - where it is deleted, whether an insertion follows)} of an aligned read."""
    found, p, q = {}, start, 0
    for operation in path:
        if operation in "=X":
            found[p] = (read[q], False)
            p, q = p + 1, q + 1
        elif operation == "D":
            found[p] = ("-", False)
            p += 1
        else:
            found[p - 1] = (found[p - 1][0], True)
            q += 1
    return found


def kinds(found, reference, other_bases):
    """Count own, other and neither at sites; ``other_bases`` by position."""
    counts = [0, 0, 0]
    for position, (base, _) in found.items():
        if position in other_bases:
            own = base == reference[position]
            counts[0 if own else 1 if base in other_bases[position] else 2] += 1
    return counts


def compared(before, after, reference, other_bases):
    """Return mended, left, introduced of bases, then mended, left, lost of sites."""
    bases, at_sites = [0, 0, 0], [0, 0, 0]
    for p in before.keys() & after.keys():
        right = [state[p] == (reference[p], False) for state in (before, after)]
        own = [state[p][0] == reference[p] for state in (before, after)]
        for counts, (was, is_) in ((bases, right), (at_sites, own)):
            if counts is at_sites and p not in other_bases:
                continue
            if not was:
                counts[0 if is_ else 1] += 1
            elif not is_:
                counts[2] += 1
    return bases + at_sites
