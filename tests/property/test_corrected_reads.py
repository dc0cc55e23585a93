"""Sites, and what reads have there, equal the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.evaluation.reads import evaluate_reads
from overlapper.evaluation.sites import find_sites
from overlapper.io.truth import Truth, TruthRow
from overlapper.tables import Reads
from tests.oracle import corrected as oracle
from tests.oracle.strands import reverse_complement
from tests.tries import tries

LETTERS = np.array(list("ACGT"))


def text_of(random, size):
    return "".join(random.choice(LETTERS, size))


@given(
    st.lists(st.tuples(st.text("ACGTACGTN", max_size=70), st.booleans()), min_size=1, max_size=4),
    st.integers(1, 3),
)
@settings(deadline=None, max_examples=tries(150))
def test_sites_equal_the_oracle(sequences, threads):
    k = 5
    reads = Reads.from_sequences([f"s{i}" for i in range(len(sequences))], [text for text, _ in sequences])
    found = find_sites(reads, np.array([circular for _, circular in sequences]), 1 << 26, threads, k)
    places = {
        (sequence, position): {base for i, base in enumerate("ACGT") if others >> i & 1}
        for sequence in range(len(sequences))
        for position, others in zip(*of_sequence(found, sequence), strict=True)
    }
    assert places == oracle.sites(sequences, k)


def of_sequence(sites, sequence):
    part = slice(sites.first[sequence], sites.first[sequence + 1])
    return sites.position[part].tolist(), sites.others[part].tolist()


def diploid(random, size, step):
    """Return two haplotypes that differ by a base every so often."""
    one = text_of(random, size)
    two = list(one)
    for position in range(step, size - step, step):
        two[position] = random.choice([base for base in "ACGT" if base != one[position]])
    return one, "".join(two)


def read_with_errors(random, haplotype, start, end, other, step=50):
    """Return a read of an interval and its path, with an error at most every so often, some at sites."""
    read, path = [], []
    for position in range(start, end):
        base = haplotype[position]
        kind = random.integers(6) if start + 60 < position < end - 60 and position % step == 0 else 5
        if kind == 0 and other[position] != base:
            read.append(other[position])
            path.append("X")
        elif kind == 1:
            read.append("ACGT"[("ACGT".index(base) + 1 + random.integers(3)) % 4])
            path.append("X")
        elif kind == 2 and haplotype[position - 1] != base != haplotype[position + 1]:
            path.append("D")
        elif kind == 3 and (free := set("ACGT") - {base, haplotype[position + 1]}):
            read += [base, sorted(free)[0]]
            path += "=I"
        else:
            read.append(base)
            path.append("=")
    return "".join(read), path


@pytest.mark.parametrize("seed", range(4))
def test_counts_equal_the_oracle(seed):
    random = np.random.default_rng(seed)
    haplotypes = diploid(random, 4000, 150)
    reads, raws, rows, expected = [], [], [], []
    sites = oracle.sites([(text, False) for text in haplotypes])
    for i in range(8):
        h, start, strand = i % 2, int(random.integers(0, 2000)), "+-"[random.integers(2)]
        end = start + int(random.integers(900, 2000))
        made = [read_with_errors(random, haplotypes[h], start, end, haplotypes[1 - h]) for _ in range(2)]
        others = {p: bases for (number, p), bases in sites.items() if number == h}
        states = [oracle.states(path, start, read) for read, path in made]
        kinds = [oracle.kinds(found, haplotypes[h], others) for found in states]
        changed = oracle.compared(*states, haplotypes[h], others)
        columns = [[path.count(kind) for kind in "=XID"] for _, path in made]
        expected.append((columns, kinds, changed))
        turned = [reverse_complement(read) if strand == "-" else read for read, _ in made]
        raws.append(turned[0])
        reads.append(turned[1])
        rows.append(
            TruthRow(f"r{i}", f"h{h}", start, end, strand, 0, end - start, end - start, "normal", 1.0)
        )
    names = [f"r{i}" for i in range(8)]
    scores = evaluate_reads(
        Reads.from_sequences(names, reads), Truth.from_rows(rows),
        [Reads.from_sequences([f"h{h}"], [text]) for h, text in enumerate(haplotypes)],
        raw=Reads.from_sequences(names, raws), threads=2,
    )  # fmt: skip
    assert scores.sites == len(sites) > 40
    found = [
        (
            [list(c[1:5]) for c in (r.raw, r.corrected)],
            [list(c[5:]) for c in (r.raw, r.corrected)],
            list(r.changes),
        )
        for r in scores.reads
    ]
    assert found == expected
    assert sum(scores.changes) > 20
    assert min(scores.corrected[5:]) > 0
