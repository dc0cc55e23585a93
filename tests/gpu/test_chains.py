"""Seeds, D-SOFT, chains, walks and X-drop of candidates that stay on the GPU equal the CPU, counts too."""

import numpy as np
import pytest

from overlapper import random_genome, simulate_reads
from overlapper.candidates import dsoft_gpu
from overlapper.candidates.dsoft import DsoftFinder
from overlapper.candidates.dsoft_gpu import DsoftOnGpus
from overlapper.extend import chain_gpu, on_gpus, xdrop_gpu
from overlapper.extend.xdrop import REQUEUED
from overlapper.gpu.gpus import Gpus
from overlapper.overlap import pipeline
from overlapper.params.stages import Params, SketchParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.runtime.threads import available_threads
from overlapper.simulate import adapted_model
from overlapper.sketch import seed_index_gpu
from overlapper.sketch.seed_index import SeedIndex
from overlapper.sketch.seed_lists_gpu import DeviceSeedLists
from overlapper.tables import Candidates, Reads
from tests.read_sets import columns_of, linked, reads_of, texts_of

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("n", [1, 2, 100, 2048, 2049, 300_001])
@pytest.mark.parametrize("bits", [1, 7, 31, 44])
def test_the_sort_keeps_the_order_of_equal_keys(gpu, n, bits):
    from overlapper.kernels.common.cuda.radix_sort import sort_pairs
    from overlapper.runtime.gpu import driver
    from overlapper.runtime.gpu.memory import Arena

    rng = np.random.default_rng(n + bits)
    keys = rng.integers(0, min(1 << bits, n), n, np.uint64) << np.uint64(max(0, bits - n.bit_length()))
    with driver.use(0):
        arena = Arena(1 << 26)
        found = sort_pairs(arena.upload(keys), arena.upload(np.arange(n, dtype=np.uint64)), bits, arena)
        order = np.argsort(keys, kind="stable")
        np.testing.assert_array_equal(arena.download(found[0]), keys[order])
        np.testing.assert_array_equal(arena.download(found[1]), order)


def both(reads, preset, monkeypatch, **changes):
    """Run on both devices, with nothing left to the CPU; return what the GPU found, and its counts."""
    expected = pipeline.run(reads, preset, device="cpu", changes=changes)
    monkeypatch.setattr(chain_gpu.ChainsOnGpus, "_find_here", None)
    monkeypatch.setattr(xdrop_gpu.XdropOnGpus, "_find_here", None)
    monkeypatch.setattr(on_gpus, "LEAST_BASES_SEEDED_ON_GPU", 0)
    monkeypatch.setattr(dsoft_gpu, "_LEAST_HITS", 0)
    found = pipeline.run(reads, preset, device="cuda:0", changes=changes)
    assert found.devices == ["cuda:0"]
    found.funnel.pop(REQUEUED, None)
    assert found.funnel == expected.funnel
    assert columns_of(found.overlaps) == columns_of(expected.overlaps)
    return found


def with_repeats(seed, copies=12):
    """Return a genome of 200 kb in which pieces of 3 kb occur again on either strand, and short repeats."""
    rng = np.random.default_rng(seed)
    text = random_genome(200_000, seed=seed).sequence(0)
    piece = text[1000:4000]
    other = piece[::-1].translate(str.maketrans("ACGT", "TGCA"))
    for number in range(copies):
        at = int(rng.integers(5000, len(text)))
        text = text[:at] + (piece if number % 2 else other) + "AC" * 60 + text[at:]
    return Reads.from_sequences(["genome"], [text])


@pytest.mark.parametrize("model", ["clr", "hifi", "ont-r9", "ont-r10"])
def test_overlaps_are_those_of_the_cpu(gpu, monkeypatch, model):
    reads, _ = simulate_reads(with_repeats(1), adapted_model(model, mean_length=5000), coverage=25, seed=1)
    found = both(reads, "auto", monkeypatch)
    assert len(found.overlaps) > 10_000


@pytest.mark.parametrize("model", ["clr", "hifi", "ont-r9", "ont-r10"])
def test_overlaps_by_xdrop_are_those_of_the_cpu(gpu, monkeypatch, model):
    reads, _ = simulate_reads(with_repeats(1), adapted_model(model, mean_length=5000), coverage=25, seed=1)
    found = both(reads, "auto", monkeypatch, extender="xdrop")
    assert len(found.overlaps) > 10_000 and found.funnel["dropped: low score"] > 1000


@pytest.mark.parametrize("scores", [{}, {"xdrop": 15, "stop_window": 64}, {"match": 3, "gap": -2}])
@pytest.mark.parametrize("threshold", [{}, {"error_rate": 0.3}, {"error_rate": 0.01, "delta": 0.0}])
def test_whatever_score_is_needed_xdrop_is_that_of_the_cpu(gpu, monkeypatch, scores, threshold):
    """Many candidates that fall short of it, or few."""
    model = adapted_model("ont-r9", mean_length=2500)
    reads, _ = simulate_reads(with_repeats(2, copies=40), model, coverage=8, seed=2)
    dsoft = {"min_bases": 5, "most_windows": 7, "min_share": 5}
    both(reads, "ont", monkeypatch, extender="xdrop", dsoft=dsoft, xdrop=scores, threshold=threshold)


