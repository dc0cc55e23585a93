"""Stages of a run: what is kept, and when it is made anew."""

import shutil

import numpy as np
import pytest

from overlapper.correction.polish import Unitigs
from overlapper.errors import InputError, OutputError, ParameterError
from overlapper.io import artifacts
from overlapper.io.identity import Input
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.plan import Budget
from overlapper.tiled.stages import Stages
from overlapper.tiled.workdir import Workdir


def unitigs():
    return Unitigs(Reads.from_sequences(["a", "b"], ["ACGTN", ""]), np.array([True, False]))


class Maker:
    """A stage that counts how often it is made."""

    def __init__(self, value, facts=None):
        self.value, self.facts, self.times = value, facts or {}, 0

    def __call__(self):
        self.times += 1
        return self.value, self.facts


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "reads.fa").write_text(">a\nACGT\n")

    class Folder:
        def run(self, *calls, digest="of the reads"):
            """Run stages, each given as name, kind, parameters and maker; return results and stages."""
            with Workdir(tmp_path / "work") as workdir:
                workdir.begin([Input("reads", [], digest)])
                stages = Stages(workdir)
                return [stages.run(*call) for call in calls], stages.done

    return Folder()


def test_a_kept_result_is_what_was_made(folder):
    make = Maker(unitigs(), {"bases": 5, "thresholds": [30, 57]})
    for kept in (False, True):
        [(found, facts)], [stage] = folder.run(("polish", Unitigs, 1, make))
        assert found.sequences.names == ["a", "b"]
        assert found.sequences.sequence(0) == "ACGTN"
        assert found.sequences.qualities is None
        assert found.circular.tolist() == [True, False]
        assert facts == stage.facts == make.facts
        assert stage.kept is kept
    assert make.times == 1


def test_empty_tables_are_kept(folder):
    make = Maker(Overlaps.empty())
    folder.run(("overlaps", Overlaps, None, make))
    [(found, _)], _ = folder.run(("overlaps", Overlaps, None, make))
    assert len(found.validate()) == 0
    assert make.times == 1


@pytest.mark.parametrize(("first", "second", "made"), [(1, 1, 1), (1, 2, 2), (2, 1, 2)])
def test_a_stage_depends_on_its_parameters_and_those_before(folder, first, second, made):
    one, two = Maker(unitigs()), Maker(unitigs())
    folder.run(("one", Unitigs, 1, one), ("two", Unitigs, 1, two))
    folder.run(("one", Unitigs, first, one), ("two", Unitigs, second, two))
    assert two.times == made
    assert one.times == first


def test_a_result_that_cannot_be_finished_is_told_and_not_kept(folder, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    make = Maker(unitigs())
    folder.run()
    with monkeypatch.context() as patch, pytest.raises(OutputError, match="No space left on device"):
        patch.setattr(artifacts, "sync", full)
        folder.run(("polish", Unitigs, 1, make))
    folder.run(("polish", Unitigs, 1, make))
    assert make.times == 2


def test_nothing_is_kept_without_a_folder():
    make = Maker(unitigs())
    for _ in range(2):
        assert not Stages().run("one", Unitigs, 1, make)[1]
    assert make.times == 2


def test_what_other_code_made_is_made_anew(folder, monkeypatch):
    make = Maker(unitigs())
    for code, times in (("before", 1), ("before", 1), ("after", 2)):
        monkeypatch.setattr("overlapper.tiled.stages.code_digest", lambda code=code: code)
        folder.run(("one", Unitigs, 1, make))
        assert make.times == times


def test_stages_are_of_a_work_that_was_begun(tmp_path):
    with Workdir(tmp_path / "work") as workdir, pytest.raises(ParameterError, match=r"Workdir\.begin"):
        Stages(workdir)
    assert not (tmp_path / "work").exists()


def test_what_other_inputs_gave_is_refused_and_not_found_either(folder, tmp_path):
    make = Maker(unitigs())
    folder.run(("one", Unitigs, 1, make))
    with pytest.raises(InputError, match=r"is not what the work in .* was begun on"):
        folder.run(("one", Unitigs, 1, make), digest="of others")
    shutil.rmtree(tmp_path / "work" / "run")
    folder.run(("one", Unitigs, 1, make), digest="of others")
    assert make.times == 2


def written(artifact, beside):
    for values in ([], [1, 2, 3], [4]):
        artifact.append("grown", np.array(values, np.int32))
    artifact.save("saved", np.arange(6.0).reshape(3, 2))
    artifact.append("gone", np.zeros(3))
    artifact.remove("gone")
    return {"values": 4}


@pytest.mark.parametrize("first", [None, Budget(1 << 30, 1)])
def test_what_is_made_in_memory_and_in_a_budget_is_the_same(tmp_path, first):
    second = Budget(1 << 30, 1) if first is None else None
    for budget, kept in ((first, False), (first, True), (second, True)):
        with Workdir(tmp_path / "work") as workdir:
            workdir.begin([Input("reads", [], "of the reads")])
            stages = Stages(workdir, budget)
            made, facts = stages.write("one", 1, written)
        assert facts == {"values": 4}
        assert stages.done[0].kept is kept
        assert made.load("grown", np.int32).tolist() == [1, 2, 3, 4]
        assert made.load("grown", np.int32, 1, 3).tolist() == [2, 3]
        assert made.load("saved", np.float64).tolist() == [0, 1, 2, 3, 4, 5]
        for places, sizes, found in (
            ([0, 2], [2, 1], [1, 2, 3]),
            ([3, 0], [1, 2], [4, 1, 2]),
            ([2], [0], []),
        ):
            gathered = made.gathered("grown", np.int32, np.array(places), np.array(sizes))
            assert gathered.tolist() == found and gathered.dtype == np.int32
    names = {path.name for path in (tmp_path / "work").glob("one-*/*")}
    assert names > {"grown", "saved"} and "gone" not in names


def test_a_budget_needs_a_folder():
    with pytest.raises(ParameterError, match="need a folder to work in"):
        Stages(budget=Budget(1 << 30, 1))
