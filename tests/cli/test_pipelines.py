"""The workflows and the notebook in examples/ run, on simulated reads.

Nextflow's runtime is not on the package index. Where it is installed the workflow runs; without it, the
script of each module is taken from its file, variables are filled in, and bash runs it.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.cli.runner import ROOT, overlapper, python, run, shell

EXAMPLES = ROOT / "examples"
MODULES = sorted((EXAMPLES / "nextflow" / "modules" / "overlapper").iterdir())
SIMULATE = ("simulate", "--genome-size", "30k", "--coverage", "15", "--seed", "3", "-o", "reads.fastq.gz")


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """A variable PATH on which ``overlapper`` is this copy."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "overlapper"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m overlapper "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def assert_contigs(folder, of_report):
    """Check that the contigs of a genome of 30 kb are there, and the report."""
    lengths = [len(line) for line in (folder / "contigs.fasta").read_text().splitlines() if line[0] != ">"]
    assert 27_000 < sum(lengths) < 31_000
    page = (of_report / "report.html").read_text()
    assert "Longest contigs" in page and "Funnel" in page and "place on the contig, bases" in page


@pytest.mark.slow
def test_snakemake_goes_from_reads_to_contigs(commands, tmp_path):
    overlapper(*SIMULATE, cwd=tmp_path, check=True)
    shutil.copy(tmp_path / "reads.fastq.gz", tmp_path / "other reads.fastq.gz")
    words = ("-m", "snakemake", "--snakefile", EXAMPLES / "snakemake" / "Snakefile", "--cores", "2")
    run_ = functools.partial(python, *words, env=commands, cwd=tmp_path, stderr=subprocess.STDOUT, text=True)
    for given in given_samples(tmp_path):
        made = run_(*given)
        logs = [path.read_text() for path in tmp_path.glob("results/*/*.log")]
        assert made.returncode == 0, "\n".join([made.stdout, *logs])
        for sample in ("one", "two of it"):
            assert_contigs(tmp_path / "results" / sample / "assembly", tmp_path / "results" / sample)
        shutil.rmtree(tmp_path / "results")
    refused = run_()
    assert refused.returncode and "name samples and their reads" in refused.stdout


def given_samples(folder):
    """Yield the words that name two samples, by an option and by a file."""
    samples = "{one: reads.fastq.gz, two of it: [other reads.fastq.gz]}"
    (folder / "samples.yaml").write_text(f"samples: {samples}\n")
    yield "--config", f"samples={samples}"
    yield "--configfile", "samples.yaml"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path):
    notebook = EXAMPLES / "overlaps.ipynb"
    words = ("execute", f"--output={tmp_path / 'done.ipynb'}", str(notebook))
    python("-m", "jupyter", *words, cwd=tmp_path, stderr=subprocess.STDOUT, text=True, check=True)
    for shown in (tmp_path / "done.ipynb", notebook):
        cells = json.loads(shown.read_text())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        kinds = {kind for output in outputs for kind in output.get("data", {})}
        assert {"image/png", "image/svg+xml"} <= kinds, f"keep the outputs of {shown.name}"
        assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.fixture(scope="module")
def staged(run_folder, tmp_path_factory):
    """A folder with what the modules take, named as one of another would have made it."""
    folder = tmp_path_factory.mktemp("staged")
    names = {"reads.fastq": "reads.fastq", "o.paf": "overlaps.paf", "u.gfa": "unitigs.gfa"}
    names |= {"run.json": "run.json", "layout.json": "layout.json"}
    for source, name in names.items():
        shutil.copy(run_folder / source, folder / name)
    return folder


STAGED = {
    "reads": "reads.fastq",
    "files": "reads.fastq overlaps.paf run.json layout.json unitigs.gfa",
}


def filled_in(text, section):
    """Return the shell script of a section of a module, as Nextflow would hand it to bash."""
    script = text[text.index(f"    {section}:\n") :].split('"""')[1]
    known = STAGED | {"meta.id": "demo", "prefix": "demo", "args": "", "task.cpus": "1", "task.process": "P"}
    script = re.sub(r"(?<!\\)\$\{?([\w.]+)\}?", lambda match: known[match[1].rstrip(".")], script)
    lines = script.replace("\\\\", "\\").replace("\\$", "$").splitlines()
    return "\n".join(line.removeprefix("    ") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("section", ["script", "stub"])
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_nextflow_module_makes_what_it_declares(module, section, staged, tmp_path):
    shutil.copytree(staged, tmp_path, dirs_exist_ok=True)
    before = set(tmp_path.iterdir())
    text = (module / "main.nf").read_text()
    shell(filled_in(text, section), cwd=tmp_path, stderr=subprocess.STDOUT, text=True, check=True)
    new = set(tmp_path.iterdir()) - before
    for pattern in re.findall(r'path\("([^"]+)"\), emit', text):
        assert set(tmp_path.glob(pattern)) & new, pattern
    versions = yaml.safe_load((tmp_path / "versions.yml").read_text())
    assert re.fullmatch(r"\d+\.\d+.*", str(versions["P"]["overlapper"]))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_nextflow_module_is_described_as_it_is(module):
    text = (module / "main.nf").read_text()
    meta = yaml.safe_load((module / "meta.yml").read_text())
    assert f"process OVERLAPPER_{module.name.upper()} {{" in text
    assert meta["name"] == f"overlapper_{module.name}"
    assert list(meta["output"]) == re.findall(r"emit: (\w+)", text)
    taken = re.findall(r"path\((\w+)\)", text)
    assert [name for part in meta["input"][0][1:] for name in part] == taken
    assert f'process "OVERLAPPER_{module.name.upper()}"' in (module / "tests" / "main.nf.test").read_text()


def has_nextflow():
    """Return whether Nextflow is installed together with its runtime."""
    return (
        shutil.which("nextflow") and run("nextflow", "-version", env={"NXF_OFFLINE": "true"}).returncode == 0
    )


@pytest.mark.slow
def test_nextflow_goes_from_reads_to_contigs(commands, tmp_path):
    if not has_nextflow():
        pytest.skip("Nextflow's runtime is not installed, and not on the package index")
    overlapper(*SIMULATE, cwd=tmp_path, check=True)
    (tmp_path / "samples.csv").write_text("sample,reads\ndemo,reads.fastq.gz\n")
    words = ("run", EXAMPLES / "nextflow", "--input", "samples.csv", "-profile", "test")
    run("nextflow", *words, env=commands, cwd=tmp_path, stderr=subprocess.STDOUT, text=True, check=True)
    folder = tmp_path / "results" / "demo"
    shutil.copy(folder / "demo.html", folder / "report.html")
    assert_contigs(folder / "demo.assembly", folder)