@pytest.mark.parametrize("dsoft", [{}, {"min_bases": 5, "drift": 0, "band_width": 8}, {"drift": 1000}])
@pytest.mark.parametrize("chain", [{}, {"min_seeds": 1, "sure_seeds": 1, "give_up": 1000}, {"look_back": 3}])
def test_parameters_change_both_alike(gpu, monkeypatch, dsoft, chain):
    model = adapted_model("ont-r9", mean_length=2500)
    reads, _ = simulate_reads(with_repeats(2, copies=40), model, coverage=8, seed=2)
    both(reads, "ont", monkeypatch, dsoft={"most_windows": 7, "min_share": 5, **dsoft}, chain=chain)


@pytest.mark.parametrize("shares", [1, 4])
@pytest.mark.parametrize(
    ("model", "k", "w"), [("clr", 15, 2), ("hifi", 27, 30), ("ont-r10", 19, 7), ("ont-r9", 9, 1)]
)
def test_seeds_are_those_of_the_cpu(gpu, monkeypatch, model, k, w, shares):
    reads, _ = simulate_reads(with_repeats(4, copies=60), adapted_model(model), coverage=20, seed=4)
    texts = ["A" * 3000, "AC" * 900, "N" * 50, *["GATTACA" * 40] * 30, ""]
    reads = Reads.concat([reads, reads_of(texts)])
    sketch = SketchParams(kmer_length=k, window=w)
    expected = SeedIndex.build(reads, sketch, 8)
    monkeypatch.setattr(seed_index_gpu, "_SHARES", (shares,))
    with Gpus([gpu]) as gpus:
        gpus.hold(reads)
        found = seed_index_gpu.build(gpus, reads, sketch, 8)
    assert found.counts == expected.counts and found.limit == expected.limit
    assert columns_of(found.seeding) == columns_of(expected.seeding)
    np.testing.assert_array_equal(found.seeding.ranks, expected.seeding.ranks)
    np.testing.assert_array_equal(found.seeding.starts, expected.seeding.starts)
    np.testing.assert_array_equal(linked(found), linked(expected))


@pytest.mark.parametrize("model", ["clr", "hifi"])
def test_candidates_are_those_of_the_cpu(gpu, monkeypatch, model):
    reads, _ = simulate_reads(with_repeats(3), adapted_model(model, mean_length=3000), coverage=12, seed=3)
    finder = DsoftFinder.prepare(reads, Params(), 4)
    expected = [finder.find(start, min(start + 100, len(reads))) for start in range(0, len(reads), 100)]
    monkeypatch.setattr(DsoftFinder, "find", None)
    with Gpus([gpu]) as gpus:
        gpus.hold(reads)
        found = DsoftOnGpus(gpus, finder, 1 << 20).find(0, len(reads))
    expected = Candidates.concat([candidates.without_hits() for candidates in expected])
    assert columns_of(found) == columns_of(expected) and len(found) > 3000


@pytest.mark.parametrize("extender", ["chain", "xdrop"])
def test_several_gpus_find_what_the_cpu_does(gpu, monkeypatch, extender):
    """The index goes from the GPU that made it to the others, and never to the host."""
    if len(select_devices("cuda")) < 2:
        pytest.skip("there is one GPU")
    monkeypatch.setattr(on_gpus, "LEAST_BASES_SEEDED_ON_GPU", 0)
    monkeypatch.setattr(dsoft_gpu, "_LEAST_HITS", 0)
    monkeypatch.setattr(DeviceSeedLists, "_download", None)
    reads, _ = simulate_reads(with_repeats(6), adapted_model("ont-r10"), coverage=30, seed=6)
    changes = {"extender": extender}
    expected = pipeline.run(reads, "hifi", device="cpu", changes=changes)
    found = pipeline.run(reads, "hifi", device="cuda", changes=changes)
    assert len(found.devices) > 1
    found.funnel.pop(REQUEUED, None)
    assert found.funnel == expected.funnel
    assert columns_of(found.overlaps) == columns_of(expected.overlaps) and len(found.overlaps) > 1000


@pytest.mark.parametrize("seed", range(12))
def test_small_odd_sets_are_those_of_the_cpu(gpu, monkeypatch, seed):
    """Scraps, unknown bases, tandem repeats; many reads of little."""
    reads = reads_of(texts_of(seed, genome=4000, reads=200, longest=1500))
    sketch = {"kmer_length": 9 + seed, "window": 1 + seed % 5, "repeat_limit": 5000 if seed % 2 else 0}
    extender = ("chain", "xdrop")[seed % 2]
    both(reads, "clr", monkeypatch, extender=extender, sketch=sketch, classes={"min_overlap": 50})


@pytest.mark.parametrize("extender", ["chain", "xdrop"])
def test_too_little_room_for_a_block_halves_it(gpu, monkeypatch, extender):
    reads, _ = simulate_reads(
        random_genome(400_000, seed=5), adapted_model("hifi", mean_length=5000), coverage=20, seed=5
    )
    changes = {"extender": extender}
    expected = pipeline.run(reads, "hifi", device="cpu", changes=changes)
    monkeypatch.setattr(dsoft_gpu, "_BLOCKS_A_SLOT", 1)
    found = pipeline.run(
        reads, "hifi", device="cuda:0", changes=changes, gpu_memory=96 << 20, threads=available_threads()
    )
    found.funnel.pop(REQUEUED, None)
    assert found.devices == ["cuda:0"] and found.funnel == expected.funnel
    assert columns_of(found.overlaps) == columns_of(expected.overlaps)
