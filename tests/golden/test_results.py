"""Overlaps, corrected reads and contigs of seeded reads keep their bytes, with any threads and in a budget.

A change that should leave results as they are is told here when it does not. One that should change them
writes the digests anew, and its message says which results changed and how they are judged:

    python -m tests.golden.test_results
"""

import contextlib
import hashlib
import json
import random
import tempfile
from pathlib import Path

import pytest

from tests.cli.runner import overlapper

DIGESTS = Path(__file__).with_name("results.json")
READS = {
    "noisy": "simulate --reference one.fa --circular -c 25 -p real-ont --identity 0.9 --seed 3 -o noisy.fq",
    "clr": "simulate --reference one.fa -c 20 -p real-clr --seed 4 -o clr.fa",
    "accurate": "simulate --reference two.fa -c 18 -p real-ont --identity 0.985 --seed 5 -o accurate.fq",
    "hifi": "simulate --reference two.fa -c 15 -p real-hifi --seed 6 -o hifi.fa",
}
"""A circle with repeats, and two haplotypes that differ in a base of 500."""
FILES = {"noisy": "noisy.fq", "clr": "clr.fa", "accurate": "accurate.fq", "hifi": "hifi.fa"}
OVERLAPS = {
    **{f"overlap-{name}": f"overlap {file} -o out.paf" for name, file in FILES.items()},
    "overlap-spgemm-xdrop": "overlap clr.fa --finder spgemm --extender xdrop -o out.paf",
    "overlap-gact": "overlap noisy.fq --extender gact -o out.paf",
    "overlap-copies": "overlap hifi.fa --copies separate -o out.paf",
}
CONSENSUS = {
    **{f"correct-{name}": f"correct {FILES[name]} -o out.fq" for name in ("noisy", "accurate")},
    **{f"assemble-{name}": f"assemble {file} -o out" for name, file in FILES.items()},
}
MAPPED = {"map": "map one.fa noisy.fq -o out.paf", "map-gact": "map one.fa clr.fa --extender gact -o out.paf"}


def write_reads(folder):
    """Write the genomes, and reads of them."""
    made = "simulate --genome-size 60k --repeats 3,4000,0.01 -c 1 --reference-out one.fa -o none.fa -q"
    overlapper(*made.split(), cwd=folder, check=True)
    name, bases = Path(folder, "one.fa").read_text().split("\n", 1)
    bases = bases.replace("\n", "")
    chance = random.Random(7)
    places = chance.sample(range(len(bases)), len(bases) // 500)
    other = list(bases)
    for place in places:
        other[place] = chance.choice("ACGT".replace(bases[place], ""))
    Path(folder, "two.fa").write_text(f"{name}\n{bases}\n>other\n{''.join(other)}\n")
    for line in READS.values():
        overlapper(*line.split(), "-q", cwd=folder, check=True)


def digest_of(line, folder, *options, run=None):
    """Run a command, in a process of its own if no other way is given; return a digest of what it writes."""
    with tempfile.TemporaryDirectory() as work:
        for path in Path(folder).iterdir():
            Path(work, path.name).symlink_to(path)
        words = [*line.split(), *options, "-q"]
        if run is None:
            overlapper(*words, cwd=work, check=True)
        else:
            with contextlib.chdir(work):
                assert run(words) == 0
        digest = hashlib.sha256()
        for path in sorted(Path(work).glob("out*")) + sorted(Path(work).glob("out/contigs*")):
            if path.is_file() and path.suffix != ".json":
                digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    write_reads(folder)
    return folder


@pytest.mark.parametrize("name", [*OVERLAPS, *CONSENSUS, *MAPPED])
def test_results_are_what_they_were(name, reads):
    line = (OVERLAPS | CONSENSUS | MAPPED)[name]
    assert digest_of(line, reads, "-t", "1") == json.loads(DIGESTS.read_text())[name]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["-t 3", "-t 2 --memory 1G"])
@pytest.mark.parametrize("name", [*OVERLAPS, *CONSENSUS])
def test_threads_and_budgets_change_nothing(name, options, reads):
    line = (OVERLAPS | CONSENSUS)[name]
    if "--copies" in line and "--memory" in options:
        options = "-t 2"  # copies are told in memory alone
    assert digest_of(line, reads, *options.split()) == json.loads(DIGESTS.read_text())[name]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write_reads(made)
        digests = {
            name: digest_of(line, made, "-t", "2") for name, line in (OVERLAPS | CONSENSUS | MAPPED).items()
        }
    DIGESTS.write_text(json.dumps(digests, indent=2) + "\n")
