"""Read sets for tests: pieces of a genome on both strands, with errors, repeats, unknown bases and scraps."""

import numpy as np

from overlapper.tables import Reads
from tests.oracle.strands import reverse_complement


def random_text(rng, length, alphabet="ACGT"):
    return "".join(rng.choice(list(alphabet), length))


def mutated(rng, text, rate):
    """Substitute, delete and insert bases, each at a third of the rate."""
    kinds = rng.random(len(text)) / rate if rate else np.full(len(text), 9.0)
    others = random_text(rng, len(text))
    return "".join(
        other if kind < 1 / 3 else "" if kind < 2 / 3 else base + other if kind < 1 else base
        for base, other, kind in zip(text, others, kinds, strict=True)
    )


def texts_of(seed, *, genome=1500, reads=12, longest=900, errors=0.05, unknown=0.3, scraps=True):
    """Return a list of sequences that depends on the seed alone."""
    rng = np.random.default_rng(seed)
    unique = random_text(rng, genome)
    repeat = unique[100:200]
    middle = genome // 2
    sources = (
        unique,
        unique[:middle] + mutated(rng, repeat, 0.05) * 2 + unique[middle:],
        unique[:middle] + random_text(rng, 7) * 20 + "A" * 50 + unique[middle:],
    )
    source = sources[rng.integers(len(sources))]
    texts = []
    for _ in range(reads):
        start = int(rng.integers(0, len(source) - 60))
        text = mutated(rng, source[start : start + int(rng.integers(30, longest))], errors * rng.random())
        if text and rng.random() < unknown:
            at = int(rng.integers(len(text)))
            run = int(rng.integers(1, 40))
            text = text[:at] + "N" * run + text[at + run :]
        texts.append(reverse_complement(text) if rng.random() < 0.5 else text)
    if scraps:
        texts += ["", "A", "N" * 50, "ACGTACGTAC", texts[0]]
    return [texts[i] for i in rng.permutation(len(texts))]


def reads_of(texts):
    return Reads.from_sequences([f"read{i}" for i in range(len(texts))], texts)


def columns_of(table):
    """Return the columns of a table as bytes, by name, to compare two tables exactly."""
    return {
        field.name: getattr(table, field.name).tobytes()
        for field in table.fields_of("column", "offsets", "ragged")
        if getattr(table, field.name) is not None
    }
