"""``overlapper compile``: kernels compiled before the first run that needs them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from overlapper.cli import options
from overlapper.errors import OverlapperError

EXAMPLES = """
overlapper compile --threads 1
overlapper compile --quiet
"""

READS = (
    "simulate --genome-size 30k -c 12 -p ont-r9 -o noisy.fq --reference-out genome.fa --truth truth.tsv",
    "simulate --reference genome.fa --coverage 50 -p ont-r9 -o deep.fq",
    "simulate --reference genome.fa --coverage 50 -p ont-r10 -o accurate.fq",
    "simulate --reference genome.fa --coverage 25 -p hifi -o hifi.fa",
    "simulate --genome-size 200k -o usual.fq.gz",
    "simulate --genome-size 3k --circular --coverage 300 -o plasmid.fq",
)
"""Two are so deep that those which vote have to be chosen; all k-mers of the last are frequent."""
ASSEMBLY = (
    "assemble noisy.fq --correct always -o noisy --reads-out noisy.bam",
    "assemble accurate.fq --parent1 deep.fq --hic hifi.fa hifi.fa -o phased",
    "assemble accurate.fq --memory 2G -t 2 -o accurate",
    "assemble hifi.fa -o hifi",
)
OTHERS = (
    "map genome.fa noisy.fq -o mapped.paf",
    "map genome.fa hifi.fa -p hifi --seeder nov-smem --extender local -o mapped.sam",
    "align noisy.fq noisy.fq -o aligned.paf",
    "align noisy.fq noisy.fq --mode semi-global --cigar -o aligned.paf",
    "index genome.fa -o genome.index",
    "seeds genome.index noisy.fq --kind smem --min-length 19 -o smems.tsv",
    "seeds genome.fa noisy.fq --kind mem -o mems.tsv",
    "overlap noisy.fq --extender xdrop -o xdrop.paf.gz",
    "overlap noisy.fq --extender gact --finder spgemm -o gact.paf",
    "overlap hifi.fa --extender exact --copies separate -o exact.paf",
    "overlap noisy.fq -o overlaps.paf --stats run.json",
    "overlap usual.fq.gz -o usual.paf.gz",
    "overlap plasmid.fq -o plasmid.paf",
    "overlap noisy.fq --memory 1G -t 2 -o tiled.paf",
    "convert overlaps.paf converted.paf --reads noisy.fq",
    "evaluate truth.tsv overlaps.paf",
    "layout noisy.fq overlaps.paf --min-overlap 500 -o layout.gfa --fasta unitigs.fa --stats layout.json",
    "graph stats layout.gfa",
    "report noisy.fq overlaps.paf run.json layout.json layout.gfa -o report.html",
    "evaluate unitigs.fa --reference genome.fa --json contigs.json",
    "polish unitigs.fa deep.fq -o polished.fa",
    "correct deep.fq -o corrected.fq",
)
"""A run of every command that computes, by each method that it has; some need files of earlier ones.

First come those whose kernels assemblies do not have, which are compiled meanwhile."""


def compile(
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Compile kernels beforehand, so that no first run of a command has to.

    An installed package contains compiled kernels for nearly all processors. Where they do not fit (a copy of
    the source, another version of numba, an old processor), this runs every command once on small simulated
    reads. The kernels are kept in NUMBA_CACHE_DIR or in ~/.cache/overlapper. Unusual options may need more
    kernels, which are compiled when the options are used.
    """
    from overlapper.cli.progress import Progress
    from overlapper.runtime.compile import places
    from overlapper.runtime.threads import available_threads

    folder = places.of_kernels().write
    before = _names(folder)
    with Progress(quiet, log=log) as progress, tempfile.TemporaryDirectory() as work:
        progress.report("compiling", 0, 0)
        run_all(work, threads or available_threads())
        made = len(_names(folder) - before)
        progress.note(f"{made} kernels compiled" + (f", kept in {folder}" if made else ""))


def run_all(work: str, processes: int, environment: dict[str, str] | None = None) -> None:
    """Run every command once, so that its kernels are kept.

    Parameters
    ----------
    work : str
        An empty folder.
    processes : int
        From two on, assemblies are run by a process of their own, as they take as long as all others.
    environment : dict of str to str, optional
        Of the processes; by default that of this one.
    """
    from concurrent.futures import ThreadPoolExecutor

    def run(lines: tuple[str, ...]) -> None:
        for line in lines:
            _run(line, work, environment)

    run(READS)
    with ThreadPoolExecutor(min(processes, 2)) as pool:
        for _ in pool.map(run, (ASSEMBLY, OTHERS)):
            pass


def _run(line: str, work: str, environment: dict[str, str] | None) -> None:
    command = [sys.executable, "-P", "-m", "overlapper", *line.split()]
    done = subprocess.run(
        command, cwd=work, env=environment or os.environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OverlapperError(f"overlapper {line} failed: {done.stderr.strip()}")


def _names(folder: Any) -> set[str]:
    return {path.name for path in folder.glob("*.nbc")} if folder else set()
