"""Assembly and polishing in a memory budget give the bytes that they give in memory."""

import dataclasses
import functools

import numpy as np
import pytest

from overlapper.assembly.contigs import assemble_packed
from overlapper.assembly.rubbish import LeftOut
from overlapper.correction.polish import Unitigs, polish_packed
from overlapper.correction.resources import Resources
from overlapper.errors import ParameterError
from overlapper.params.assembly import AssembleParams, WhatOfCopies, WhenToCorrect
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.params.graph import GraphParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.stages import Stages
from overlapper.tiled.workdir import Workdir
from tests.read_sets import columns_of
from tests.steps import assemble_reads, polish

GENOME = random_genome(60_000, seed=5)
POLISHING = CorrectParams(rounds=1, thresholds=POLISHING_THRESHOLDS)
SMALL, LARGE = 30_000, 1 << 33


@functools.cache
def read_set():
    reads, _ = simulate_reads(GENOME, "ont-r10", coverage=9, seed=2)
    return reads


@pytest.fixture
def with_store(tmp_path, monkeypatch):
    """A store, its folder, and a budget that cuts reads, or unitigs and reads, into several blocks."""
    monkeypatch.setattr(Budget, "left", lambda self, n_reads: SMALL)
    monkeypatch.setattr("overlapper.overlap.tiles.cut_blocks", cut_in_three)
    monkeypatch.setattr("overlapper.correction.read_placement.cut_blocks", cut_in_three)
    reads = read_set()
    with Workdir(tmp_path / "w") as workdir:
        half = len(reads) // 2
        store = store_reads(workdir, [reads.rows(0, half), reads.rows(half, len(reads))])
        yield store, workdir, Resources(Stages(workdir, Budget(LARGE, 1)), 2)


def cut_in_three(lengths, *_):
    return np.unique(np.linspace(0, len(lengths), 4).astype(int))


def test_polished_unitigs_do_not_depend_on_the_budget(with_store):
    store, workdir, resources = with_store
    draft = GENOME.sequence(0)
    draft = Reads.from_sequences(
        ["a", "bc"],
        [draft[:20_000] + 100 * "N" + draft[20_600:42_100] + draft[42_103:45_000], draft[47_000:]],
    )
    unitigs = Unitigs(draft, np.array([False, True]))
    whole = polish(unitigs, read_set(), POLISHING)
    made = polish_packed(unitigs, store, resources, POLISHING)
    assert columns_of(made.unitigs.sequences) == columns_of(whole.unitigs.sequences)
    assert (made.funnel, made.warnings) == (whole.funnel, whole.warnings)
    assert not list(workdir.folder.glob("for-*"))


def first_ones(reads, laid_out, *_):
    """Return contigs, and their first reads as if these were of contigs that are left out."""
    own = laid_out.reads
    read = own.read[np.lexsort([own.read_length, own.start, own.unitig])][:5].astype(np.int32)
    none = np.zeros(len(read), np.int32)
    return laid_out, LeftOut(none, none, none, read, none + 1)


def test_what_is_set_aside_does_not_depend_on_the_budget(with_store, monkeypatch):
    store, _, resources = with_store
    monkeypatch.setattr("overlapper.assembly.steps.LAYOUT_COPIES", 0)
    monkeypatch.setattr("overlapper.assembly.layouts.leave_out", first_ones)
    params = AssembleParams(depth=6, graph=GraphParams(min_overlap=1500))
    whole = assemble_reads(read_set(), params)
    made = assemble_packed(store, resources, params)
    assert whole.stages[0].facts["reads set aside"] > 5
    assert made.stages[0].facts == whole.stages[0].facts
    assert made.names_left_out == whole.names_left_out
    assert len(set(made.names_left_out)) == 5 and set(made.names_left_out) <= set(read_set().names)
    assert columns_of(made.contigs.sequences) == columns_of(whole.contigs.sequences)
    assert made.contigs.depth.tolist() == whole.contigs.depth.tolist()
    draft = Unitigs(Reads.from_sequences(["a"], [GENOME.sequence(0)]), np.array([False]))
    polishing = dataclasses.replace(POLISHING, depth=6)
    in_memory = polish(draft, read_set(), polishing)
    made = polish_packed(draft, store, resources, polishing)
    assert columns_of(made.unitigs.sequences) == columns_of(in_memory.unitigs.sequences)
    assert made.funnel == in_memory.funnel


@pytest.mark.parametrize("correct", ["never", "always"])
def test_contigs_do_not_depend_on_the_budget(with_store, monkeypatch, correct):
    store, workdir, resources = with_store
    monkeypatch.setattr("overlapper.assembly.steps.LAYOUT_COPIES", 0)
    monkeypatch.setattr("overlapper.assembly.layouts.leave_out", first_ones)
    params = AssembleParams(
        WhenToCorrect(correct),
        correction=CorrectParams(rounds=1),
        polishing=POLISHING,
        graph=GraphParams(min_overlap=1500),
    )
    whole = assemble_reads(read_set(), params)
    made = assemble_packed(store, resources, params)
    assert len(made.contigs)
    assert columns_of(made.contigs.sequences) == columns_of(whole.contigs.sequences)
    assert made.contigs.depth.tolist() == whole.contigs.depth.tolist()
    assert made.names_left_out == whole.names_left_out
    assert len(set(made.names_left_out)) == 5 and set(made.names_left_out) <= set(read_set().names)
    names = [stage.name for stage in resources.stages.done]
    assert ("corrected-reads" in names) == (correct == "always")
    workdir.finisher.wait()  # for the last stage, which is written behind
    again = assemble_packed(store, Resources(Stages(workdir, Budget(LARGE, 1)), 2), params)
    assert all(stage.kept for stage in again.stages)
    assert columns_of(again.contigs.sequences) == columns_of(whole.contigs.sequences)


def test_overlaps_that_do_not_fit_are_told(with_store):
    store, _, resources = with_store
    with pytest.raises(
        ParameterError, match=r"is too small for [0-9,]+ overlaps, expected [0-9]+ MB or more"
    ):
        assemble_packed(store, resources)


def test_copies_that_cannot_be_told_apart_in_the_budget_are_told(with_store, monkeypatch):
    store, _, resources = with_store
    monkeypatch.setattr("overlapper.assembly.steps.LAYOUT_COPIES", 0)
    monkeypatch.setattr("overlapper.assembly.plan.EXACT_BELOW", 0)
    params = AssembleParams(correction=CorrectParams(rounds=1), copies=WhatOfCopies.SEPARATE)
    with pytest.raises(
        ParameterError, match=r"the memory budget is too small: [0-9,]+ overlaps take .* MB more"
    ):
        assemble_packed(store, resources, params)
    assert "copies" not in [stage.name for stage in resources.stages.done]
