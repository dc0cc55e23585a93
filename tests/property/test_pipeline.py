"""The same overlaps, to the byte, however a run is cut up and however the reads are ordered and named."""

import functools

import numpy as np
import pytest

from overlapper.candidates.registry import FINDERS
from overlapper.extend.registry import EXTENDERS
from overlapper.io import open_overlaps
from overlapper.overlap import found, pipeline, tile
from overlapper.tables import Reads
from tests.read_sets import columns_of, reads_of, simulated_reads

PRESETS = {"ont": "ont", "clr": "clr", "hifi": "hifi", "auto": "ont-r9"}
"""Presets of a run, and the reads that it is given."""
CHANGES = {"classes": {"keep_internal": True}, "chain": {"min_score": 20}}


@functools.cache
def simulated(preset):
    return simulated_reads(PRESETS[preset], 9)


def run(reads, preset, finder, extender, threads=1):
    changes = CHANGES | {"finder": finder, "extender": extender}
    return pipeline.run(reads, preset, changes=changes, threads=threads)


@functools.cache
def expected(preset, finder, extender):
    return run(simulated(preset), preset, finder, extender)


def paf(path, reads, overlaps, threads):
    with open_overlaps(str(path), reads, threads=threads) as writer:
        writer.write(overlaps)
    return path.read_bytes()


def of_different_reads(overlaps, reads):
    """Leave out identical reads: which of the two is the query, only their order in the file tells."""
    different = [
        reads.sequence(query) != reads.sequence(target)
        for query, target in zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True)
    ]
    assert different.count(False) == 1
    return overlaps.take(np.array(different))


every_preset = pytest.mark.parametrize("preset", PRESETS)
every_way = pytest.mark.parametrize(
    ("finder", "extender"),
    [(finder, extender) for finder in FINDERS for extender in EXTENDERS if extender != "exact"],
)


@every_preset
@every_way
def test_threads_and_blocks_do_not_matter(preset, finder, extender, tmp_path, monkeypatch):
    reads = simulated(preset)
    one = expected(preset, finder, extender)
    wanted = paf(tmp_path / "one.paf", reads, one.overlaps, 1)
    assert len(one.overlaps) > 100
    assert wanted.count(b"\n") == len(one.overlaps)
    for threads, module, block, size in ((2, found, "BLOCK_BASES", 10_000), (3, tile, "BLOCK_HITS", 1)):
        monkeypatch.setattr(module, block, size)
        other = run(reads, preset, finder, extender, threads)
        assert columns_of(other.overlaps) == columns_of(one.overlaps)
        assert paf(tmp_path / "other.paf", reads, other.overlaps, threads) == wanted
        assert (other.funnel, other.params, other.why) == (one.funnel, one.params, one.why)


@every_preset
@every_way
def test_order_and_names_do_not_matter(preset, finder, extender):
    reads = simulated(preset)
    one = expected(preset, finder, extender)
    order = np.random.default_rng(5).permutation(len(reads))
    shuffled = reads.take(order)
    names = [f"z{len(reads) - i}" for i in range(len(reads))]
    shuffled = Reads.from_sequences(names, [shuffled.sequence(i) for i in range(len(reads))])
    other = run(shuffled, preset, finder, extender, 2)
    mapped_back = other.overlaps.renumber(order).sort_canonical()
    assert columns_of(of_different_reads(mapped_back, reads)) == columns_of(
        of_different_reads(one.overlaps, reads)
    )
    assert (other.funnel, other.params, other.why) == (one.funnel, one.params, one.why)


@every_way
def test_pairs_come_once_in_canonical_order(finder, extender):
    overlaps = expected("ont", finder, extender).overlaps.validate()
    assert columns_of(overlaps) == columns_of(overlaps.sort_canonical())
    assert (overlaps.query < overlaps.target).all()
    pairs = list(zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)


@every_way
@pytest.mark.parametrize("texts", [[], ["ACGTTGCA" * 30], ["", "ACGT", "N" * 300]])
@pytest.mark.parametrize("preset", ["auto", "hifi"])
def test_sets_without_overlaps_say_why(finder, extender, texts, preset):
    reads = reads_of(texts)
    result = run(reads, preset, finder, extender, 2)
    assert len(result.overlaps.validate()) == 0
    assert "no overlaps" in result.emptied()
