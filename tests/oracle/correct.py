"""Consensus of one window, in plain Python; the definition is in ``docs/algorithms/correction.md``.

Layers and their paths are those of `tests.oracle.layer_paths`.
"""

from tests.oracle.drafts import fill_unknown, joined, next_draft, qualities, reconsider
from tests.oracle.erring_words import forget
from tests.oracle.layer_filters import is_cis, keep_own, keep_stretches, leave_out, voters
from tests.oracle.layer_paths import carry_over, first_path


def correct(
    target,
    layers,
    k,
    max_gap,
    drafts,
    filters,
    worth,
    doubt,
    alike,
    errors,
    strands,
    target_layer,
    table,
    limits,
    motifs=(),
):
    """Bases, qualities, depth and origin of the consensus; marks of layers; (aligned, left out, lost).

    Mark 2 has a layer that the haplotype filter left out, 1 one that does not vote or is unlike the target, 3
    one that votes and of the target's copy, as sites tell; some that it agrees and differs at are given.

    Of a million layers ``alike`` may err alike at a column, by run and difference; ``errors`` of a million
    bases are wrong; ``strands`` is the chi square in 64ths of errors of one strand. Every draft has two
    thresholds, the second one for bases of homopolymer runs. The table holds the probabilities that decisions
    are wrong, by row and step, in parts of `drafts.PARTS`; the limits the highest of each quality.
    """
    for layer in layers:
        first_path(target, layer, k, max_gap, len(target) + 256)
        forget(layer, motifs)
    aligned = sum(m["used"] for m in layers)
    own = {**target_layer, "start": 0, "end": len(target), "starts": list(range(len(target) + 1))}
    everyone = [*layers, own]
    draft, left = list(target), 0
    for layer in everyone:
        layer["unlike"] = layer["elsewhere"] = layer["known"] = False
    if aligned and 4 in draft:
        draft, place = fill_unknown(draft, everyone)
        for layer in everyone:
            carry_over(layer, draft, place) if layer["used"] or layer is own else None
    for step, thresholds in enumerate(drafts if aligned else drafts[:1]):
        if step == 1 and filters:
            left = leave_out(everyone, len(draft), alike, errors, strands)
        if 0 < step == len(drafts) - 1 and aligned and not target_layer["used"]:
            made = reconsider(draft, everyone)
            if made != [[code] for code in draft]:
                place = [len(joined(made[:c])) for c in range(len(made) + 1)]
                draft = joined(made)
                for layer in everyone:
                    carry_over(layer, draft, place) if layer["used"] or layer is own else None
        keeps = filters and target_layer["used"]
        kept, ungained = keep_own(draft, everyone, alike, strands) if keeps and step else ({}, set())
        standing = keep_stretches(draft, everyone, alike, strands) if keeps and not step else set()
        deciding = voters(draft, everyone) if step == 1 and filters else {}
        new, place, votes = next_draft(
            draft, everyone, deciding, thresholds, worth, doubt, table, (kept, ungained, standing)
        )
        marks = [
            2 if m["elsewhere"] else 3 if m["used"] and is_cis(m) else int(not m["used"] or m["unlike"])
            for m in layers
        ]
        for layer in everyone:
            carry_over(layer, new, place) if layer["used"] or layer is own else None
        draft = new
    quality = qualities(draft, [probability for probability, _ in votes], limits)
    depth = [min(d, 255) for _, d in votes]
    return draft, quality, depth, own["starts"][:-1], marks, (aligned, left, len(layers) - aligned)
