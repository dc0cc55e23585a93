"""Matches in a text, made of those in its parts, are those in the whole."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import DeviceError
from overlapper.index import Index
from overlapper.index.parts import cut, index_part, index_size, merge_fixed_seeds, merge_smems
from overlapper.tables import Matches, Reads
from tests.property.test_exact_matches import FEW, cases, one, rows
from tests.tries import tries


def parts_of(index, bounds):
    """Index every part."""
    return [Index(index_part(index.fm, first, last, 1), index.text) for first, last in pairwise(bounds)]


@settings(FEW, max_examples=tries(40))
@given(cases(), st.integers(1, 10), st.data())
def test_parts_make_the_whole(case, min_length, data):
    _, index, read = case
    segments = len(index.fm.segments) - 1
    inner = data.draw(st.sets(st.integers(1, segments - 1), max_size=3)) if segments > 1 else set()
    parts = parts_of(index, [0, *sorted(inner), segments])
    mems = Matches.concat([part.mems(one(read), min_length, threads=1) for part in parts]).sort_canonical()
    assert rows(mems) == rows(index.mems(one(read), min_length, threads=1))
    smems = merge_smems([part.smems(one(read), min_length, threads=1) for part in parts])
    assert rows(smems) == rows(index.smems(one(read), min_length, threads=1))
    bounds = sum(part.bounds(one(read), threads=1) for part in parts)
    np.testing.assert_array_equal(bounds, index.bounds(one(read), threads=1))


@settings(FEW, max_examples=tries(40))
@given(cases(), st.integers(1, 8), st.integers(0, 2), st.sampled_from([1, 5, 1000]))
def test_limits_of_fixed_seeds_hold_for_all_parts_together(case, length, mismatches, hit_limit):
    _, index, read = case
    options = {"mismatches": mismatches, "hit_limit": hit_limit, "threads": 1}
    parts = parts_of(index, range(len(index.fm.segments)))
    found = merge_fixed_seeds([part.fixed_seeds(one(read), length, **options) for part in parts], hit_limit)
    whole = index.fixed_seeds(one(read), length, **options)
    assert rows(found.matches) == rows(whole.matches)
    for field in ("mismatches", "dropped_query", "dropped_start", "dropped_hits"):
        np.testing.assert_array_equal(getattr(found, field), getattr(whole, field))


def test_parts_fit_and_cover_the_text():
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("ACGT"), size)) for size in rng.integers(1, 3000, 40)]
    fm = Index.build(Reads.from_sequences(map(str, range(40)), texts), threads=1).fm
    bounds, size = cut(fm, 200_000)
    assert (bounds[0], bounds[-1]) == (0, 40)
    assert len(bounds) > 3
    for first, last in pairwise(bounds):
        part = index_part(fm, first, last, 1)
        arrays = (part.bins, part.borders, part.samples, part.table, part.text, part.segments)
        enough = index_size(part.rows // 2 - (last - first), last - first, 3)
        assert sum(array.nbytes + 256 for array in arrays) <= enough <= size <= 200_000
    with pytest.raises(DeviceError, match=r"a run of \d+ known bases .* more memory, or the CPU"):
        cut(fm, 50_000)
