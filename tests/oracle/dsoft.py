"""D-SOFT candidates, straight from the definition in docs/algorithms/dsoft.md."""

from collections import defaultdict

from tests.oracle.minimizers import minimizers
from tests.oracle.tandem import is_tandem


def hits(sequences, k, w, limit):
    """All hits as (query, target, reverse) -> sorted list of (query position, target position)."""
    where = defaultdict(list)
    for read, sequence in enumerate(sequences):
        for value, position, strand in minimizers(sequence, k, w):
            where[value].append((read, position, strand))
    found = defaultdict(list)
    for occurrences in where.values():
        tandem = is_tandem([(read, position) for read, position, _ in occurrences])
        if 2 <= len(occurrences) <= limit and not tandem:
            for query, q, q_strand in occurrences:
                for target, t, t_strand in occurrences:
                    if query < target:
                        found[query, target, q_strand != t_strand].append((q, t))
    return {pair: sorted(places) for pair, places in found.items()}


def best_window(places, diagonal, k, band_width):
    """Most query bases that the seeds of a window cover, and the lowest window of those that have so many."""
    windows = defaultdict(set)
    for q, t in places:
        band = diagonal[q, t] // band_width
        for window in (band - 1, band):
            windows[window] |= set(range(q, q + k))
    bases, window = max((len(covered), -window) for window, covered in windows.items())
    return bases, -window


def candidates(sequences, k, w, limit, band_width, min_bases, drift, most_windows, min_share):
    """Rows (query, target, reverse, query_pos, target_pos, seeds, span, hits), sorted."""
    rows = []
    for (query, target, reverse), places in sorted(hits(sequences, k, w, limit).items()):
        q_length, t_length = len(sequences[query]), len(sequences[target])
        diagonal = {(q, t): (t_length - k - t if reverse else t) - q for q, t in places}
        least = min_bases
        for number in range(most_windows):
            bases, window = best_window(places, diagonal, k, band_width)
            if bases < least:
                break
            if number == 0:
                least = max(min_bases, bases * min_share // 100)
            centre = (window + 1) * band_width
            span = min(q_length, t_length - centre) - max(0, -centre)
            reach = max(band_width, max(span, 0) * drift // 1000)
            near = [place for place in places if centre - reach <= diagonal[place] < centre + reach]
            inside = [p for p in near if centre - band_width <= diagonal[p] < centre + band_width]
            seed = inside[len(inside) // 2]
            rows.append((query, target, reverse, *seed, bases, max(span, 1), near))
            places = [place for place in places if place not in near]
            if not places:
                break
    return rows
