"""Which reads are long and good enough, read by read."""

import math


def mean_quality(qualities):
    """Return the Phred quality of the mean error probability of some bases; 0 of none."""
    if not qualities:
        return 0.0
    return -10 * math.log10(math.fsum(10 ** (-quality / 10) for quality in qualities) / len(qualities))


def passing(records, min_length, min_quality):
    """Return the records (name, bases, qualities) that are left, and how many are too short and too bad."""
    long = [record for record in records if len(record[1]) >= min_length]
    good = [record for record in long if mean_quality(record[2]) >= min_quality]
    return good, len(records) - len(long), len(long) - len(good)
