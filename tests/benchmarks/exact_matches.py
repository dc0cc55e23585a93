"""Exact matches against mummer and bwa: equal sets, times in turn.

    python -m tests.benchmarks.exact_matches REFERENCE READS [--min-length 16] [--rounds 3]

Needs ``mummer`` (3.x) and ``bwa`` (0.7.x) on the path. Times are the least of some rounds, peers and ours in
turn. bwa runs as two processes, each on half of the reads; ours runs on two threads. mummer has no threads;
the time that it reports for its suffix tree is taken off.
"""

import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from overlapper.index import Index
from overlapper.io import read_fastx
from tests.benchmarks.harness import parser_of, timed

THREADS = 2


def write_numbered(path, reads, rows):
    """Write reads as FASTA, named by their numbers."""
    path.write_text("".join(f">{row}\n{reads.sequence(row)}\n" for row in rows))


def rows_of(matches):
    """Matches as rows that sort: query, q_start, length, reverse, position in the concatenated text."""
    columns = (matches.query, matches.q_start, matches.length, matches.reverse, matches.t_start)
    return np.stack([c.astype(np.int64) for c in columns], axis=1)


def in_order(rows):
    rows = np.array(rows, np.int64).reshape(-1, 5)
    return rows[np.lexsort(rows.T[::-1])]


def mummer(reference, reads, min_length):
    """Run mummer; return its output and its seconds without and with the suffix tree."""
    command = ["mummer", "-maxmatch", "-b", "-n", "-F", "-l", str(min_length), reference, reads]
    start = time.perf_counter()
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    building = float(re.search(r"CONSTRUCTIONTIME \S+ \S+ ([\d.]+)", result.stderr).group(1))
    return result.stdout, seconds - building, seconds


def mummer_rows(output, names, offsets, lengths):
    """Positions are 1-based; those on the reverse strand count along the reverse complement of the read."""
    rows = []
    for line in output.splitlines():
        if line.startswith(">"):
            fields = line[1:].split()
            query, reverse = int(fields[0]), fields[-1] == "Reverse"
        else:
            target, t_start, q_start, length = line.split()
            start = int(q_start) - 1
            if reverse:
                start = lengths[query] - start - int(length)
            rows.append((query, start, int(length), reverse, offsets[names[target]] + int(t_start) - 1))
    return in_order(rows)


def bwa(reference, halves, min_length):
    """Run bwa fastmap on all halves at once; return its outputs and its seconds."""
    command = ["bwa", "fastmap", "-l", str(min_length), "-w", str(2**30), reference]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / str(i) for i in range(len(halves))]
        start = time.perf_counter()
        running = []
        for half, output in zip(halves, outputs, strict=True):
            with output.open("w") as file:
                running.append(subprocess.Popen([*command, half], stdout=file, stderr=subprocess.DEVNULL))
        assert not any(process.wait() for process in running)
        return [output.read_text() for output in outputs], time.perf_counter() - start


def bwa_rows(outputs, names, offsets):
    rows = []
    for line in "".join(outputs).splitlines():
        fields = line.split("\t")
        if fields[0] == "SQ":
            query = int(fields[1])
        elif fields[0] == "EM":
            start, end = int(fields[1]), int(fields[2])
            for place in fields[4:]:
                target, position = place.rsplit(":", 1)
                t_start = offsets[names[target]] + int(position[1:]) - 1
                rows.append((query, start, end - start, position[0] == "-", t_start))
    return in_order(rows)


def report_difference(what, ours, theirs, borders):
    """Print how two sets of rows differ.

    bwa joins all sequences and both strands: its matches may cross a border, and hide those that do not.
    """
    ours, theirs = set(map(tuple, ours.tolist())), set(map(tuple, theirs.tolist()))
    crossing = {row for row in theirs if np.any((borders > row[4]) & (borders < row[4] + row[2]))}
    hidden = {
        row
        for row in ours - theirs
        if any(q == row[0] and s <= row[1] and row[1] + row[2] <= s + n for q, s, n, _, _ in crossing)
    }
    only_ours, only_theirs = ours - theirs - hidden, theirs - ours - crossing
    print(f"{what}: ours {len(ours)}, theirs {len(theirs)}; theirs that cross a border {len(crossing)}, "
          f"ours that those hide {len(hidden)}; "
          f"only ours {len(only_ours)}, only theirs {len(only_theirs)}")  # fmt: skip
    for name, rows in (("ours", only_ours), ("theirs", only_theirs)):
        for row in sorted(rows)[:3]:
            print(f"  only {name}: query, q_start, length, reverse, t_start = {row}")


def main():
    parser = parser_of(__doc__, "reference", "reads", min_length=16, rounds=3)
    options = parser.parse_args()
    text, reads = read_fastx(options.reference), read_fastx(options.reads)
    offsets, lengths = np.cumsum(text.lengths) - text.lengths, reads.lengths
    borders = np.append(offsets, text.total_bases)
    print(f"text {text.total_bases} bases, {len(reads)} reads of {reads.total_bases} bases, "
          f"matches of {options.min_length} bases and more")  # fmt: skip
    Index.build(text, threads=THREADS)
    index, seconds = timed(lambda: Index.build(text, threads=THREADS))
    print(f"index built in {seconds:.2f} s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_numbered(folder / "text.fa", text, range(len(text)))
        write_numbered(folder / "reads.fa", reads, range(len(reads)))
        halves = [folder / f"half{i}.fa" for i in range(2)]
        for first, half in enumerate(halves):
            write_numbered(half, reads, range(first, len(reads), 2))
        names = {str(i): i for i in range(len(text))}
        subprocess.run(["bwa", "index", folder / "text.fa"], check=True, capture_output=True)
        best = {}
        for _ in range(options.rounds):
            tree_output, searching, whole = mummer(
                folder / "text.fa", folder / "reads.fa", options.min_length
            )
            mems, ours = timed(lambda: index.mems(reads, options.min_length, threads=THREADS))
            bwa_output, theirs = bwa(folder / "text.fa", halves, options.min_length)
            smems, ours_smems = timed(lambda: index.smems(reads, options.min_length, threads=THREADS))
            for what, seconds in (
                ("mummer -maxmatch, search only", searching), ("mummer -maxmatch, whole", whole), ("mems",
                ours), ("bwa fastmap, two processes", theirs), ("smems", ours_smems),
            ):  # fmt: skip
                best[what] = min(seconds, best.get(what, seconds))
        report_difference(
            "MEM, mummer", rows_of(mems), mummer_rows(tree_output, names, offsets, lengths), offsets
        )
        report_difference("SMEM, bwa", rows_of(smems), bwa_rows(bwa_output, names, offsets), borders)
    for what, seconds in best.items():
        print(f"{what}: {seconds:.2f} s")
    print(f"mems / mummer: {best['mummer -maxmatch, search only'] / best['mems']:.1f}x; "
          f"smems / bwa: {best['bwa fastmap, two processes'] / best['smems']:.2f}x")  # fmt: skip


if __name__ == "__main__":
    main()
