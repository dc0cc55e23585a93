"""The same overlaps, to the byte, however a read set is cut into tiles."""

import dataclasses
import functools

import numpy as np
import pytest

from overlapper.candidates import spgemm
from overlapper.candidates.registry import FINDERS
from overlapper.extend import chain
from overlapper.extend.registry import EXTENDERS
from overlapper.overlap import parts, pipeline, tiles
from overlapper.overlap.tiles import Folder
from overlapper.simulate import PRESETS as MODELS
from overlapper.simulate import simulate_reads
from overlapper.sketch import deep_reads, page_chains
from overlapper.tables import Reads
from overlapper.tiled import plan
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.workdir import Workdir
from tests.read_sets import columns_of, random_text, reads_of, simulated_reads

CHANGES = {"classes": {"keep_internal": True}, "chain": {"min_score": 20}}
LARGE = 1 << 34


@functools.cache
def simulated(model):
    return simulated_reads(model, 7)


def tiled(reads, folder, changes, *, blocks=1, threads=1, device="cpu", preset="auto"):
    """Find overlaps in so many blocks."""
    with Workdir(folder) as workdir:
        store = store_reads(
            workdir, [reads.take(part) for part in np.array_split(np.arange(len(reads)), blocks)]
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tiles, "cut_blocks", lambda lengths, *_: cut_into(lengths, blocks))
            result = pipeline.find(
                store, preset, changes=changes, threads=threads, device=device,
                folder=Folder(workdir, Budget(LARGE, threads)),
            )  # fmt: skip
        return result, result.overlaps


def assert_same_in_tiles(whole, reads, folder, changes, *, blocks=3, preset="auto"):
    """Check that a run in one block and one in several are the same as one in memory."""
    for number, threads in ((1, 2), (blocks, 1)):
        run, overlaps = tiled(
            reads, folder / f"{number}", changes, blocks=number, threads=threads, preset=preset
        )
        assert columns_of(overlaps) == columns_of(whole.overlaps)
        assert (run.funnel, run.params, run.why) == (whole.funnel, whole.params, whole.why)


def cut_into(lengths, blocks):
    return np.unique(np.linspace(0, len(lengths), blocks + 1).astype(int))


