"""Thresholds of polishing, which tell of the reads and not of what they polish."""

import numpy as np
import pytest

from overlapper.correction import polish as polishing
from overlapper.correction.polish import Unitigs
from overlapper.params.correction import CorrectParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from overlapper.tiled.stages import Stages
from tests.steps import polish

GENOME = random_genome(20_000, seed=3)
BASES = GENOME.sequence(0)
DRAFTS = {
    "without errors": BASES,
    "too short": "".join(BASES[i : i + 24] for i in range(0, len(BASES), 25)),
    "too long": "".join(2 * BASES[i] + BASES[i + 1 : i + 25] for i in range(0, len(BASES), 25)),
}


def polished(draft, reads, params=None):
    """Return a draft polished by reads, and the facts of the first round."""
    unitigs, stages = Unitigs(Reads.from_sequences(["draft"], [draft]), np.array([False])), Stages()
    made = polish(unitigs, reads, params, stages=stages)
    return made.unitigs.sequences.sequence(0), next(
        stage.facts for stage in stages.done if stage.name == "polish-1"
    )


def fitted(preset, draft):
    """Return the thresholds, that of homopolymer runs last, by reads of a preset laid on a draft."""
    reads, _ = simulate_reads(GENOME, preset, coverage=25, seed=3)
    _, facts = polished(draft, reads)
    return *facts["thresholds"], facts["run_threshold"]


@pytest.mark.parametrize("draft", DRAFTS)
def test_reads_that_delete_more_ask_for_less_on_any_draft(draft):
    *drafts, last, run = fitted("ont", DRAFTS[draft])
    assert drafts == [20, 30, 40]
    assert 45 <= last < 53
    assert 20 <= run < last


@pytest.mark.parametrize("draft", DRAFTS)
def test_drafts_are_stripped_where_reads_insert_more_whatever_they_are(draft):
    *drafts, strip, refill, again, run = fitted("clr", DRAFTS[draft])
    assert drafts == [30, 40, 50]
    assert strip > 60 > 50 > refill == again == run


def test_reads_of_something_else_tell_nothing():
    reads, _ = simulate_reads(random_genome(20_000, seed=9), "ont", coverage=5, seed=9)
    made, facts = polished(BASES, reads)
    assert made == BASES
    assert facts["thresholds"] == (20, 30, 40, 57)


def test_raised_thresholds_of_drafts_are_still_thresholds():
    reads, _ = simulate_reads(GENOME, "clr", coverage=25, seed=3)
    _, facts = polished(BASES, reads, CorrectParams(thresholds=(30, 95, 0)))
    assert facts["thresholds"][:2] == (40, 99)


def test_each_round_finds_its_own_as_a_bad_draft_hides_what_reads_insert_and_delete(monkeypatch):
    given, fit = [], polishing.fit_threshold

    def noted(pileups, params, threads):
        given.append((params.thresholds[-1], params.run_threshold))
        return fit(pileups, params, threads)

    monkeypatch.setattr(polishing, "fit_threshold", noted)
    reads, _ = simulate_reads(GENOME, "ont", coverage=10, seed=3)
    polished(BASES, reads, CorrectParams(rounds=2))
    assert given == [(0, 0), (0, 0)]
