"""Occurrences of a seed index, from the definition: packed in bytes, by hash and by read.

An occurrence is (is last of its group, read, position, strand); groups come one after the other.
"""


def layout(lengths):
    """Return the bytes of an occurrence of reads of these lengths, and the bits of its position."""
    position_bits = len(f"{max(lengths) - 1:b}") if max(lengths) > 1 else 0
    read_bits = len(f"{len(lengths) - 1:b}") if len(lengths) > 1 else 0
    return (1 + read_bits + position_bits + 1 + 7) // 8, position_bits


def packed(occurrences, width, position_bits):
    """Return occurrences as bytes: the flag is the highest bit, the strand the lowest."""
    numbers = [
        last * 2 ** (8 * width - 1) + read * 2 ** (1 + position_bits) + position * 2 + strand
        for last, read, position, strand in occurrences
    ]
    return b"".join(number.to_bytes(width, "little") for number in numbers)


def of_groups(groups):
    """Return the occurrences of groups of (read, position, strand)."""
    return [(place == len(group) - 1, *one) for group in groups for place, one in enumerate(sorted(group))]


def numbers_by_read(occurrences, none):
    """Return the numbers of occurrences by read and position; ``none`` for the last of each group."""
    places = sorted((read, position, number) for number, (_, read, position, _) in enumerate(occurrences))
    return [none if occurrences[number][0] else number for _, _, number in places]


def hits(occurrences, step):
    """Return how many later ones of its group every ``step``-th occurrence has."""
    later = []
    for last, *_ in reversed(occurrences):
        later.append(0 if last else later[-1] + 1)
    return sum(later[::-1][::step])