@pytest.mark.parametrize(
    ("model", "finder", "extender"),
    [
        *(("ont-r9", "dsoft", extender) for extender in EXTENDERS if extender != "exact"),
        ("hifi", "dsoft", "chain"),
        ("ont-r9", "spgemm", "chain"),
        ("hifi", "spgemm", "xdrop"),
    ],
)
def test_blocks_threads_and_strips_do_not_matter(model, finder, extender, tmp_path, monkeypatch):
    reads, changes = simulated(model), CHANGES | {"finder": finder, "extender": extender}
    whole = pipeline.run(reads, changes=changes, threads=1)
    assert len(whole.overlaps) > 100
    monkeypatch.setattr(tiles, "STRIP_BASES", 30_000)
    monkeypatch.setattr(tiles, "BLOCK_BASES", 10_000)
    monkeypatch.setattr(parts, "WAITING_BYTES", 2_000)
    monkeypatch.setattr(page_chains, "PAGE_BYTES", LARGE // 5_000)
    monkeypatch.setattr(spgemm, "_BASES_AT_A_TIME", 700)
    monkeypatch.setattr("overlapper.overlap.parts.ROWS_AT_A_TIME", 50)
    assert_same_in_tiles(whole, reads, tmp_path, changes, blocks=5)


def test_a_plasmid_of_many_copies_is_found_in_tiles_as_well(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    genome, plasmid = random_text(rng, 30_000), random_text(rng, 1500) * 3
    model = dataclasses.replace(MODELS["hifi"], mean_length=1500, length_sd=400, min_length=800)
    texts = []
    for source, coverage in ((genome, 8), (plasmid, 40)):
        reads, _ = simulate_reads(Reads.from_sequences(["s"], [source]), model, coverage=coverage, seed=3)
        texts += [reads.sequence(i) for i in range(len(reads))]
    n_plasmid = len(reads)
    reads = reads_of(texts)
    whole = pipeline.run(reads, "hifi", threads=1)
    of_plasmid = np.count_nonzero(whole.overlaps.query >= len(reads) - n_plasmid)
    assert of_plasmid > 0.9 * n_plasmid * (n_plasmid - 1) / 2
    monkeypatch.setattr(page_chains, "PAGE_BYTES", LARGE // 5_000)
    assert_same_in_tiles(whole, reads, tmp_path, {}, preset="hifi")


def test_satellites_are_the_same_in_tiles(tmp_path, monkeypatch):
    rng = np.random.default_rng(6)
    flank, satellite = random_text(rng, 6000), random_text(rng, 40) * 60
    model = dataclasses.replace(MODELS["ont-r9"], mean_length=1500, length_sd=400, min_length=800)
    source = Reads.from_sequences(["s"], [flank + satellite])
    reads, _ = simulate_reads(source, model, coverage=25, seed=3)
    monkeypatch.setattr(deep_reads, "MET_AT_EVERY_BASE", 4)
    whole = pipeline.run(reads, threads=1)
    assert len(whole.overlaps) > len(reads)
    monkeypatch.setattr(page_chains, "PAGE_BYTES", LARGE // 5_000)
    assert_same_in_tiles(whole, reads, tmp_path, {})


@pytest.mark.parametrize("finder", ["dsoft", "spgemm"])
@pytest.mark.parametrize("blocks", [1, 2])
def test_typical_agreement_is_measured_on_the_same_chains(finder, blocks, tmp_path, monkeypatch):
    monkeypatch.setattr(chain, "MOST_TYPICAL", 1000)
    reads, changes = simulated("ont-r9"), CHANGES | {"finder": finder}
    whole = pipeline.run(reads, changes=changes, threads=1)
    assert 0 < whole.params.chain.typical_agreement < chain.MOST_TYPICAL
    assert tiled(reads, tmp_path / "work", changes, blocks=blocks)[0].params == whole.params


def test_the_best_of_each_end_in_tiles(tmp_path):
    reads, changes = simulated("ont-r9"), {"classes": {"best": 2}}
    whole = pipeline.run(reads, changes=changes, threads=1)
    assert 0 < len(whole.overlaps) < len(pipeline.run(reads, threads=1).overlaps)
    assert_same_in_tiles(whole, reads, tmp_path, changes, blocks=3)


def test_exact_overlaps_in_tiles(tmp_path):
    genome = random_text(np.random.default_rng(6), 20_000)
    texts = [genome[start : start + 2000] for start in range(0, 18_000, 300)]
    reads = reads_of(texts)
    changes = {"extender": "exact", "classes": {"best_of_pair": 0}}
    whole = pipeline.run(reads, changes=changes, threads=1)
    assert len(whole.overlaps) > 300
    assert_same_in_tiles(whole, reads, tmp_path, changes, blocks=3)


def test_all_overlaps_of_each_pair_in_tiles(tmp_path):
    rng = np.random.default_rng(6)
    source = Reads.from_sequences(["s"], [random_text(rng, 3000) + random_text(rng, 1500) * 6])
    model = dataclasses.replace(MODELS["hifi"], mean_length=4000, length_sd=400, min_length=3000)
    reads, _ = simulate_reads(source, model, coverage=20, seed=3)
    changes = {"classes": {"best_of_pair": 0, "keep_internal": True}}
    whole = pipeline.run(reads, changes=changes, threads=1)
    one = pipeline.run(reads, changes={"classes": {"keep_internal": True}}, threads=1)
    assert len(whole.overlaps) > 1.5 * len(one.overlaps)
    assert columns_of(whole.overlaps.sort_canonical()) == columns_of(whole.overlaps)
    assert_same_in_tiles(whole, reads, tmp_path, changes)


@pytest.mark.parametrize("finder", FINDERS)
@pytest.mark.parametrize("texts", [["ACGTTGCA" * 30], ["", "ACGT", "N" * 300]])
def test_sets_without_overlaps(texts, finder, tmp_path):
    reads = reads_of(texts)
    whole = pipeline.run(reads, changes={"finder": finder}, threads=1)
    run, overlaps = tiled(reads, tmp_path / "work", {"finder": finder}, blocks=2)
    assert len(overlaps) == 0
    assert run.funnel == whole.funnel
    assert run.emptied() == whole.emptied()


def test_blocks_fit_their_room():
    lengths = np.full(1000, 10_000)
    for room in (10**9, 10**7, 10**6):
        bounds = plan.cut_blocks(lengths, 24 * 10**6, room)
        assert (bounds[0], bounds[-1]) == (0, 1000)
        two_blocks = np.sort(np.diff(bounds))[-2:].sum() / 1000
        assert plan.tile_bytes(int(lengths.sum()), 24 * 10**6) * two_blocks <= 1.1 * room
    assert len(plan.cut_blocks(lengths, 24 * 10**6, 10**9)) == 2


@pytest.mark.parametrize("workers, blocks", [(1, 1), (2, 3), (4, 4), (100, 20)])
def test_all_workers_have_tiles_however_much_memory_there_is(workers, blocks):
    fewest = plan.fewest_tiles(workers)
    assert len(plan.cut_blocks(np.full(1000, 10_000), 24 * 10**6, 10**9, fewest)) == blocks + 1
