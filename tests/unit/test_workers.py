"""Correction, polishing and assembly on worker processes; the results are those of one process."""

import os
import signal
import subprocess
import sys

import pytest

from overlapper.simulate import random_genome, simulate_reads
from tests.cli.runner import ROOT, overlapper, python
from tests.read_sets import fasta_of

OF_A_CLIENT = """
import os, signal
import numpy as np
from overlapper import find_overlaps
from tests.steps import assemble_reads
from overlapper.correction.polish import Unitigs
from tests.steps import polish
from tests.steps import correct
from overlapper.io import read_fastx
from overlapper.overlap.distributed import Cluster

def same(one, other):
    assert len(one) == len(other) > 0
    for field in type(one).fields_of("column", "ragged"):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))

if __name__ == "__main__":
    accurate, noisy = read_fastx("accurate.fa"), read_fastx("noisy.fa")
    unitigs = Unitigs(noisy.take(np.arange(3)), np.zeros(3, bool))
    corrected, polished = correct(noisy, threads=1), polish(unitigs, noisy, threads=1)
    assembled = assemble_reads(accurate, threads=1)
    with Cluster(2, None, 2) as cluster:
        client = cluster.client
        first, _ = client.run(os.getpid).values()
        steps = set()

        def kill(step, done, total):
            if step == "round 1: consensus" not in steps:
                os.kill(first, signal.SIGKILL)
            steps.add(step)

        same(correct(noisy, client=client, report=kill).reads, corrected.reads)
        assert first not in client.run(os.getpid).values()
        same(find_overlaps(accurate, client=client), find_overlaps(accurate, threads=1))
        made = assemble_reads(accurate, client=client)
        same(made.contigs.sequences, assembled.contigs.sequences)
        assert [stage.facts for stage in made.stages] == [stage.facts for stage in assembled.stages]
        Cluster._sees = lambda self, folder: False  # as where there is no common folder
        same(correct(noisy, client=client).reads, corrected.reads)
        made = polish(unitigs, noisy, client=client)
        same(made.unitigs.sequences, polished.unitigs.sequences)
        assert made.funnel == polished.funnel and made.doubt.start.tolist() == polished.doubt.start.tolist()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with accurate and noisy reads of the same genome."""
    folder, genome = tmp_path_factory.mktemp("workers"), random_genome(40_000, seed=5)
    for name, kind in (("accurate", "hifi"), ("noisy", "ont-r9")):
        reads, _ = simulate_reads(genome, kind, coverage=14, seed=5)
        (folder / f"{name}.fa").write_text(fasta_of(reads))
    return folder


def test_a_client_of_the_user_and_a_killed_worker_do_not_change_the_result(folder):
    (folder / "script.py").write_text(OF_A_CLIENT)
    python("script.py", cwd=folder, check=True)


def test_a_killed_run_on_workers_goes_on_to_the_same_bytes(folder):
    words = ("correct", "accurate.fa", "--workers", "2", "--workdir", "work", "-o", "by_workers.fq")
    command = [sys.executable, "-m", "overlapper", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment) as run:
        for line in run.stderr:
            if "round 1: consensus" in line:
                run.send_signal(signal.SIGKILL)
    assert not (folder / "by_workers.fq").exists()
    again = python("-m", "overlapper", *words, cwd=folder, check=True, text=True)
    assert "correct-1-overlaps is done already" in again.stderr
    overlapper("correct", "accurate.fa", "-t", "1", "-o", "alone.fq", "-q", cwd=folder, check=True)
    assert (folder / "by_workers.fq").read_bytes() == (folder / "alone.fq").read_bytes()
