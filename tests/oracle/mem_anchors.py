"""Anchors and chains by trying everything; ``overlapper/kernels/consensus/mem_anchors.py`` defines them."""


def places(target, read, i, window, k, band):
    """Where the k-mer at base i of the read stands near the line; both are bytes."""
    t_start, t_end, r_start, r_end = window
    kmer = read[i : i + k]
    if any(code > 3 for code in kmer):
        return []
    line = t_start + (i - r_start) * (t_end - t_start) // max(1, r_end - r_start)
    found, end = [], min(t_end, line + band + k)
    j = target.find(kmer, max(t_start, line - band), end)
    while j >= 0:
        found.append(j)
        j = target.find(kmer, j + 1, end)
    return found


def anchors(target, read, window, k, band, most_places, away, turn, most):
    """Maximal matches (i, j, length), from their first k-mer on that counts."""
    t_start, t_end, r_start, r_end = window
    target, read, found, counts = bytes(target), bytes(read), [], set()
    latest = -away - 1
    for i in range(r_start, r_end - k + 1):
        here = places(target, read, i, window, k, band)
        if len(here) > 1:
            if i - latest > away:
                line = t_start + (i - r_start) * (t_end - t_start) // max(1, r_end - r_start)
                end, followed = sure(found, turn) or (i if band < len(target) else r_end, line - i)
            latest, nearest = i, min(here, key=lambda j: abs(j - i - followed))
            follows = i >= end and abs(nearest - i - followed) <= 1 + (i - end) // turn
            if follows:
                followed, end = nearest - i, i
                while end < r_end and end + followed < t_end and read[end] == target[end + followed] < 4:
                    end += 1
            if len(here) > most_places:
                here = [nearest] if follows else []
                counts.update((i, j) for j in here)
        for j in here:
            x = 0
            while i - x > r_start and j - x > t_start and read[i - x - 1] == target[j - x - 1] < 4:
                x += 1
                few = len(places(target, read, i - x, window, k, band)) <= most_places
                if few or (i - x, j - x) in counts:
                    break
            else:
                x = 0
            if x:
                continue
            length = 0
            while (
                i + length < r_end
                and j + length < t_end
                and read[i + length] == target[j + length]
                and read[i + length] < 4
            ):
                length += 1
            found.append((i, j, length))
    return found[:most]


def sure(found, turn):
    """End and diagonal of the sure anchor that ends last; None if there is none."""
    last = latest = (0, 0, 0)
    for i, j, length in found:
        goes_on, again = (abs(j - i - d) <= 1 + max(0, i - end) // turn for end, d, _ in (last, latest))
        if i + length >= last[0] and (goes_on or again or length > last[2]):
            last = i + length, j - i, max(length, last[2]) if goes_on else length
        if i + length >= latest[0]:
            latest = i + length, j - i, 0
    return last[:2] if found else None


def best_chain(found, max_gap, look_back, max_shift, near):
    """The anchors of the best chain."""
    score, before, latest = [], [], {}
    for a, (i, j, length) in enumerate(found):
        best, link = 4 * length, None
        around = {j - i + d for d in range(-near, near + 1)}
        others = set(range(max(0, a - look_back), a))
        others |= {latest[diagonal] for diagonal in around if diagonal in latest}
        for b in sorted(others, reverse=True):
            bi, bj, bl = found[b]
            di, dj = i + length - bi - bl, j + length - bj - bl
            follows = bi < i and bj < j and di > 0 and dj > 0
            close = i - bi - bl <= max_gap and j - bj - bl <= max_gap and abs(di - dj) <= max_shift
            if follows and close:
                through = score[b] + 4 * min(length, di, dj) - 2 * abs(di - dj)
                if through > best:
                    best, link = through, b
        score.append(best)
        before.append(link)
        latest[j - i] = a
    a, chain = score.index(max(score)), []
    while a is not None:
        chain.insert(0, found[a])
        a = before[a]
    return chain
