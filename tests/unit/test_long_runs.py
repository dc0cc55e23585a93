"""Exact overlaps of reads that have a long run at two lengths, and where all bases of runs count."""

import functools
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest

from overlapper.assembly import contigs
from overlapper.assembly.plan import Plan
from overlapper.assembly.separation import COUNTED_RUN, EXACT
from overlapper.assembly.steps import AssemblySteps
from overlapper.correction.resources import Resources
from overlapper.graph import assemble
from overlapper.io.read_store import ReadStore
from overlapper.params.assembly import AssembleParams
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.runtime.messages import unreported
from overlapper.simulate import random_genome
from overlapper.tiled.plan import Budget
from overlapper.tiled.reads import store_reads
from overlapper.tiled.stages import Stages
from overlapper.tiled.workdir import Workdir
from tests.oracle.long_runs import cut
from tests.read_sets import reads_of

BASES, STEP, BEFORE = 4_000, 300, 6_000
COMPLEMENT = str.maketrans("ACGT", "TGCA")


@functools.cache
def texts():
    """Reads of a genome, longest first; every other one has a run of 30 bases, others one of 31."""
    genome = random_genome(12_000, seed=4).sequence(0)
    found = []
    for number, start in enumerate(range(0, len(genome) - BASES, STEP)):
        run = "A" * (30 + number % 2)
        text = (genome[:BEFORE] + run + genome[BEFORE:])[start : start + BASES - number]
        found.append(text if number % 3 else text[::-1].translate(COMPLEMENT))
    return found


def in_memory(longest_run):
    steps = AssemblySteps(ReadStore.of(reads_of(texts())), Resources(Stages(), 1))
    steps.overlap("exact", "hifi", EXACT, unreported, longest_run)
    return steps


def by_pair(overlaps):
    return sorted(tuple(row)[:7] for row in overlaps)


def run_of(read):
    """The number of bases of the long run of a read, 0 without one that is whole."""
    found = re.search("[CGT](A{25,})[CGT]|[ACG](T{25,})[ACG]", read)
    return len(found[1] or found[2]) if found else 0


def lengths_on_both(overlaps):
    """Lengths of the run in query and target, of overlaps across it."""
    found = set()
    for row in overlaps:
        query, target = texts()[row.query], texts()[row.target]
        found.add((run_of(query[row.q_start : row.q_end]), run_of(target[row.t_start : row.t_end])))
    return found - {(0, 0)}


def test_reads_of_both_lengths_overlap():
    plain, steps = in_memory(None), in_memory(COUNTED_RUN)
    run, longer = sorted({one for one, _ in lengths_on_both(plain.overlaps)})
    assert longer == run + 1
    assert lengths_on_both(plain.overlaps) == {(run, run), (longer, longer)}
    assert lengths_on_both(steps.overlaps) == set(itertools.product((run, longer), repeat=2))
    for row in steps.overlaps:
        query, target = texts()[row.query], texts()[row.target]
        here, there = query[row.q_start : row.q_end], target[row.t_start : row.t_end]
        there = there[::-1].translate(COMPLEMENT) if row.reverse else there
        assert cut(here, COUNTED_RUN)[0] == cut(there, COUNTED_RUN)[0]


def test_their_unitig_has_the_whole_run():
    steps = in_memory(COUNTED_RUN)
    graph = GraphParams(min_overlap=500).of_exact_overlaps()
    layout = assemble(steps.reads, steps.overlaps, graph, CleanParams()).layout
    assert len(layout) == 1
    assert run_of(layout.sequence(0, steps.reads)) in {run_of(text) for text in texts()} - {0}


def test_reads_on_disk_have_the_same_overlaps(tmp_path):
    steps = in_memory(COUNTED_RUN)
    with Workdir(tmp_path / "reads") as workdir, Workdir(tmp_path / "stages") as kept:
        store = store_reads(workdir, [steps.reads])
        kept.begin([])
        stored = AssemblySteps(store, Resources(Stages(kept, Budget(1 << 30, 1)), 1))
        stored.overlap("exact", "hifi", EXACT, unreported, COUNTED_RUN)
        assert (store.order == np.arange(len(store))).all()
        assert by_pair(stored.overlaps) == by_pair(steps.overlaps)


@pytest.mark.parametrize("rate", [0.02, 0.002])
@pytest.mark.parametrize("depth", [None, 20.0])
def test_assemblies_count_the_same_bases_of_runs_whatever_the_reads(monkeypatch, rate, depth):
    """The steps do nothing but note the longest run of each search."""
    searches = []

    def overlap(name, preset, changes, report, longest_run=None):
        searches.append(longest_run)

    steps = SimpleNamespace(
        overlap=overlap, correct=lambda *_: None, reads=reads_of(texts()), threads=1,
        overlaps=in_memory(None).overlaps, origin=np.arange(len(texts())),
    )  # fmt: skip
    monkeypatch.setattr(contigs, "depth_of_haplotype", lambda *_: depth)
    params = AssembleParams()
    _, found, _, _ = contigs._find_overlaps(
        steps, params, Plan.of(params, rate), "auto", False, False, unreported
    )
    assert (found, searches) == (depth, [None, COUNTED_RUN])
