"""Read sets for tests: pieces of a genome on both strands, with errors, repeats, unknown bases and scraps."""

import dataclasses

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.simulate import PRESETS, simulate_reads
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


def simulated_reads(model, coverage):
    """Return about 60 or 70 reads of a genome that holds diverged repeats, with `with_scraps`."""
    rng = np.random.default_rng(11)
    unique, repeat = random_text(rng, 9000), random_text(rng, 900)
    copies = [mutated(rng, repeat, 0.02), reverse_complement(mutated(rng, repeat, 0.02)), "AC" * 60]
    genome = unique[:3000] + copies[0] + unique[3000:6000] + copies[1] + copies[2] + unique[6000:]
    model = dataclasses.replace(PRESETS[model], mean_length=2000, length_sd=900, min_length=300)
    reads, _ = simulate_reads(Reads.from_sequences(["genome"], [genome]), model, coverage=coverage, seed=3)
    return with_scraps(reads)


def with_scraps(reads):
    """Add reads that overlap nothing, unknown bases, and a copy of a read under another name."""
    texts = [reads.sequence(i) for i in range(len(reads))]
    texts[2] = texts[2][:100] + "N" * 150 + texts[2][250:]
    texts += ["", "ACGT", "N" * 300, texts[5]]
    return Reads.from_sequences([f"r{i}" for i in range(len(texts))], texts)


def reads_of(texts):
    return Reads.from_sequences([f"read{i}" for i in range(len(texts))], texts)


def packed_reads(texts):
    return PackedReads.of(reads_of(texts))


def fasta_of(reads):
    return "".join(f">{reads.name(i)}\n{reads.sequence(i)}\n" for i in range(len(reads)))


def columns_of(table):
    """Return the columns of a table as bytes, by name, to compare two tables exactly."""
    return {
        field.name: getattr(table, field.name).tobytes()
        for field in table.fields_of("column", "offsets", "ragged")
        if getattr(table, field.name) is not None
    }


def assert_same(one, other):
    """Check that two tables have the same columns, bit by bit, and seeds of the same length, if any."""
    assert getattr(one, "seed_length", 0) == getattr(other, "seed_length", 0)
    columns, others = columns_of(one), columns_of(other)
    assert columns.keys() == others.keys()
    for name, values in columns.items():
        assert values == others[name], name


ALONE = 2**64 - 1


def linked(index):
    """Return the occurrences that have a later one of their group, by read and position; others are `ALONE`.

    Each is ``read << 32 | position << 1 | strand`` (uint64).
    """
    words = np.empty(index.lists.occurrences.room, np.uint64)
    index.lists.occurrences.widen(0, words)
    numbers = index.lists.numbers(0, int(index.list_starts[-1]))
    has_later = numbers < len(words)
    return np.where(has_later, words[np.where(has_later, numbers, 0)], np.uint64(ALONE))
