"""CIGARs that are left behind and given back are those that would have been carried along."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.extend.cigars import with_cigars, without_cigars
from overlapper.tables import Overlaps
from tests.read_sets import columns_of


def overlaps_of(rng, rows, reads):
    runs = rng.integers(0, 9, rows)
    numbers = {
        name: rng.integers(0, 100, rows)
        for name in ("q_start", "q_end", "t_start", "t_end", "matches", "block_length", "score", "seeds")
    }
    query = rng.integers(0, reads - 1, rows)
    return Overlaps(
        query=query,
        target=rng.integers(query + 1, reads),
        reverse=rng.random(rows) < 0.5,
        divergence=rng.random(rows),
        kind=rng.integers(0, 4, rows),
        cigar=rng.integers(0, 2**28, runs.sum()) << 4 | rng.choice([1, 2, 7, 8], runs.sum()),
        cigar_offsets=np.concatenate([[0], np.cumsum(runs)]),
        **numbers,
    )


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 12), max_size=4), st.integers(1, 3))
def test_rows_are_dropped_put_in_order_and_swapped(seed, sizes, threads):
    rng = np.random.default_rng(seed)
    reads = 8
    parts = [overlaps_of(rng, size, reads) for size in sizes]
    rows = rng.permutation(sum(sizes))[: rng.integers(0, sum(sizes) + 1)]
    numbers = rng.permutation(reads)
    whole = Overlaps.concat(parts)
    expected = whole.take(rows).renumber(numbers)
    light = Overlaps.concat([without_cigars(part) for part in parts]).take(rows)
    assert light.cigar is None
    swapped = numbers[light.query] > numbers[light.target]
    found = with_cigars(light.renumber(numbers), parts, rows, swapped=swapped, threads=threads)
    assert columns_of(found.validate()) == columns_of(expected)


def test_overlaps_without_cigars_stay_without():
    part = without_cigars(overlaps_of(np.random.default_rng(1), 5, 8))
    rows = np.array([4, 1])
    found = with_cigars(part.take(rows), [part], rows)
    assert found.cigar is None
    assert columns_of(found) == columns_of(part.take(rows))
