"""Reading reads beside pysam, writing and reading PAF: ``python -m tests.benchmarks.files READS... [--rounds
5]``.

pysam's `FastxFile` parses and checks little; `read_fastx` parses, checks and packs. The runs alternate; of
each the fastest counts. PAF has random rows about the reads of the first file.
"""

import tempfile
from pathlib import Path

import numpy as np
import pysam

from overlapper.io import read_fastx, read_overlaps, write_overlaps
from overlapper.tables import Overlaps
from tests.benchmarks.harness import fastest, parser_of

ROWS = 500_000


def pysam_bases(path):
    with pysam.FastxFile(path, persist=False) as file:
        return sum(len(record.sequence) for record in file)


def compare_reading(path, rounds):
    reads = read_fastx(path)
    taken = fastest({"ours": lambda: read_fastx(path), "theirs": lambda: pysam_bases(path)}, rounds)
    ours, theirs = taken["ours"], taken["theirs"]
    megabases = reads.total_bases / 1e6
    print(
        f"{path}: {megabases:.1f} Mb, read_fastx {ours:.3f} s ({megabases / ours:.0f} Mb/s), "
        f"pysam {theirs:.3f} s, ratio {theirs / ours:.2f}"
    )
    return reads


def random_overlaps(reads):
    random = np.random.default_rng(0)
    query = random.integers(0, len(reads) - 1, ROWS)
    target = random.integers(query + 1, len(reads))
    q_end, t_end = random.integers(0, reads.lengths[query] + 1), random.integers(0, reads.lengths[target] + 1)
    return Overlaps(
        query=query,
        target=target,
        reverse=random.random(ROWS) < 0.5,
        q_start=random.integers(0, q_end + 1),
        q_end=q_end,
        t_start=random.integers(0, t_end + 1),
        t_end=t_end,
        matches=random.integers(0, 20_000, ROWS),
        block_length=random.integers(0, 20_000, ROWS),
        score=random.integers(0, 20_000, ROWS),
        seeds=random.integers(0, 2000, ROWS),
        divergence=random.random(ROWS) * 0.3,
        kind=random.integers(0, 4, ROWS),
    )


def time_paf(reads, rounds):
    overlaps = random_overlaps(reads)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("out.paf", "out.paf.gz"):
            path = Path(folder) / name
            tasks = {
                "write": lambda path=path: write_overlaps(overlaps, reads, path),
                "read": lambda path=path: read_overlaps(path, reads),
            }
            taken = fastest(tasks, rounds)
            print(f"{name}: {ROWS / taken['write'] / 1e6:.2f} M lines/s written", end=", ")
            print(f"{ROWS / taken['read'] / 1e6:.2f} read")


def main():
    parser = parser_of(__doc__, rounds=5)
    parser.add_argument("reads", nargs="+")
    arguments = parser.parse_args()
    tables = [compare_reading(path, arguments.rounds) for path in arguments.reads]
    time_paf(tables[0], arguments.rounds)


if __name__ == "__main__":
    main()
