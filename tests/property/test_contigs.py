"""Contigs are scored as the oracle scores them, whatever the slices and threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import InputError
from overlapper.evaluation.contig_scores import quality
from overlapper.evaluation.contigs import Judge
from overlapper.kernels.evaluation.contig_markers import Rules
from overlapper.tables import Reads
from tests.oracle import contigs as oracle
from tests.oracle.strands import reverse_complement
from tests.tries import tries

K, RUN, SURE = 7, 3, 2


def as_reads(sequences, prefix=""):
    return Reads.from_sequences([f"{prefix}{i}" for i in range(len(sequences))], sequences)


@st.composite
def genomes(draw):
    """Haplotypes with differences and repeats, and contigs made of parts of them, with faults."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 3))
    base = [
        "".join(random.choice(list("ACGT"), size))
        for size in random.integers(5, 400, draw(st.integers(1, 3)))
    ]
    base.append(base[0][: draw(st.integers(0, 60))])
    haplotypes = []
    for _ in range(n):
        changed = [faulty(text, random, 0.02) for text in base]
        haplotypes.append([(text, bool(random.integers(2))) for text in changed])
    pool = [text for haplotype in haplotypes for text, _ in haplotype if text]
    contigs = []
    for _ in range(draw(st.integers(1, 4))):
        parts = []
        for _ in range(random.integers(1, 4)):
            text = pool[random.integers(len(pool))]
            start = random.integers(len(text))
            part = (text + text)[start : start + random.integers(1, 300)]  # through the origin, perhaps
            parts.append(reverse_complement(part) if random.integers(2) and "N" not in part else part)
        contigs.append(faulty("".join(parts), random, draw(st.sampled_from([0, 0.01]))))
    return contigs, [bool(x) for x in random.integers(0, 2, len(contigs))], haplotypes


def faulty(text, random, rate):
    out = []
    for base in text:
        kind = random.random() / rate if rate else 1
        if kind >= 1:
            out.append(base)
        elif kind < 0.5:
            out.append("ACGTN"[random.integers(5)])
        elif kind < 0.75:
            out.append(base + "ACGT"[random.integers(4)])
    return "".join(out)


def as_expected(scores):
    rows = [
        {
            "kmers": c.kmers, "missing": c.missing, "markers": list(c.markers), "closed": c.closed,
            "switches": c.switches, "stretches": [(p.start, p.end) for p in c.stretches],
        }
        for c in scores.contigs
    ]  # fmt: skip
    names = ("n50", "ng50", "nga50", "kmers", "missing", "breaks", "unplaced", "markers", "minority")
    return {
        "contigs": rows,
        **{name: getattr(scores, name) for name in (*names, "switches", "closed")},
        "have": list(scores.completeness),
        "own": list(scores.own),
    }


@given(case=genomes(), slack=st.sampled_from([10_000, 3]), threads=st.integers(1, 3))
@settings(deadline=None, max_examples=tries(80))
def test_scores_equal_the_oracle(case, slack, threads):
    contigs, circles, haplotypes = case
    references = [
        as_reads([text for text, _ in haplotype], f"h{h}s") for h, haplotype in enumerate(haplotypes)
    ]
    circular = [
        f"h{h}s{i}" for h, haplotype in enumerate(haplotypes) for i, (_, c) in enumerate(haplotype) if c
    ]
    judge = Judge(references, circular, Rules(K, RUN, SURE, slack))
    try:
        scores = judge.judge(as_reads(contigs), np.array(circles), threads=threads)
    except InputError:
        return
    expected = oracle.evaluate(contigs, circles, haplotypes, K, RUN, SURE, slack)
    assert quality(scores.missing, scores.kmers, K) == pytest.approx(expected.pop("qv"))
    if len(haplotypes) > 1:
        expected |= {"nga50": None, "breaks": None, "unplaced": None}
        for row in expected["contigs"]:
            row["stretches"] = []
    else:
        expected |= {"minority": None, "switches": None}
    assert as_expected(scores) == expected
