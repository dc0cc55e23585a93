"""Artifacts are complete or not there, also where they are finished in a thread of their own."""

import os

import numpy as np
import pytest

from overlapper.errors import OutputError
from overlapper.io import artifacts
from overlapper.io.artifacts import Finisher, finished


def test_all_are_there_when_the_finisher_is_left(tmp_path):
    with Finisher() as finisher:
        for number in range(3):
            with finisher.writing(tmp_path / f"{number}") as artifact:
                artifact.save("values", np.arange(number + 1))
                assert finished(tmp_path / f"{number}") is None
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]
    for number in range(3):
        kept = finished(tmp_path / f"{number}", verify=True)
        assert list(kept.load("values", np.int64)) == list(range(number + 1))


@pytest.mark.parametrize("failing", [0, 1])
def test_what_cannot_be_synced_is_told_and_not_there(failing, tmp_path, monkeypatch):
    def sync(path):
        if path.parent.name.startswith(f"{failing}."):
            raise OSError(28, "No space left on device")
        synced(path)

    synced = artifacts.sync
    monkeypatch.setattr(artifacts, "sync", sync)
    with pytest.raises(OutputError, match="No space left on device"), Finisher() as finisher:
        for number in range(2):
            with finisher.writing(tmp_path / f"{number}") as artifact:
                artifact.save("values", np.arange(5))
    complete = sorted(os.listdir(tmp_path))
    assert complete == ["0"][:failing]
    assert all(finished(tmp_path / name, verify=True) for name in complete)
