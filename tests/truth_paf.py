"""Overlaps made from a truth table, with faults put in on purpose."""

import numpy as np


def faulty_overlaps(truth, *, min_overlap, seed, circle=0):
    """Return PAF lines of the true overlaps, 20 % left out, with random intervals; some doubled or false."""
    random = np.random.RandomState(seed)
    rows = [row for row in truth.rows() if row.ref != "*"]
    lines = []
    for i, a in enumerate(rows):
        for b in rows[i:]:
            laps = (-circle, 0, circle) if circle else (0,)
            low, high = max(
                ((max(a.start, b.start + lap), min(a.end, b.end + lap)) for lap in laps),
                key=lambda interval: interval[1] - interval[0],
            )
            true = a.ref == b.ref and high - low >= min_overlap
            if (not true and random.random_sample() > 0.02) or random.random_sample() < 0.2:
                continue
            strand = "+" if a.strand == b.strand else "-"
            if random.random_sample() < 0.05:
                strand = "-" if strand == "+" else "+"
            q = sorted(random.randint(0, a.read_len + 1, 2))
            t = sorted(random.randint(0, b.read_len + 1, 2))
            lines.append(
                f"{a.read}\t{a.read_len}\t{q[0]}\t{q[1]}\t{strand}\t"
                f"{b.read}\t{b.read_len}\t{t[0]}\t{t[1]}\t50\t100\t0\ttp:A:S\n"
            )
            if random.random_sample() < 0.1:
                lines.append(lines[-1])
    return lines
