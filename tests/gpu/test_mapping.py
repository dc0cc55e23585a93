"""Mapping on GPUs equals mapping on the CPU, to the last column."""

import numpy as np
import pytest

from overlapper.mapping.extenders import ON_GPUS
from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import MapParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from tests.property.test_mapping import case
from tests.read_sets import columns_of, mutated, random_text, reads_of

pytestmark = pytest.mark.gpu


def assert_equal(reference, reads, params, **options):
    on_cpu = map_reads(reference, reads, params, device="cpu")
    on_gpu = map_reads(reference, reads, params, device="cuda:0", **options)
    assert columns_of(on_gpu) == columns_of(on_cpu)
    return on_gpu


@pytest.mark.parametrize("extender", ON_GPUS)
@pytest.mark.parametrize("technology", ["ont-r9", "clr", "hifi"])
def test_equals_the_cpu_on_usual_reads(gpu, technology, extender):
    genome = random_genome(400_000, seed=3)
    reads, _ = simulate_reads(genome, technology, coverage=20, seed=4)
    preset = MapParams.preset({"ont-r9": "ont"}.get(technology, technology))
    params = type(preset)(**(vars(preset) | {"extender": extender}))
    assert len(assert_equal(genome, reads, params)) > 300


@pytest.mark.parametrize("extender", ON_GPUS)
def test_equals_the_cpu_on_odd_reads(gpu, extender, monkeypatch):
    """Unknown bases, repeats, pieces, scraps, ends that lie far from anchors, gaps of many bases."""
    monkeypatch.setattr("overlapper.mapping.mapper.GPU_BASES", 50_000)
    rng = np.random.default_rng(8)
    texts, reads = [], []
    for seed in range(150):
        reference, some = case(seed)
        texts, reads = texts + reference, reads + some
    body = random_text(rng, 9000)
    texts.append(body)
    for gap in (100, 700, 2500):
        reads.append(mutated(rng, body[:3000], 0.1) + random_text(rng, gap) + body[3000 + gap : 9000])
        reads.append(body[:2000] + body[2000 + gap :])
        reads.append(random_text(rng, gap) + mutated(rng, body[500:5000], 0.08) + random_text(rng, gap))
    params = MapParams(extender=extender)
    assert len(assert_equal(reads_of(texts), reads_of(reads), params)) > 200


@pytest.mark.parametrize("extender", ON_GPUS)
def test_little_memory_changes_nothing(gpu, extender):
    genome = random_genome(100_000, seed=5)
    reads, _ = simulate_reads(genome, "ont-r10", coverage=15, seed=6)
    reads = Reads.concat([reads, reads_of(["", "ACGT"])])
    assert_equal(genome, reads, MapParams(extender=extender), gpu_memory=400 << 20)
