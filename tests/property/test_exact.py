"""Exact overlaps against the plain Python of tests/oracle/exact.py."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.registry import finder
from overlapper.extend import exact
from overlapper.params.stages import DsoftParams, Params, SketchParams
from tests.oracle.exact import exact_overlap
from tests.read_sets import random_text, reads_of, reverse_complement, texts_of
from tests.tries import tries

PARAMS = Params(
    sketch=SketchParams(kmer_length=11, window=2, repeat_limit=60), dsoft=DsoftParams(min_bases=11)
)


def tandem_texts(rng):
    """Return reads without errors of three copies of a unit, one of which differs in a base."""
    unit = random_text(rng, 150)
    other = unit[:70] + ("A" if unit[70] != "A" else "C") + unit[71:]
    genome = random_text(rng, 200) + unit + other + unit + random_text(rng, 200)
    starts = rng.integers(0, len(genome) - 300, 12).tolist()
    return [genome[s : s + 300] if s % 2 else reverse_complement(genome[s : s + 300]) for s in starts]


@settings(max_examples=tries(80), deadline=None)
@given(seed=st.integers(0, 2**32), tandem=st.booleans(), threads=st.integers(1, 3))
def test_exact_overlaps_are_the_oracles(seed, tandem, threads):
    texts = tandem_texts(np.random.default_rng(seed)) if tandem else texts_of(seed, errors=0.002)
    reads = reads_of(texts)
    candidates = finder("dsoft").prepare(reads, PARAMS, 1).find(0, len(reads))
    overlaps, dropped = exact.extend(reads, candidates, None, threads)
    expected = []
    for i in range(len(candidates)):
        hits = slice(candidates.hit_offsets[i], candidates.hit_offsets[i + 1])
        query, target = int(candidates.query[i]), int(candidates.target[i])
        reverse = bool(candidates.reverse[i])
        found = exact_overlap(
            texts[query],
            texts[target],
            reverse,
            list(
                zip(
                    candidates.hit_query_pos[hits].tolist(),
                    candidates.hit_target_pos[hits].tolist(),
                    strict=True,
                )
            ),
            candidates.seed_length,
        )
        if found is not None:
            expected.append((query, target, reverse, *found))
    names = ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end", "score", "seeds")
    assert list(zip(*(getattr(overlaps, name).tolist() for name in names), strict=True)) == expected
    assert dropped == {"differences": len(candidates) - len(expected)}
