"""Mapping, straight from docs/algorithms/mapping.md. Parameters come as dictionaries of their names."""

import itertools
import math
import re

from tests.oracle import edit_paths, minimizers
from tests.oracle.strands import reverse_complement

CODES = {base: code for code, base in enumerate("ACGT")}
PAIRED = ("=", "X")
WAITING = ("waiting", "again")


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


def gain(length, dx, dy, p):
    """What an anchor adds to a chain that ends dx and dy before it."""
    return 256 * min(length, dx, dy) - gap_cost(abs(dx - dy), p) - p["distance_cost"] * min(dx, dy)


def band_of(anchor):
    return (anchor[2] - anchor[3]) // 64


def chain_scores(anchors, p):
    """Score of the best chain that ends at each anchor, and the anchor before it."""
    score, before = [], []
    for i, (reverse, sequence, y, x, length) in enumerate(anchors):
        score.append(256 * length)
        before.append(None)
        near = [j for j in range(i) if anchors[j][:2] == (reverse, sequence)]
        bands = {band_of(anchors[j]): j for j in near if abs(band_of(anchors[j]) - band_of(anchors[i])) < 2}
        for j in sorted({*(j for j in near if j >= i - p["look_back"]), *bands.values()}, reverse=True):
            other_y, other_x, other_length = anchors[j][2:]
            dx, dy = x + length - other_x - other_length, y + length - other_y - other_length
            between = max(x - other_x, y - other_y) - other_length
            if x <= other_x or y <= other_y or min(dx, dy) <= 0:
                continue
            if between > p["max_gap"] or abs(dx - dy) > p["bandwidth"]:
                continue
            through_j = score[j] + gain(length, dx, dy, p)
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


