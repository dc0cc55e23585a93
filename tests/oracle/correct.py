"""Consensus of one window, in plain Python; the definition is in ``docs/algorithms/correction.md``.

Layers are dictionaries: ``bases`` and ``weights`` (lists, on the strand of the target), ``reverse``, and the
interval ``t_start, t_end`` of the target that they are searched in. Unknown bases are 4 in targets and 5 in
layers.
"""

import itertools
import math
from collections import Counter

from tests.oracle import edit_paths, mem_anchors

MAX_PLACES, LOOK_BACK, MAX_SHIFT, NEAR, DIAGONALS = 16, 50, 200, 8, 512
LONGEST = 2048


def path_window(target, layer, t0, t1, r0, r1):
    """Starts of target bases t0 to t1 against the layer's bases r0 to r1."""
    return [r0 + x for x in edit_paths.edit_path(target[t0:t1], layer["bases"][r0:r1])]


def reach_on(target, bases):
    """How many first bases of both belong together."""
    length = min(len(target), len(bases), 500)
    more = length + length // 4 + 16
    if len(target) <= len(bases):
        return length, edit_paths.reach(target[:length], bases[:more])
    return edit_paths.reach(bases[:length], target[:more]), length


def first_paths(target, layers, k, max_gap, most, crowded):
    """Set the paths of layers, but of those on stretches that all have ``crowded`` surplus, start == end."""
    surplus = [0] * (len(target) // 1024 + 1)
    for layer in layers:
        bases = range(layer["t_start"], layer["t_end"])
        touched = {base // 1024 for base in bases}
        inside = {s for s in touched if 1024 * s in bases and 1024 * s + 1023 in bases}
        full = all(surplus[s] >= crowded for s in inside or touched)
        found = first_path(target, layer, k, max_gap, 0 if full else most)
        for stretch, anchors in Counter(j // 1024 for _, j, _ in found).items():
            surplus[stretch] += max(0, anchors - 64)


def first_path(target, layer, k, max_gap, most):
    """Set start, end and starts of a layer; start == end when it has no anchor. Return its anchors."""
    bases = layer["bases"]
    limits = (layer["t_start"], layer["t_end"], 0, len(bases))
    band = 150 + len(bases) // 20
    found = mem_anchors.anchors(target, bases, limits, k, band, MAX_PLACES, most)
    layer["used"] = bool(found)
    if not found:
        layer["start"] = layer["end"] = 0
        layer["starts"] = [0]
        return []
    windows = []
    i = j = None
    chain = mem_anchors.best_chain(found, max_gap, LOOK_BACK, MAX_SHIFT, NEAR, DIAGONALS)
    for a_i, a_j, length in chain:
        a_i, a_j, length = a_i + 1, a_j + 1, length - 2
        if i is None:
            rise, run = reach_on(
                target[max(limits[0], a_j - 641) : a_j][::-1], bases[max(0, a_i - 641) : a_i][::-1]
            )
            layer["start"] = a_j - rise
            i, j = a_i - run, a_j - rise
        else:
            behind = max(0, i - a_i, j - a_j)
            if behind >= length:
                continue
            a_i, a_j, length = a_i + behind, a_j + behind, length - behind
        windows += path_window(target, layer, j, a_j, i, a_i) + list(range(a_i, a_i + length))
        i, j = a_i + length, a_j + length
    rise, run = reach_on(target[j : limits[1]], bases[i:])
    windows += path_window(target, layer, j, j + rise, i, i + run)
    layer["end"] = j + rise
    layer["starts"] = [*windows, i + run]
    return found


def bases_of(layer, column):
    """The interval of the layer's bases at a column."""
    row = column - layer["start"]
    return layer["starts"][row], layer["starts"][row + 1]


def votes_at(layers, column):
    """Weights of the bases and the deletion at a column, of the slots and of passing behind it; the depth."""
    weight, slots, passing, depth = [0] * 5, [[0] * 4 for _ in range(8)], 0, 0
    for m in layers:
        if not m["used"] or not m["start"] <= column < m["end"]:
            continue
        depth += 1
        begin, end = bases_of(m, column)
        around = (m["weights"][max(end - 1, 0)] + m["weights"][min(end, len(m["bases"]) - 1)]) // 2
        if begin == end:
            weight[4] += around
        for slot, x in enumerate(range(begin, end)):
            if m["bases"][x] < 4 and slot == 0:
                weight[m["bases"][x]] += m["weights"][x]
            elif m["bases"][x] < 4 and slot <= 8:
                slots[slot - 1][m["bases"][x]] += m["weights"][x]
        if column + 1 < m["end"]:
            passing += around
    return weight, slots, passing, depth


PARTS = 10_000_000
STEPS = 20
INNER, CHANGED = 6, 7


def step_of(margin, whole, clear):
    """The step of a decision whose margin is that share of the whole."""
    agreed, most, doubt = clear
    missing = 16 * STEPS - min(agreed * margin // max(1, whole), most)
    return min(max((16 * 16 * STEPS - missing * doubt) // 256, 0), STEPS - 1)


def clearness(weight, layers, worth):
    """The steps of a decision by layers alike, and at most, in sixteenths; corrected reads: worth 0."""
    if worth > 64:
        worth = 64 + (worth - 64) * min(max(layers - 3, 0), 4) // 4
    if worth:
        return 5 * worth, 9 * worth * math.isqrt(math.isqrt(max(1, layers) * 2**28)) // 512
    return 8 * weight // max(1, layers), 8 * weight // max(1, layers)


def step_for(best, standing, total, threshold, clear):
    """The step of a base that stays or is inserted."""
    there = step_of(100 * standing - threshold * total, (100 - threshold) * total, clear)
    return min(there, step_of(2 * best - standing, standing, clear))


def row_of_run(run):
    """The row of a base that stays at the end of a run."""
    return {1: 0, 2: 1, 3: 1, 4: 2, 5: 3, 6: 4}.get(run, 5)


def row_refused(run):
    """The row of a base that is not inserted, which would have made a run of so many."""
    return {4: 9, 5: 10}.get(run, 8 if run < 4 else 11)


def run_length(draft, column):
    """Bases of the homopolymer run of a column."""
    first, last = column, column
    while first > 0 and draft[first - 1] == draft[column]:
        first -= 1
    while last + 1 < len(draft) and draft[last + 1] == draft[column]:
        last += 1
    return last - first + 1


def next_draft(draft, layers, thresholds, worth, doubt, table, kept):
    """The next draft, where its columns came from, and [probability, depth] of each base.

    There are two thresholds, the second one for bases of homopolymer runs of at least 4. In columns that are
    kept nothing but what is given has a vote: a base, or 4 for its lack; behind others nothing is inserted.
    """
    kept, ungained = kept
    codes, place, votes = [], [], []
    doubts = [0]  # before each base, and behind the last

    def put(code, probability, depth):
        codes.append(code)
        votes.append([probability, depth])
        doubts.append(0)

    for column, old in enumerate(draft):
        place.append(len(codes))
        weight, slots, passing, depth = votes_at(layers, column)
        weight = [w if code == kept.get(column, code) else 0 for code, w in enumerate(weight)]
        slots = [[0] * 4 for _ in slots] if column in ungained else slots
        base = max(range(4), key=lambda code: (weight[code], code == old, -code))
        if old == 4 and weight[base] == 0:
            base = 4
        if depth < 3 and old < 4:
            base = old
        standing, total, run = sum(weight[:4]), sum(weight), run_length(draft, column)
        threshold, clear = thresholds[run >= 4], (*clearness(total, depth, worth), doubt)
        if depth < 3 or 100 * standing >= threshold * total:
            at_end = column + 1 == len(draft) or draft[column + 1] != old
            row = row_of_run(run) if at_end else INNER
            told = base < 4 and (depth >= 3 or old == 4)
            put(base, told and table[row][step_for(weight[base], standing, total, threshold, clear)], depth)
        else:
            step = step_of(threshold * total - 100 * standing, threshold * total, clear)
            doubts[-1] += table[CHANGED][step]
        if depth < 3:
            continue
        for slot in slots:
            best, standing = slot.index(max(slot)), sum(slot)
            longer = run + 1 if best == old else 1
            threshold, clear = thresholds[longer >= 4], (*clearness(passing, depth, worth), doubt)
            if 100 * standing <= threshold * passing:
                if passing:
                    step = step_of(threshold * passing - 100 * standing, threshold * passing, clear)
                    doubts[-1] += table[row_refused(longer)][step]
                break
            put(best, table[CHANGED][step_for(slot[best], standing, passing, threshold, clear)], depth)
    for x, vote in enumerate(votes):
        if vote[0]:
            vote[0] += sum(min(doubt, PARTS) for doubt in doubts[x + (x > 0) : x + 2])
    return codes, [*place, len(codes)], votes


def carry_over(layer, draft, place):
    """Carry a layer's path over to the next draft."""
    runs = []
    for column in range(layer["start"], layer["end"]):
        begin, end = bases_of(layer, column)
        d = place[column]
        if end > begin and place[column + 1] > d and draft[d] == layer["bases"][begin]:
            if runs and (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]) == (d, begin):
                runs[-1][2] += 1
            else:
                runs.append([d, begin, 1])
    start, stop = place[layer["start"]], place[layer["end"]]
    column, base, last = start, layer["starts"][0], layer["starts"][-1]
    starts = []
    for d, begin, length in [run for run in runs if run[2] >= 6]:
        starts += path_window(draft, layer, column, d + 2, base, begin + 2)
        starts += range(begin + 2, begin + length - 2)
        column, base = d + length - 2, begin + length - 2
    starts += path_window(draft, layer, column, stop, base, last)
    layer["start"], layer["end"], layer["starts"] = start, stop, [*starts, last]
    if start == stop:
        layer["used"] = False


def base_at(layer, column):
    """The base that a layer pairs at a column; None where it has none or does not vote."""
    if not layer["used"] or not layer["start"] <= column < layer["end"]:
        return None
    begin, end = bases_of(layer, column)
    return layer["bases"][begin] if end > begin else None


def leave_out(layers, length):
    """Mark the layers that disagree with the target; how many."""
    candidates = []
    for column in range(length):
        weight = votes_at(layers, column)[0]
        total = sum(weight)
        first = max(range(4), key=lambda code: (weight[code], -code))
        second = second_of(weight[:4])
        if (
            not total
            or 100 * weight[second] < 20 * total
            or 100 * (weight[first] + weight[second]) < 80 * total
        ):
            continue
        held = [{first: 0, second: 1}.get(base_at(m, column)) for m in layers]
        strands = {(h, m["reverse"]) for h, m in zip(held, layers, strict=True) if h is not None}
        if len(strands) == 4 and min(held.count(0), held.count(1)) >= 4:
            candidates.append((column, held))
    sites = set()
    for a in range(len(candidates)):
        for b in range(a + 1, min(len(candidates), a + 33)):
            if candidates[b][0] - candidates[a][0] < 30:
                continue
            both = [pair for pair in zip(candidates[a][1], candidates[b][1], strict=True) if None not in pair]
            straight = [pair for pair in both if pair[0] == pair[1]]
            crossed = [pair for pair in both if pair[0] != pair[1]]
            kept, against = (straight, crossed) if len(straight) >= len(crossed) else (crossed, straight)
            ones = sum(pair[0] for pair in kept)
            if min(ones, len(kept) - ones) >= 4 and 100 * len(against) <= 5 * len(both):
                sites |= {a, b}
    left = 0
    for number, layer in enumerate(layers[:-1]):
        agree = disagree = 0
        for s in sites:
            own, other = candidates[s][1][-1], candidates[s][1][number]
            if own is not None and other is not None:
                agree += own == other
                disagree += own != other
        if layer["used"] and disagree > agree:
            left += 1
            layer["leave"] = True
    for layer in layers:
        if layer.pop("leave", False):
            layer["used"] = False
    return left


def kind_at(layer, column):
    """What a layer has at a column, 4 for a deletion; None if unknown, or where it does not vote."""
    if not layer["used"] or not layer["start"] <= column < layer["end"]:
        return None
    begin, end = bases_of(layer, column)
    return 4 if begin == end else layer["bases"][begin] if layer["bases"][begin] < 4 else None


def behind(layer, column):
    """How many bases a layer has inserted behind a column; None where it ends there, or has unknown ones."""
    if not layer["used"] or not layer["start"] <= column < layer["end"] - 1:
        return None
    begin, end = bases_of(layer, column)
    return 0 if end - begin < 2 else end - begin - 1 if layer["bases"][begin + 1] < 4 else None


def keep_own(draft, layers, alike):
    """The columns in which the target keeps its base, or 4 for none, as nothing else has a vote there; and
    those behind which it keeps that nothing is inserted.
    """
    kept, ungained = {}, set()
    groups = [list(group) for _, group in itertools.groupby(range(len(draft)), key=draft.__getitem__)]
    for column, run in enumerate(group for group in groups for _ in group):
        kinds = [kind_at(m, column) for m in layers]
        lacking = [
            sum(kind_at(m, c) == 4 for c in run) for m, kind in zip(layers, kinds, strict=True) if kind == 4
        ]
        own = kinds[-1]
        if own is not None and is_divided(layers, kinds, own, alike, len(run), lacking):
            kept[column] = own
        gains = [behind(m, column) for m in layers]
        some = [gain and 1 for gain in gains]
        length = len(run) if run[-1] == column else 1
        if gains[-1] == 0 and is_divided(layers, some, 0, alike, length, [g for g in gains if g]):
            ungained.add(column)
    return kept, ungained


def is_divided(layers, kinds, own, alike, run, differences):
    """Whether what the target has is held by enough layers, and something else is, too, at the end of a run
    in which layers differ by so many bases.
    """
    strands = {}
    for m, kind in zip(layers, kinds, strict=True):
        if kind is not None:
            strands.setdefault(kind, []).append(m["reverse"])
    n = sum(map(len, strands.values()))
    mean = (2 * sum(differences) + len(differences)) // (2 * len(differences)) if differences else 1
    errors = alike[min(run, len(alike) - 1)][min(max(mean, 1), len(alike[0]) - 1)]
    least = max(3 * 10**6, 1_500_000 + errors * n)
    held = [kind for kind, found in strands.items() if len(set(found)) == 2 and 10**6 * len(found) >= least]
    return len(held) > 1 and own in held


def second_of(weight):
    """The second heaviest base; of equals the first one met that is not the heaviest."""
    first = second = None
    for code in range(4):
        if first is None or weight[code] > weight[first]:
            first, second = code, first
        elif second is None or weight[code] > weight[second]:
            second = code
    return second


def fill_unknown(target, layers):
    """The target with its unknown runs given the bases of a layer, and where its columns went."""
    codes, place, column = [], [], 0
    while column < len(target):
        stop = column
        while stop < len(target) and target[stop] == 4:
            stop += 1
        if stop == column:
            place.append(len(codes))
            codes.append(target[column])
            column += 1
            continue
        given = None
        for m in layers[:-1]:
            if given is None and m["used"] and m["start"] < column and stop < m["end"]:
                low, high = bases_of(m, column)[0], bases_of(m, stop)[0]
                if max(m["bases"][low:high], default=0) < 4 and high - low <= LONGEST:
                    given = m["bases"][low:high]
        if given is None:
            place += range(len(codes), len(codes) + stop - column)
            codes += [4] * (stop - column)
        else:
            place.append(len(codes))
            codes += given
            place += [len(codes)] * (stop - column - 1)
        column = stop
    return codes, [*place, len(codes)]


def together(draft, layers, low, high):
    """Edit distances of layers to columns low to high, of which None is gone; None if too few cover them."""
    limits = [code for code in draft[low:high] if code is not None]
    over = [m for m in layers if m["used"] and m["start"] <= low and m["end"] >= high]
    if len(over) < 3:
        return None
    intervals = (m["bases"][bases_at(m, low) : bases_at(m, high)] for m in over)
    return sum(edit_paths.costs(limits, bases)[-1][-1] for bases in intervals)


def bases_at(layer, column):
    """How many of the layer's bases come before a column, which may be the one behind its last."""
    return layer["starts"][column - layer["start"]]


def reconsider(draft, layers):
    """The draft, its doubtful columns replaced or None where that brings it closer to the layers."""
    draft = list(draft)
    for column, old in enumerate(draft):
        weight = votes_at(layers, column)[0]
        total = sum(weight)
        if old == 4 or not total:
            continue
        low, high = max(0, column - 15), min(len(draft), column + 16)
        other = max((code for code in range(4) if code != old), key=lambda code: (weight[code], -code))
        before = [code for code in draft[:column] if code is not None][-1:]
        best = together(draft, layers, low, high)
        for new, wanted in ((other, weight[other]), (None, weight[4])):
            run = new is None and old in (before + draft[column + 1 : column + 2])
            if best is None or run or 100 * wanted < 20 * total:
                continue
            tried = [*draft[:column], new, *draft[column + 1 :]]
            found = together(tried, layers, low, high)
            if found < best:
                draft, best = tried, found
    return draft


def qualities(codes, probabilities, limits):
    """Phred qualities, in every homopolymer run that of the mean probability; 0 where there was no vote."""
    made = []
    for _, run in itertools.groupby(range(len(codes)), codes.__getitem__):
        run = [probabilities[x] for x in run]
        voted = [probability for probability in run if probability]
        mean = sum(voted) // max(1, len(voted))
        quality = max(q for q in range(1, 51) if q == 1 or mean <= limits[q])
        made += [quality if probability else 0 for probability in run]
    return made


def correct(target, layers, k, max_gap, drafts, filters, worth, doubt, alike, target_layer, table, limits):
    """Bases, qualities, depth and origin of the consensus; (aligned, left out, lost).

    Of a million layers ``alike`` may err alike at a column, by run and difference. Every draft has two
    thresholds, the second one for bases of homopolymer runs. The table holds the probabilities that decisions
    are wrong, by row and step, in parts of `PARTS`; the limits the highest of each quality.
    """
    for layer in layers:
        first_path(target, layer, k, max_gap, len(target) + 256)
    aligned = sum(m["used"] for m in layers)
    own = {**target_layer, "start": 0, "end": len(target), "starts": list(range(len(target) + 1))}
    everyone = [*layers, own]
    draft, left = list(target), 0
    if aligned and 4 in draft:
        draft, place = fill_unknown(draft, everyone)
        for layer in everyone:
            carry_over(layer, draft, place) if layer["used"] or layer is own else None
    for step, thresholds in enumerate(drafts if aligned else drafts[:1]):
        if step == 1 and filters:
            left = leave_out(everyone, len(draft))
        if 0 < step == len(drafts) - 1 and aligned and not target_layer["used"]:
            made = reconsider(draft, everyone)
            if made != draft:
                place = [sum(code is not None for code in made[:c]) for c in range(len(made) + 1)]
                draft = [code for code in made if code is not None]
                for layer in everyone:
                    carry_over(layer, draft, place) if layer["used"] or layer is own else None
        keeps = step > 0 and filters and target_layer["used"]
        kept = keep_own(draft, everyone, alike) if keeps else ({}, set())
        new, place, votes = next_draft(draft, everyone, thresholds, worth, doubt, table, kept)
        for layer in everyone:
            carry_over(layer, new, place) if layer["used"] or layer is own else None
        draft = new
    quality = qualities(draft, [probability for probability, _ in votes], limits)
    depth = [min(d, 255) for _, d in votes]
    return draft, quality, depth, own["starts"][:-1], (aligned, left, len(layers) - aligned)
