"""Which reads lead, follow, and are settled, base by base (``docs/algorithms/correction.md``, 9 and 10)."""

import itertools
from fractions import Fraction


def widened(row, lengths, most=200):
    """Interval of the target, widened at either end as far as both reads go on; a row is (target, read,
    reverse, t_start, t_end, r_start, r_end).
    """
    target, read, reverse, t_start, t_end, r_start, r_end = row
    before, behind = r_start, lengths[read] - r_end
    if reverse:
        before, behind = behind, before
    return t_start - min(t_start, before, most), t_end + min(lengths[target] - t_end, behind, most)


def leads(lengths, rows, leading, following, wave):
    """The reads that neither lead nor follow on a base of which few reads lie that lead or come before it and
    neither lead nor follow: fewer than five for each wave so far.
    """
    found = set()
    for target, length in enumerate(lengths):
        before = leading | (set(range(target)) - following)
        on = [widened(row, lengths) for row in rows if row[0] == target and row[1] in before]
        few = any(sum(a <= base < b for a, b in on) < 5 * wave for base in range(length))
        found |= {target} if few and target not in leading | following else set()
    return found


def few(staying, left_out, percent):
    """Whether the rows left out have at most a share of the bases of those that stay."""
    return sum(b - a for a, b in left_out) <= Fraction(percent, 100) * sum(b - a for a, b in staying)


def beyond(row, left_out):
    """Whether a row, start and end, touches none of the rows left out, or has 1,000 bases in a row beside."""
    free = [not any(a <= base < b for a, b in left_out) for base in range(*row)]
    longest = max(len(list(group)) if key else 0 for key, group in itertools.groupby(free))
    return all(free) or longest >= 1000


def follows(lengths, leading, rows):
    """The reads on each base of which four rows of leaders lie; rows are not widened."""
    return {
        target
        for target, length in enumerate(lengths)
        if target not in leading
        and all(
            sum(row[0] == target and row[3] <= base < row[4] for row in rows) >= 4 for base in range(length)
        )
    }


def settled(reads, rows):
    """Of each read, a string, whether on each base lie six exact rows, and one for two other rows."""
    lengths, found = [len(read) for read in reads], []
    for target, read in enumerate(reads):
        exact, others = [0] * len(read), [0] * len(read)
        for row in rows:
            if row[0] == target:
                whole = same(reads, row)
                start, end = whole or widened(row, lengths)
                for base in range(start, end):
                    (exact if whole else others)[base] += 1
        found.append(all(a >= 6 and 2 * a >= b for a, b in zip(exact, others, strict=True)))
    return found


def same(reads, row):
    """Interval of the target on which both reads go on along the row, if known and the same there."""
    target, read, reverse, t_start, t_end, r_start, r_end = row
    there = reads[read]
    if reverse:
        there = "".join("TGCAN"["ACGTN".index(base)] for base in reversed(there))
        r_start, r_end = len(there) - r_end, len(there) - r_start
    left, right = min(t_start, r_start), min(len(reads[target]) - t_end, len(there) - r_end)
    here, there = reads[target][t_start - left : t_end + right], there[r_start - left : r_end + right]
    known = "N" not in reads[target] and "N" not in reads[read]
    return (t_start - left, t_end + right) if here == there and known else None
