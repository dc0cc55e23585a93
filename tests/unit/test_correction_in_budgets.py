"""Correction in a memory budget gives the same bytes as in memory, whatever is worked on at a time."""

import dataclasses
import functools

import numpy as np
import pytest

from overlapper.correction import pileup_source, read_rounds
from overlapper.correction.pileup_source import PileupSource, write_rows
from overlapper.correction.pileups import nearest_divergence, rows_of
from overlapper.correction.reads import correct_packed
from overlapper.correction.resources import Resources
from overlapper.correction.uncovered import Uncovered
from overlapper.errors import ParameterError
from overlapper.io.artifacts import Artifact, writing
from overlapper.io.identity import QualitiesDigest, digest_of_reads
from overlapper.overlap import pipeline
from overlapper.params.correction import CorrectParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.canonical import packed
from overlapper.tables import Overlaps
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.stages import Stages
from overlapper.tiled.workdir import Workdir
from tests.read_sets import columns_of, reads_of
from tests.steps import correct

LARGE = 1 << 32
PARAMS = CorrectParams(rounds=2)


@functools.cache
def read_set(preset="ont-r9", coverage=10):
    """Reads of which every third has no qualities, one has unknown bases, and one overlaps none."""
    reads, _ = simulate_reads(random_genome(15_000, seed=5), preset, coverage=coverage, seed=2)
    texts = [reads.sequence(i) for i in range(len(reads))]
    texts[1] = texts[1][:200] + "N" * 40 + texts[1][240:]
    texts.append("ACGTTGCA" * 90)
    reads = reads_of(texts)
    sizes = np.where(np.arange(len(reads)) % 3, reads.lengths, 0)
    qualities = np.random.default_rng(1).integers(3, 30, sizes.sum()).astype(np.uint8)
    return dataclasses.replace(
        reads, qualities=qualities, quality_offsets=np.concatenate([[0], np.cumsum(sizes)])
    )


@functools.cache
def in_memory(uncovered):
    return correct(read_set(), params=PARAMS, uncovered=uncovered)


def stored(
    folder, *, threads=1, blocks=1, uncovered=Uncovered.KEEP, note=lambda text: None, reads_of=read_set
):
    """Correct in so many blocks of tiles."""
    reads = reads_of()
    parts = [reads.take(part) for part in np.array_split(np.arange(len(reads)), 3)]
    with Workdir(folder, note=note) as workdir, pytest.MonkeyPatch.context() as patch:
        store = store_reads(workdir, parts)
        patch.setattr(
            "overlapper.overlap.tiles.cut_blocks",
            lambda lengths, *_: np.linspace(0, len(lengths), blocks + 1).astype(int),
        )
        made = correct_packed(
            store,
            Resources(Stages(workdir, Budget(LARGE, threads)), threads),
            None,
            PARAMS,
            uncovered=uncovered,
        )
        return made, columns_of(made.reads)


@pytest.mark.parametrize(
    ("threads", "blocks", "room", "uncovered"),
    [(1, 1, LARGE, Uncovered.KEEP), (2, 3, 40_000, Uncovered.SPLIT), (1, 2, 1, Uncovered.TRIM)],
)
def test_bytes_do_not_depend_on_the_budget(tmp_path, monkeypatch, threads, blocks, room, uncovered):
    monkeypatch.setattr(pileup_source, "_BUCKET_ROWS", 100)
    monkeypatch.setattr(Budget, "left", lambda self, n_reads: room)
    whole = in_memory(uncovered)
    made, columns = stored(tmp_path / "w", threads=threads, blocks=blocks, uncovered=uncovered)
    assert columns == columns_of(whole.reads)
    assert (made.funnel, made.warnings) == (whole.funnel, whole.warnings)
    assert made.changes.to_tsv() == whole.changes.to_tsv()


@pytest.mark.parametrize(("room", "at_a_time"), [(LARGE, 1 << 25), (40_000, 30_000)])
def test_bytes_of_accurate_reads_do_not_depend_on_what_is_voted_on_at_a_time(
    tmp_path, monkeypatch, room, at_a_time
):
    accurate = functools.partial(read_set, "ont-r10", 24)
    stages = Stages()
    whole = correct(accurate(), params=PARAMS, threads=2, stages=stages)
    one, two = (stage.facts for stage in stages.done if stage.name in ("correct-1", "correct-2"))
    assert min(one["leaders"], one["followers"], two["settled"]) > 4
    monkeypatch.setattr(Budget, "left", lambda self, n_reads: room)
    monkeypatch.setattr(read_rounds, "_AT_A_TIME", at_a_time)
    made, columns = stored(tmp_path / "w", reads_of=accurate)
    assert columns == columns_of(whole.reads)
    assert (made.funnel, made.warnings) == (whole.funnel, whole.warnings)
    assert made.changes.to_tsv() == whole.changes.to_tsv()


