"""Words in the middle of which a strand errs, in plain Python (``docs/algorithms/correction.md``, section 2).

Layers are those of `tests.oracle.layer_paths`, with their paths. Motifs are text, with a small letter for the
base that is read for another one.
"""

from collections import Counter, defaultdict


def word_around(layer, x):
    """The seven bases around one, on the strand of the read; none if there are fewer or some are unknown."""
    around = layer["bases"][x - 3 : x + 4] if x >= 3 else []
    if len(around) < 7 or max(around) > 3:
        return None
    return "".join("ACGT"[b] for b in ([3 - b for b in around[::-1]] if layer["reverse"] else around))


def is_erring(word, motifs):
    """Whether a motif is in a word with its small letter in the middle."""
    at = [(3 - next(x for x, c in enumerate(m) if c.islower()), m.upper()) for m in motifs]
    return any(word[start : start + len(motif)] == motif for start, motif in at)


def forget(layer, motifs):
    """Make the bases in the middle of erring words unknown."""
    words = [word_around(layer, x) for x in range(len(layer["bases"]))]
    for x, word in enumerate(words):
        if word and is_erring(word, motifs):
            layer["bases"][x] = 5


def contradicted(target, layers):
    """How many columns have each word, and at how many of them the other strand contradicts it."""
    seen, wrong = Counter(), Counter()
    has, words = defaultdict(Counter), {}
    for layer in layers:
        for c in range(layer["start"], layer["end"]) if layer["used"] else ():
            x, behind = layer["starts"][c - layer["start"] : c - layer["start"] + 2]
            kind = 4 if x == behind else layer["bases"][x]
            if kind <= 4:
                has[c, layer["reverse"]][kind] += 1
            word = word_around(layer, x) if kind < 4 else None
            if word:
                words.setdefault((c, layer["reverse"], kind), word)
    for (c, strand, base), word in words.items():
        here, there = has[c, strand], has[c, not strand]
        n, others = sum(here.values()), sum(there.values())
        most = max(range(5), key=lambda kind: (there[kind], -kind))
        told = others >= 3 and most < 4 and 2 * there[most] > others
        if told and here[base] >= 3 and 3 * here[base] >= n:
            seen[word] += 1
            rare = 10 * there[base] <= others and there[base] * n < here[most] * others
            wrong[word] += base != most and rare
    return seen, +wrong
