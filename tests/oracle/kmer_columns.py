"""What columns of counted k-mers tell, k-mer by k-mer; a column is a list of (sequence, first base)."""

import collections
import itertools


def not_in_two(columns):
    """Return occurrences of k-mers that one sequence alone has, and 1, or that more than two have, and 0."""
    having = [({sequence for sequence, _ in column}, column) for column in columns]
    return [(*place, int(len(of) == 1)) for of, column in having if len(of) != 2 for place in column]


def frequent(columns, least, behind):
    """Return the columns of k-mers that enough sequences have, and none of those from ``behind`` on."""
    having = [({sequence for sequence, _ in column}, column) for column in columns]
    return [column for of, column in having if len(of) >= least and max(of) < behind]


def shared(columns, pieces, bin_size, k):
    """Return how many k-mers pairs of pieces share, by (one, other, bin, whether between sites).

    A piece is (sequence, start, end, first site, behind the last one), the last two equal without sites.
    """

    def piece_at(sequence, base):
        return next(
            i for i, (of, start, end, *_) in enumerate(pieces) if of == sequence and start <= base < end
        )

    def sites(piece):
        return pieces[piece][4] - pieces[piece][3]

    def length(piece):
        return pieces[piece][2] - pieces[piece][1]

    def between(piece, base):
        return pieces[piece][3] <= base and base + k <= pieces[piece][4]

    found = collections.Counter()
    for column in columns:
        for (of_one, one), (of_other, other) in itertools.combinations(column, 2):
            a, b = piece_at(of_one, one), piece_at(of_other, other)
            if a == b:
                continue
            found[a, b, (one if length(a) <= length(b) else other) // bin_size, False] += 1
            if sites(a) and sites(b) and between(a, one) and between(b, other):
                found[a, b, (one if sites(a) <= sites(b) else other) // bin_size, True] += 1
    return dict(found)
