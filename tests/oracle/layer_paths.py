"""How a layer's bases are paired with those of a draft, in plain Python (``docs/algorithms/correction.md``).

Layers are dictionaries: ``bases`` and ``weights`` (lists, on the strand of the target), ``reverse``, and the
interval ``t_start, t_end`` of the target that they are searched in. Unknown bases are 4 in targets and 5 in
layers. Their path is ``start, end`` on the target and ``starts``, the first base at each column.
"""

from collections import Counter

from tests.oracle import edit_paths, mem_anchors

MAX_PLACES, AWAY, TURN, LOOK_BACK, MAX_SHIFT, NEAR = 16, 128, 8, 50, 200, 8


def path_window(target, layer, t0, t1, r0, r1):
    """Starts of target bases t0 to t1 against the layer's bases r0 to r1."""
    return [r0 + x for x in edit_paths.edit_path(target[t0:t1], layer["bases"][r0:r1])]


def known(target):
    """The first bases of a target that are known."""
    return target[: [*target, 4].index(4)]


def reach_on(target, bases):
    """How many first bases of both belong together."""
    length = min(len(target), len(bases), 200)
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
    found = mem_anchors.anchors(target, bases, limits, k, band, MAX_PLACES, AWAY, TURN, most)
    layer["used"] = bool(found)
    if not found:
        layer["start"] = layer["end"] = 0
        layer["starts"] = [0]
        return []
    windows = []
    i = j = None
    chain = mem_anchors.best_chain(found, max_gap, LOOK_BACK, MAX_SHIFT, NEAR)
    for a_i, a_j, length in chain:
        a_i, a_j, length = a_i + 1, a_j + 1, length - 2
        if i is None:
            rise, run = reach_on(known(target[limits[0] : a_j][::-1]), bases[:a_i][::-1])
            layer["start"] = a_j - rise
            i, j = a_i - run, a_j - rise
        else:
            behind = max(0, i - a_i, j - a_j)
            if behind >= length:
                continue
            a_i, a_j, length = a_i + behind, a_j + behind, length - behind
        windows += path_window(target, layer, j, a_j, i, a_i) + list(range(a_i, a_i + length))
        i, j = a_i + length, a_j + length
    rise, run = reach_on(known(target[j : limits[1]]), bases[i:])
    windows += path_window(target, layer, j, j + rise, i, i + run)
    layer["end"] = j + rise
    layer["starts"] = [*windows, i + run]
    return found


def bases_of(layer, column):
    """The interval of the layer's bases at a column."""
    row = column - layer["start"]
    return layer["starts"][row], layer["starts"][row + 1]


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
