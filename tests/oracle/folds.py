"""Folds of reads, as `overlapper.assembly.folds` defines them, word by word."""

from collections import defaultdict

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def fold(text, hash_of, k, words, most, spread, least, short, loop, apart, wait, share, share_of_wide):
    """Return the fold of a read; None if it has none. ``hash_of(word)`` is the same for both strands."""
    rest, near = (hash_of, k, words, most, spread), min(len(text), 2 * least)
    place = fold_within(text, *rest, least, loop, apart, wait, share, share_of_wide)
    if place is None:
        place = fold_within(text[:near], *rest, short, loop, apart, wait, share, share_of_wide)
        place = place if place is not None and 2 * place <= near else None
    if place is None:
        place = fold_within(text[len(text) - near :], *rest, short, loop, apart, wait, share, share_of_wide)
        place = len(text) - near + place if place is not None and 2 * place >= near else None
    return place


def fold_within(text, hash_of, k, words, most, spread, least, loop, apart, wait, share, share_of_wide):
    """Return where a text folds back, with arms of some bases at least; None if nowhere."""
    if len(text) < 2 * least:
        return None
    places = defaultdict(list)
    for start in range(len(text) - k + 1):
        word = text[start : start + k]
        other = word[::-1].translate(COMPLEMENT)
        if word != other and hash_of(word) < 4**k // len(text) * min(words, len(text)):
            places[min(word, other)].append((start, word < other))
    pairs = []
    for of_word in places.values():
        for i, (left, strand) in enumerate(of_word if len(of_word) <= most else []):
            pairs += [
                (left + right + k, right - left) for right, other in of_word[i + 1 :] if other != strand
            ]
    pairs.sort()
    windows = [[pair for pair in pairs if last[0] - spread <= pair[0] <= last[0]] for last in pairs]
    if not windows:
        return None
    window = max(windows, key=lambda window: (len(window), -window[-1][0]))
    place = min(window, key=lambda pair: (pair[1] // 2, pair))[0] // 2
    arm = min(place, len(text) - place)
    distances = sorted(distance // 2 for _, distance in window)
    if arm < least or 2 * len(window) < len(pairs):
        return None
    of_arm = [
        start
        for of_word in places.values()
        if len(of_word) <= most
        for start, _ in of_word
        if (start < place) == (2 * place < len(text))
    ]
    widest = max(b - a for a, b in zip(distances, [*distances[1:], arm], strict=True))
    is_wide = apart * widest > arm or distances[0] > max(loop, widest)
    if 100 * len(window) < (share_of_wide if is_wide else share) * len(of_arm):
        return None
    too_wide = is_wide and max(widest, distances[0]) > min(arm // 2, wait)
    return None if too_wide else place
