"""Chains of a read on a target; ``overlapper/kernels/consensus/crossings.py`` defines them."""

from tests.oracle import mem_anchors

LOOK_BACK, JUMP, BUCKET, MOST_PLACES, AWAY, TURN = 24, 60, 4096, 16, 128, 8


def crossing(target, read, k):
    """Anchors (first base on target and read, length, edits of the gap before) of a read on its strand."""
    found = anchors_of(target, read, k)
    if is_in_arrays(target, read, k):
        back = anchors_of(target[::-1], read[::-1], k)
        starts = {(i, j) for i, j, _ in found}
        starts |= {(len(read) - i - length, len(target) - j - length) for i, j, length in back}
        found = [(i, j, equal_from(target[j:], read[i:])) for i, j in sorted(starts)]
    made, i, j = [], 0, 0
    for a_i, a_j, length in best_chain(found):
        behind = max(0, i - a_i, j - a_j) if made else 0
        if behind >= length:
            continue
        a_i, a_j, length = a_i + behind, a_j + behind, length - behind
        made.append((a_j, a_i, length, edits(target[j:a_j], read[i:a_i]) if made else 0))
        i, j = a_i + length, a_j + length
    return made


def anchors_of(target, read, k):
    """The anchors between all of both."""
    limits, most = (0, len(target), 0, len(read)), len(target) + len(read)
    return mem_anchors.anchors(target, read, limits, k, len(target), MOST_PLACES, AWAY, TURN, most)


def is_in_arrays(target, read, k):
    """Tell whether a k-mer of the read has too many places to be an anchor at each."""
    window = 0, len(target), 0, len(read)
    here = (
        mem_anchors.places(bytes(target), bytes(read), i, window, k, len(target)) for i in range(len(read))
    )
    return any(len(places) > MOST_PLACES for places in here)


def equal_from(target, read):
    """How many bases two sequences begin with that are known and equal."""
    pairs = zip(target, read, strict=False)
    return next((n for n, (t, r) in enumerate(pairs) if t != r or t > 3), min(len(target), len(read)))


def best_chain(found):
    """The anchors (i, j, length) of the best chain."""
    score, before, highest = [], [], {}
    for a, (i, j, length) in enumerate(found):
        near = list(range(a - 1, max(0, a - LOOK_BACK) - 1, -1))
        far = [highest[bucket] for bucket in sorted(highest, reverse=True) if bucket <= j // BUCKET]
        best, link = 4 * length, None
        for b in [*near, *far]:
            bi, bj, bl = found[b]
            gained = min(length, i + length - bi - bl, j + length - bj - bl)
            if bi < i and bj < j and gained > 0:
                shift = abs(i - bi - j + bj)
                through = score[b] + 4 * gained - min(2 * shift, 4 * JUMP + shift // 2)
                if through > best:
                    best, link = through, b
        score.append(best)
        before.append(link)
        if best > score[highest.setdefault(j // BUCKET, a)]:
            highest[j // BUCKET] = a
    a, chain = score.index(max(score)) if score else None, []
    while a is not None:
        chain.insert(0, found[a])
        a = before[a]
    return chain


def edits(target, read):
    """Edit distance; the bases of the longer one if they are more than 2,048."""
    if max(len(target), len(read)) > 2048:
        return max(len(target), len(read))
    row = list(range(len(read) + 1))
    for t in target:
        last, row = row, [row[0] + 1]
        for x, r in enumerate(read):
            row.append(min(last[x] + (t != r or t > 3), last[x + 1] + 1, row[-1] + 1))
    return row[-1]
