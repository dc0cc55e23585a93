"""Mapping, straight from docs/algorithms/mapping.md. Parameters come as dictionaries of their names."""

import math
import re

from tests.oracle import edit_paths, minimizers
from tests.oracle.strands import reverse_complement

CODES = {base: code for code, base in enumerate("ACGT")}
PAIRED = ("=", "X")


def uncrowded(seeds, most):
    """Of seeds ``(first base on the read, length, number of places)``, those that have anchors."""
    kept, stretches = set(), {}
    for start, length, places in seeds:
        stretches.setdefault(start // 512, []).append((places, start, length))
    for found in stretches.values():
        total = 0
        for places, start, length in sorted(found):
            total += places
            if total <= most:
                kept.add((start, length))
    return kept


def minimizer_anchors(read, reference, k, w, limit, most):
    """``(reverse, sequence, y, x, length)``, in order."""
    places = {}
    for sequence, text in enumerate(reference):
        for value, position, strand in minimizers.minimizers(text, k, w):
            places.setdefault(value, []).append((sequence, position, strand))
    anchors = []
    seeds = [seed for seed in minimizers.minimizers(read, k, w) if 0 < len(places.get(seed[0], [])) <= limit]
    kept = uncrowded([(position, k, len(places[value])) for value, position, _ in seeds], most)
    for value, position, strand in seeds:
        for sequence, y, other in places[value] if (position, k) in kept else []:
            reverse = strand != other
            anchors.append((reverse, sequence, y, len(read) - k - position if reverse else position, k))
    return sorted(anchors)


def gap_cost(gap, p):
    return p["gap_cost"] * gap + (p["doubling_cost"] * int(math.log2(gap)) if gap else 0)


def chain_scores(anchors, p):
    """Score of the best chain that ends at each anchor, and the anchor before it."""
    score, before = [], []
    for i, (reverse, sequence, y, x, length) in enumerate(anchors):
        score.append(256 * length)
        before.append(None)
        for j in range(i - 1, max(-1, i - 1 - p["look_back"]), -1):
            other_reverse, other_sequence, other_y, other_x, other_length = anchors[j]
            if (reverse, sequence) != (other_reverse, other_sequence):
                break
            dx, dy = x + length - other_x - other_length, y + length - other_y - other_length
            between = max(x - other_x, y - other_y) - other_length
            if x <= other_x or y <= other_y or min(dx, dy) <= 0:
                continue
            if between > p["max_gap"] or abs(dx - dy) > p["bandwidth"]:
                continue
            cost = gap_cost(abs(dx - dy), p) + p["distance_cost"] * min(dx, dy)
            through_j = score[j] + 256 * min(length, dx, dy) - cost
            if through_j > score[i]:
                score[i], before[i] = through_j, j
    return score, before


def seeds_of(lengths):
    return sum(max(1, length // 15) for length in lengths)


def chains(anchors, p):
    """``(score in bases, numbers of anchors)`` of the chains of a read, in the order they are taken."""
    score, before = chain_scores(anchors, p)
    taken, found = set(), []
    ends = [i for i in range(len(anchors)) if score[i] >= 256 * p["min_score"]]
    for end in sorted(ends, key=lambda i: (-score[i], i)):
        members, i = [], end
        while i is not None and i not in taken:
            members.append(i)
            i = before[i]
        if not members:
            continue
        taken.update(members)
        own = score[end] - (score[i] if i is not None else 0)
        if seeds_of([anchors[i][4] for i in members]) >= p["min_seeds"] and own >= 256 * p["min_score"]:
            found.append((own // 256, members[::-1]))
    return found


def groups(intervals, scores, mask_level):
    """Heads by row, and rows from the highest score down."""
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    heads, head_of = [], {}
    for row in order:
        start, end = intervals[row]
        for head in heads:
            shared = min(end, intervals[head][1]) - max(start, intervals[head][0])
            shorter = min(end - start, intervals[head][1] - intervals[head][0])
            if shared > 0 and 100 * shared >= mask_level * shorter:
                head_of[row] = head
                break
        else:
            heads.append(row)
            head_of[row] = row
    return head_of, order


def best_other(row, head_of, scores):
    return max((scores[i] for i in head_of if i != row and head_of[i] == head_of[row]), default=0)


def quality(chain_score, other_chain, score, other_score, seeds):
    ratio = min(1.0, other_chain / chain_score) * min(1.0, other_score / score if other_score else 1.0)
    return min(60, math.floor(40 * (1 - ratio) * min(1.0, seeds / 10) * math.log(chain_score)))


def codes(text):
    return [CODES.get(base, 4) for base in text]


def pairs_between(query, q_start, q_end, target, t_start, t_end):
    """Base of the target by base of the query, None where it has none, of the cheapest path."""
    if q_start == q_end:
        return {}
    starts = edit_paths.edit_path(codes(query[q_start:q_end]), codes(target[t_start:t_end]))
    stops = [*starts[1:], t_end - t_start]
    return {
        q_start + i: t_start + a if b > a else None
        for i, (a, b) in enumerate(zip(starts, stops, strict=True))
    }


def extension(query, target, p):
    """Pairs of an extension from the starts of two sequences, and where it ends."""
    pairs, q, t = {}, 0, 0
    best, best_end, score = 0, (0, 0), 0
    while q < len(query) and t < len(target):
        rows = min(256, len(query) - q)
        text = target[t : t + rows + rows // 4 + 32]
        columns = edit_paths.reach(codes(query[q : q + rows]), codes(text))
        pairs |= pairs_between(query, q, q + rows, target, t, t + columns)
        last = q + rows == len(query)
        stop = len(query) if last else q + rows - 64
        improved, in_gap = False, False
        for i in range(q, stop):
            if pairs[i] is None:
                score += p["gap_extend"] + (0 if in_gap else p["gap_open"])
                in_gap = True
                continue
            if pairs[i] > t:
                score += p["gap_open"] + (pairs[i] - t) * p["gap_extend"]
            t, in_gap = pairs[i] + 1, False
            equal = query[i] == target[pairs[i]] and query[i] != "N"
            score += p["match"] if equal else p["mismatch"]
            if score > best:
                best, best_end, improved = score, (i + 1, t), True
        q = stop
        if last and score + p["end_bonus"] >= best and pairs[q - 1] is not None:
            return pairs, (q, t)
        if not improved:
            break
    return pairs, best_end


def edits(query, target, anchors, p):
    """Interval on query and target, and the columns, of a chain of ``(x, y, length)``."""
    pairs = {}
    (q_start, t_start, _), (q_end, t_end) = anchors[0], anchors[0][:2]
    for x, y, length in anchors:
        cut = max(q_end - x, t_end - y, 0)
        if cut >= length:
            continue
        pairs |= pairs_between(query, q_end, x + cut, target, t_end, y + cut)
        pairs |= {x + i: y + i for i in range(cut, length)}
        q_end, t_end = x + length, y + length
    before = q_start + q_start // 4 + 32
    left, (q_more, t_more) = extension(
        query[:q_start][::-1], target[max(0, t_start - before) : t_start][::-1], p
    )
    for i in range(q_more):
        pairs[q_start - 1 - i] = None if left[i] is None else t_start - 1 - left[i]
    after = len(query) - anchors[-1][0]
    beyond = anchors[-1][1] + anchors[-1][2] + after + after // 4 + 32
    right, (q_further, t_further) = extension(query[q_end:], target[t_end:beyond], p)
    for i in range(q_further):
        pairs[q_end + i] = None if right[i] is None else t_end + right[i]
    q_start, t_start = q_start - q_more, t_start - t_more
    q_end, t_end = q_end + q_further, t_end + t_further
    return (q_start, q_end, t_start, t_end), columns(query, q_start, q_end, target, pairs)


def columns(query, q_start, q_end, target, pairs):
    """Letters =, X, I and D, one a column."""
    letters, t = "", pairs[q_start]
    for i in range(q_start, q_end):
        if pairs[i] is None:
            letters += "I"
            continue
        letters += "D" * (pairs[i] - t)
        letters += "=" if query[i] == target[pairs[i]] and query[i] != "N" else "X"
        t = pairs[i] + 1
    return letters


def with_gaps_left(query, target, interval, letters):
    """Interval and columns of an alignment when its gaps have moved left."""
    q_start, q_end, t_start, t_end = interval
    done, q, t = "", q_start, t_start
    for run in re.findall("=+|X+|I+|D+", letters):
        kind, passed = run[0], ""
        if kind in PAIRED:
            done, q, t = done + run, q + len(run), t + len(run)
            continue
        q, t = q + run.count("I"), t + run.count("D")
        text, end = (query, q) if kind == "I" else (target, t)
        gap = len(run)
        while done:
            if done[-1] == kind:
                gap += 1
            elif done[-1] == "=" and text[end - 1] == text[end - gap - 1]:
                passed += "="
                end -= 1
            else:
                break
            done = done[:-1]
        if not done:
            q_start, t_start = q_start + (kind == "I") * gap, t_start + (kind == "D") * gap
            gap = 0
        done += kind * gap + passed
    return (q_start, q_end, t_start, t_end), done


def score_of(letters, p):
    """Score of an alignment, and how many gaps it has."""
    total, gaps, previous = 0, 0, ""
    for letter in letters:
        if letter in PAIRED:
            total += p["match"] if letter == "=" else p["mismatch"]
        else:
            opened = letter != previous
            gaps += opened
            total += p["gap_extend"] + opened * p["gap_open"]
        previous = letter
    return total, gaps


def map_read(read, reference, anchors, extend, chain_params, choice, scoring):
    """Mappings of a read, in order: dictionaries.

    ``extend(query, target, chain)`` gives interval and columns of a chain of ``(x, y, length)``.
    """
    kept = []
    for score, members in chains(anchors, chain_params):
        chosen = [anchors[i] for i in members]
        reverse, sequence = chosen[0][:2]
        start, end = chosen[0][3], chosen[-1][3] + chosen[-1][4]
        interval = (len(read) - end, len(read) - start) if reverse else (start, end)
        kept.append((score, reverse, sequence, [(x, y, n) for _, _, y, x, n in chosen], interval))
    scores = [row[0] for row in kept]
    head_of, order = groups([row[4] for row in kept], scores, choice["mask_level"])
    rows = []
    for row, (score, reverse, sequence, chain, _) in enumerate(kept):
        head = head_of[row]
        place = [i for i in order if head_of[i] == head].index(row)
        near = 100 * score >= choice["secondary_ratio"] * scores[head]
        if place and not (near and place <= choice["most_secondary"]):
            continue
        query = reverse_complement(read) if reverse else read
        interval, letters = extend(query, reference[sequence], chain)
        (q_start, q_end, t_start, t_end), letters = with_gaps_left(
            query, reference[sequence], interval, letters
        )
        value, gaps = score_of(letters, scoring)
        if value < choice["min_score"]:
            continue
        if reverse:
            q_start, q_end = len(read) - q_end, len(read) - q_start
        rows.append(
            {
                "target": sequence, "reverse": reverse, "q_start": q_start, "q_end": q_end,
                "t_start": t_start, "t_end": t_end, "matches": letters.count("="),
                "block_length": len(letters), "gaps": gaps, "score": value, "chain_score": score,
                "second_score": best_other(row, head_of, scores), "letters": letters,
                "seeds": seeds_of([length for _, _, length in chain]),
            }
        )  # fmt: skip
    scores = [row["score"] for row in rows]
    head_of, order = groups([(row["q_start"], row["q_end"]) for row in rows], scores, choice["mask_level"])
    for row, entry in enumerate(rows):
        kind = 2 if head_of[row] != row else 0 if row == order[0] else 1
        entry["kind"], entry["quality"] = kind, 0
        if kind != 2:
            entry["quality"] = quality(
                entry["chain_score"], entry["second_score"], entry["score"],
                best_other(row, head_of, scores), entry["seeds"],
            )  # fmt: skip
    return [rows[i] for i in order]