def pairs_in_gap(query, q_start, q_end, target, t_start, t_end, p):
    """Pairs between two anchors: from either, where their diagonals differ and hardly any bases are left."""
    q_bases, t_bases = q_end - q_start, t_end - t_start
    if abs(q_bases - t_bases) <= 32 or not min(q_bases, t_bases):
        return pairs_between(query, q_start, q_end, target, t_start, t_end)
    few, many = query[q_start:q_end], target[t_start:t_end]
    if q_bases > t_bases:
        few, many = many, few
    p = p | {"end_bonus": 0}
    right, (a, b) = extension(few, many, p)
    n = len(few) - a
    reach = many[b:][-(n + n // 4 + 32) :]
    left, (c, _) = extension(few[a:][::-1], reach[::-1], p)
    if n - c > 32:
        return pairs_between(query, q_start, q_end, target, t_start, t_end)
    joined = {i: right[i] for i in range(a)}
    joined |= {len(few) - 1 - i: None if left[i] is None else len(many) - 1 - left[i] for i in range(c)}
    pairs = dict.fromkeys(range(q_start, q_end))
    for i, j in joined.items():
        if j is not None and q_bases > t_bases:
            pairs[q_start + j] = t_start + i
        elif j is not None:
            pairs[q_start + i] = t_start + j
    return pairs


def edits(query, target, anchors, p):
    """Interval on query and target, and the columns, of a chain of ``(x, y, length)``."""
    pairs = {}
    (q_start, t_start, _), (q_end, t_end) = anchors[0], anchors[0][:2]
    for x, y, length in anchors:
        cut = max(q_end - x, t_end - y, 0)
        if cut >= length:
            continue
        pairs |= pairs_in_gap(query, q_end, x + cut, target, t_end, y + cut, p)
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


def straight(chain, p):
    """A chain of ``(x, y, length)`` without the detours that cost more in gaps than they bring."""
    runs, score = [], []
    for x, y, length in chain:
        if not runs or abs((y - x) - (runs[-1][-1][1] - runs[-1][-1][0])) > 8:
            runs.append([])
            score.append(0)
            covered = 0
        else:
            covered = max(0, runs[-1][-1][0] + runs[-1][-1][2] - x)
        runs[-1].append((x, y, length))
        score[-1] += p["match"] * (length - covered)
    before = [None] * len(runs)
    for run in range(1, len(runs)):
        best = None
        for other in range(run - 1, max(-1, run - 17), -1):
            (x, y, _), (other_x, other_y, _) = runs[run][0], runs[other][-1]
            gap = abs((y - x) - (other_y - other_x))
            through = score[other] + (p["gap_open"] + gap * p["gap_extend"] if gap else 0)
            if best is None or through > best:
                best, before[run] = through, other
        score[run] += best
    kept, run = [], len(runs) - 1
    while run is not None:
        kept, run = runs[run] + kept, before[run]
    return kept


def cut(interval, letters, rivals, p, choice):
    """``(interval, columns, score)`` of the parts of an alignment that pay.

    ``rivals`` are intervals on the read as turned.
    """
    parts, start = [], None
    q, t = interval[0], interval[2]
    runs = re.findall("=+|X+|I+|D+", letters)
    for number, run in enumerate(runs):
        if start is None and (number == 0 or run[0] == "="):
            start, text, score = (q, t), "", 0
            peak, best, floor = (q, t, ""), 0, 0 if number else -p["end_bonus"]
        q, t = q + len(run) * (run[0] != "D"), t + len(run) * (run[0] != "I")
        if start is None:
            continue
        text += run
        score = score_of(text, p)[0]
        on_q, on_t = q - peak[0], t - peak[1]
        spare = p["drop"] - p["gap_extend"] * abs(on_q - on_t) - (best - score)
        rival = max(
            (b - a for a, b in rivals
             if 100 * (min(q, b) - max(peak[0], a)) >= choice["mask_level"] * (b - a)), default=0,
        )  # fmt: skip
        ends = score < floor or spare < p["match"] * min(on_q, on_t, rival) or spare < 0
        last = number + 1 == len(runs)
        if score > best or (last and not ends):
            peak, best = (q, t, text), score
        if ends or last:
            if best >= choice["min_score"]:
                parts.append(((start[0], peak[0], start[1], peak[1]), peak[2], best))
            start = None
    return parts


def pieces(chain, parts, p):
    """``(number of the part or None, anchors, score, seeds)`` of a chain that is cut with its alignment."""
    labels = []
    for x, _, length in chain:
        middle = x + length // 2
        passed = sum(interval[1] <= middle for interval, _, _ in parts)
        labels.append((passed, passed < len(parts) and parts[passed][0][0] <= middle))
    found = []
    for (part, within), group in itertools.groupby(zip(labels, chain, strict=True), lambda pair: pair[0]):
        anchors = [anchor for _, anchor in group]
        score = 256 * anchors[0][2]
        for (x, y, n), (next_x, next_y, length) in itertools.pairwise(anchors):
            score += gain(length, next_x + length - x - n, next_y + length - y - n, p)
        seeds = seeds_of([length for _, _, length in anchors])
        if within or (seeds >= p["min_seeds"] and score >= 256 * p["min_score"]):
            found.append((part if within else None, anchors, score // 256, seeds))
    return found


class Chain:
    """A chain of a read, with its interval on the forward strand."""

    def __init__(self, reverse, sequence, anchors, score, seeds, read_length):
        self.reverse, self.sequence, self.anchors = reverse, sequence, anchors
        self.score, self.seeds, self.read_length, self.state = score, seeds, read_length, "waiting"
        self.turned = (anchors[0][0], anchors[-1][0] + anchors[-1][2])
        self.on_target = (anchors[0][1], anchors[-1][1] + anchors[-1][2])

    @property
    def span(self):
        start, end = self.turned
        return (self.read_length - end, self.read_length - start) if self.reverse else self.turned


def chosen_of(chains_, choice):
    """Numbers of the chains that are extended: heads, and the best others that come near them."""
    scores = [chain.score for chain in chains_]
    head_of, order = groups([chain.span for chain in chains_], scores, choice["mask_level"])
    rows = []
    for row, head in head_of.items():
        place = [i for i in order if head_of[i] == head].index(row)
        near = 100 * scores[row] >= choice["secondary_ratio"] * scores[head]
        if not place or (near and place <= choice["most_secondary"]):
            rows.append(row)
    return sorted(rows)


def uncovered(span, covering, share):
    covered = sum(any(a <= i < b for a, b in covering) for i in range(*span))
    return 100 * covered < share * (span[1] - span[0])


def room_for(span, covering, length):
    """How far an interval may grow: to what is aligned on either side of it."""
    left = [end for start, end in covering if start + end <= sum(span)]
    right = [start for start, end in covering if start + end > sum(span)]
    return (
        max([0, *(min(end, span[0]) for end in left)]),
        min([length, *(max(start, span[1]) for start in right)]),
    )


def once(done):
    """Of alignments that begin, or end, with the same pair the best one, with the seeds of all."""
    for side in (0, 1):
        kept = {}
        for row in sorted(done, key=lambda row: -row["score"]):
            chain, interval = row["chain"], row["interval"]
            best = kept.setdefault((chain.sequence, chain.reverse, interval[side], interval[2 + side]), row)
            if best is not row:
                own = best["chain"]
                own.score, own.seeds = own.score + chain.score, own.seeds + chain.seeds
                for name in ("turned", "on_target"):
                    (a, b), (c, d) = getattr(own, name), getattr(chain, name)
                    setattr(own, name, (min(a, c), max(b, d)))
        done = [row for row in done if any(row is best for best in kept.values())]
    return done


def cut_by(covering, pool, read_length, chain_params):
    """Cut the chains that wait where others lie, if what is left could be chains; tell whether any was."""
    bases = sorted({i for start, end in covering for i in range(start, end)})
    runs = [
        (group[0], group[-1] + 1)
        for group in (
            [i for _, i in run]
            for _, run in itertools.groupby(enumerate(bases), lambda pair: pair[1] - pair[0])
        )
    ]
    left = []
    for chain in [chain for chain in pool if chain.state == "waiting"]:
        turned = sorted((read_length - b, read_length - a) if chain.reverse else (a, b) for a, b in runs)
        found = pieces(chain.anchors, [((a, b), "", 0) for a, b in turned], chain_params)
        if any(part is None and len(anchors) < len(chain.anchors) for part, anchors, *_ in found):
            pool.remove(chain)
            left += [
                Chain(chain.reverse, chain.sequence, anchors, score, seeds, read_length)
                for _, anchors, score, seeds in found
            ]
    pool += left
    return bool(left)


def aligned(read, reference, pool, extend, p, chain_params, choice):
    """Alignments that pay, in the order they are found; ``pool`` gets what is left of chains."""
    done, share = [], choice["mask_level"]
    while True:
        intervals, scores = [row["span"] for row in done], [row["score"] for row in done]
        heads, _ = groups(intervals, scores, share)
        covering = [intervals[row] for row in heads if heads[row] == row]
        covering += [chain.span for chain in pool if chain.state == "failed"]
        free = [c for c in pool if c.state in WAITING and uncovered(c.span, covering, share)]
        chosen = [free[row] for row in chosen_of(free, choice)]
        if not chosen:
            if not cut_by(covering, pool, len(read), chain_params):
                return done
            continue
        states = [chain.state for chain in chosen]
        for chain in chosen:
            chain.state = "aligned"
        left, waiting = [], [chain for chain in pool if chain.state in WAITING]
        for chain, state in zip(chosen, states, strict=True):
            query = reverse_complement(read) if chain.reverse else read
            target = reference[chain.sequence]
            anchors = straight(chain.anchors, p)
            low, high = 0, len(read)
            if state == "again":
                low, high = room_for(chain.span, covering, len(read))
            if chain.reverse:
                low, high = len(read) - high, len(read) - low
            moved = [(x - low, y, length) for x, y, length in anchors]
            (q_start, q_end, *on_target), letters = extend(query[low:high], target, moved)
            interval = (q_start + low, q_end + low, *on_target)
            interval, letters = with_gaps_left(query, target, interval, letters)
            rivals = []
            for other in pool:
                same = (other.sequence, other.reverse) == (chain.sequence, chain.reverse)
                over = other.on_target[0] < interval[3] and other.on_target[1] > interval[2]
                if other in waiting and not (same and over):
                    start, end = other.span
                    rivals.append((len(read) - end, len(read) - start) if chain.reverse else (start, end))
            parts = cut(interval, letters, rivals, p, choice)
            found = pieces(anchors, parts, chain_params)
            if all(part is None for part, *_ in found):
                chain.state = "again" if parts and state == "waiting" else "failed"
                continue
            for part, members, score, seeds in found:
                piece = Chain(chain.reverse, chain.sequence, members, score, seeds, len(read))
                if part is None:
                    left.append(piece)
                    continue
                interval, letters, score = parts[part]
                span = interval[:2]
                if chain.reverse:
                    span = (len(read) - span[1], len(read) - span[0])
                done.append(
                    {"chain": piece, "interval": interval, "letters": letters, "score": score, "span": span}
                )
        pool += left


def map_read(read, reference, anchors, extend, chain_params, choice, p):
    """Mappings of a read, in order: dictionaries.

    ``extend(query, target, chain)`` gives interval and columns of a chain of ``(x, y, length)``; ``p`` has
    the scores of columns, the drop and the bonus at ends.
    """
    pool = []
    for score, members in chains(anchors, chain_params):
        chosen = [anchors[i] for i in members]
        seeds = seeds_of([anchor[4] for anchor in chosen])
        bare = [(x, y, n) for _, _, y, x, n in chosen]
        pool.append(Chain(*chosen[0][:2], bare, score, seeds, len(read)))
    done = once(aligned(read, reference, pool, extend, p, chain_params, choice))
    every = [row["chain"] for row in done] + [chain for chain in pool if chain.state != "aligned"]
    share = choice["mask_level"]
    rows = []
    for row in done:
        chain, second = row["chain"], 0
        (start, end), (t_start, t_end) = chain.span, row["interval"][2:]
        for other in every:
            shared = min(end, other.span[1]) - max(start, other.span[0])
            span = other.span[1] - other.span[0]
            if other is not chain and shared > 0 and 100 * shared >= share * min(end - start, span):
                second = max(second, other.score * shared // span)
        letters = row["letters"]
        rows.append(
            {
                "target": chain.sequence, "reverse": chain.reverse, "q_start": row["span"][0],
                "q_end": row["span"][1], "t_start": t_start, "t_end": t_end, "matches": letters.count("="),
                "block_length": len(letters), "gaps": score_of(letters, p)[1], "score": row["score"],
                "chain_score": chain.score, "second_score": second, "letters": letters,
                "seeds": chain.seeds,
            }
        )  # fmt: skip
    scores = [row["score"] for row in rows]
    head_of, order = groups([(row["q_start"], row["q_end"]) for row in rows], scores, share)
    kept = []
    for row in order:
        entry, head = rows[row], head_of[row]
        rank = [i for i in order if head_of[i] == head].index(row)
        entry["kind"], entry["quality"] = 2 if rank else 0 if row == order[0] else 1, 0
        if not rank:
            entry["quality"] = quality(
                entry["chain_score"], entry["second_score"], entry["score"],
                best_other(row, head_of, scores), entry["seeds"],
            )  # fmt: skip
        if rank <= choice["most_secondary"]:
            kept.append(entry)
    return kept
