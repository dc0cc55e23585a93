"""Whether shares differ by more than chance (``docs/algorithms/correction.md``, section 5)."""

from collections import Counter
from fractions import Fraction


def chi_square(first, second):
    """Chi square of the shares that are true in two lists; 0 where it is not defined."""
    table = [Counter(map(bool, one)) for one in (first, second)]
    of_each = [sum(one.values()) for one in table]
    of_all = sum(table, Counter())
    excess = table[0][True] * of_each[1] - table[1][True] * of_each[0]
    by_chance = of_each[0] * of_each[1] * of_all[True] * of_all[False]
    return Fraction(excess**2 * sum(of_each), by_chance) if by_chance else Fraction(0)


def is_of_one_strand(strands, others, least):
    """Whether strands differ from those of others by so many 64ths of a chi square."""
    found = chi_square(strands, others)
    return found > 0 and 64 * found >= least
