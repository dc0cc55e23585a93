"""Votes of layers, and drafts that are made of them, in plain Python (``docs/algorithms/correction.md``)."""

import itertools
import math

from tests.oracle import edit_paths
from tests.oracle.layer_paths import bases_of

PARTS = 10_000_000
STEPS = 20
INNER, CHANGED = 6, 7
LONGEST = 2048


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


def next_draft(draft, layers, deciding, thresholds, worth, doubt, table, kept):
    """The next draft, where its columns came from, and [probability, depth] of each base.

    There are two thresholds, the second one for bases of homopolymer runs of at least 4. On some columns
    those layers alone vote that decide there. In columns that are kept nothing but what is given has a vote:
    a base, or 4 for its lack; behind others nothing is inserted; in still others no lack has a vote.
    """
    kept, ungained, standing_anyway = kept
    codes, place, votes = [], [], []
    between = [0]  # of decisions against a base before each base, and behind the last

    def put(code, probability, depth):
        codes.append(code)
        votes.append([probability, depth])
        between.append(0)

    for column, old in enumerate(draft):
        place.append(len(codes))
        weight, slots, passing, _ = votes_at(deciding.get(column, layers), column)
        depth = sum(m["used"] and m["start"] <= column < m["end"] for m in layers)
        weight = [w if code == kept.get(column, code) else 0 for code, w in enumerate(weight)]
        weight[4] = 0 if column in standing_anyway else weight[4]
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
            between[-1] += table[CHANGED][step]
        if depth < 3:
            continue
        for slot in slots:
            best, standing = slot.index(max(slot)), sum(slot)
            longer = run + 1 if best == old else 1
            threshold, clear = thresholds[longer >= 4], (*clearness(passing, depth, worth), doubt)
            if not passing or 100 * standing <= threshold * passing:
                if passing:
                    step = step_of(threshold * passing - 100 * standing, threshold * passing, clear)
                    between[-1] += table[row_refused(longer)][step]
                break
            put(best, table[CHANGED][step_for(slot[best], standing, passing, threshold, clear)], depth)
    for x, vote in enumerate(votes):
        if vote[0]:
            vote[0] += sum(min(wrong, PARTS) for wrong in between[x + (x > 0) : x + 2])
    return codes, [*place, len(codes)], votes


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
    """Edit distances of layers to columns low to high, each a list of bases; None if too few cover them.

    A layer that is farther away than a third of the columns counts as that far.
    """
    limits = joined(draft[low:high])
    over = [m for m in layers if m["used"] and m["start"] <= low and m["end"] >= high]
    if len(over) < 3:
        return None
    intervals = (m["bases"][bases_at(m, low) : bases_at(m, high)] for m in over)
    return sum(min(edit_paths.costs(limits, bases)[-1][-1], (high - low) // 3) for bases in intervals)


def joined(columns):
    """The bases of columns, one after the other."""
    return [code for column in columns for code in column]


def bases_at(layer, column):
    """How many of the layer's bases come before a column, which may be the one behind its last."""
    return layer["starts"][column - layer["start"]]


def reconsider(draft, layers):
    """The draft as a list of bases a column, changed where that brings it closer to the layers.

    Each doubtful column is tried with its second base, then without any, then with a base behind it.
    """
    draft = [[code] for code in draft]
    for column, [old] in enumerate(draft):
        weight, slots, passing, _ = votes_at(layers, column)
        total, slot = sum(weight), [*slots, [0] * 4][0]
        if old == 4:
            continue
        low, high = max(0, column - 15), min(len(draft), column + 16)
        other = max((code for code in range(4) if code != old), key=lambda code: (weight[code], -code))
        more = slot.index(max(slot))
        before = joined(draft[:column])[-1:]
        best = together(draft, layers, low, high)
        tries = [
            ("replace", weight[other], total),
            ("remove", weight[4], total),
            ("insert", slot[more], passing),
        ]
        for change, wanted, whole in tries:
            if best is None or not whole or 100 * wanted < 20 * whole:
                continue
            if change == "remove" and [old] in (before, *draft[column + 1 : column + 2]):
                continue
            new = {"replace": [other], "remove": [], "insert": [*draft[column], more]}[change]
            tried = [*draft[:column], new, *draft[column + 1 :]]
            if change == "insert":
                here = len(joined(tried[: column + 1])) - 1
                if run_around(joined(tried), here) >= 4:
                    continue
            found = together(tried, layers, low, high)
            if found < best:
                draft, best = tried, found
    return draft


def run_around(codes, x):
    """Bases of the homopolymer run that base x is part of."""
    left = itertools.takewhile(lambda code: code == codes[x], reversed(codes[:x]))
    right = itertools.takewhile(lambda code: code == codes[x], codes[x:])
    return len(list(left)) + len(list(right))


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