def test_what_is_finished_is_kept_and_what_it_took_is_removed(tmp_path):
    _, first = stored(tmp_path / "w")
    assert not list((tmp_path / "w").glob("for-*"))
    notes = []
    _, again = stored(tmp_path / "w", note=notes.append)
    assert again == first
    assert len(notes) == 4


def test_a_run_that_was_ended_between_tiles_and_votes_goes_on(tmp_path, monkeypatch):
    _, whole = stored(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(
            "overlapper.correction.round_overlaps.write_rows",
            lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            stored(tmp_path / "w")
    (left,) = (tmp_path / "w").glob("for-correct-1-overlaps-*")
    assert list(left.glob("overlaps-*/*-*"))
    _, after = stored(tmp_path / "w", blocks=2)
    assert after == whole
    assert not left.exists()


def test_reads_are_the_same_in_memory_and_on_disk(tmp_path):
    reads = dataclasses.replace(
        read_set(), name_bytes=np.arange(2 * len(read_set())).astype(np.uint8) % 26 + 65,
        name_offsets=2 * np.arange(len(read_set()) + 1),
    )  # fmt: skip
    with Workdir(tmp_path / "w") as workdir:
        on_disk = store_reads(workdir, [reads.rows(0, 5), reads.rows(5, len(reads))])
        assert on_disk.artifact.facts["reads"] == digest_of_reads(reads)
        assert on_disk.artifact.facts["qualities"] == digest_of_reads(reads, QualitiesDigest)
        for store in (on_disk, packed(reads, 1)):
            assert store.names().names == reads.names
            assert store.names().lengths.tolist() == reads.lengths.tolist()
            for some in (np.array([4, 0, 9]), np.arange(3, 7), np.arange(0)):
                wanted = reads.take(store.order[some])
                for taken in (store.take(some), store.mapped().take(some)):
                    for name in ("lengths", "words", "unknown_start", "unknown_offsets"):
                        assert getattr(taken, name).tolist() == getattr(wanted, name).tolist()
                assert store.take(some).qualities.tolist() == wanted.qualities.tolist()
                assert store.take(some).quality_offsets.tolist() == wanted.quality_offsets.tolist()


@pytest.mark.parametrize("unknown", [0, 1, 2, 99])
def test_divergences_on_disk_are_those_of_all_rows(tmp_path, unknown):
    reads = read_set()
    overlaps = pipeline.find_overlaps(reads)
    divergence = overlaps.divergence.copy()
    divergence[:unknown] = np.nan
    overlaps = dataclasses.replace(overlaps, divergence=divergence).take(np.arange(99))
    with writing(tmp_path / "rows") as artifact:
        write_rows(artifact, [overlaps.rows(0, 40), overlaps.rows(40, 99)], reads.lengths, 99, 1)
    assert artifact.facts["divergence"] == rows_of(overlaps).typical_divergence()
    kept = Artifact(tmp_path / "rows", artifact.facts)
    assert len(kept.load("read", np.int32)) == 198
    assert kept.load("first", np.int64)[-1] == 198
    rows = rows_of(overlaps)
    np.testing.assert_array_equal(
        kept.load("nearest", np.float32), nearest_divergence(rows.read, rows.divergence, len(reads))
    )


def test_a_block_takes_what_there_is_room_for(tmp_path):
    reads = read_set()
    with Workdir(tmp_path / "w") as workdir:
        store = store_reads(workdir, [reads])
        overlaps = Overlaps.empty()
        with writing(tmp_path / "rows") as artifact:
            write_rows(artifact, [overlaps], store.lengths, 0, 1)
        artifact = Artifact(tmp_path / "rows", artifact.facts)
        pileups = PileupSource.of_reads(store, artifact, 30_000)
        blocks = list(pileups.blocks())
        assert len(blocks) > 2
        done = 0
        for block in blocks:
            targets = block.load().targets
            assert targets.total_bases <= 30_000
            assert block.first == done
            done += len(targets)
        assert done == len(reads)


def test_a_budget_that_is_too_small_is_told(tmp_path):
    with Workdir(tmp_path / "w") as workdir:
        store = store_reads(workdir, [read_set()])
        with pytest.raises(ParameterError, match=r"memory budget of 100\.0 MB is too small"):
            correct_packed(store, Resources(Stages(workdir, Budget(100_000_000, 1)), 1))


@pytest.mark.parametrize("threads", [1, 2])
def test_groups_of_deep_reads_do_not_depend_on_the_budget(tmp_path, monkeypatch, threads):
    monkeypatch.setattr("tests.unit.test_correction_in_budgets.PARAMS", CorrectParams(rounds=2, depth=12))
    reads = read_set("ont-r10", 40)
    whole = correct(reads, params=CorrectParams(rounds=2, depth=12))
    made, columns = stored(
        tmp_path / "w", threads=threads, blocks=2, reads_of=lambda: read_set("ont-r10", 40)
    )
    assert whole.funnel["groups"] in (4, 5)
    assert columns == columns_of(whole.reads)
    assert made.funnel == whole.funnel
