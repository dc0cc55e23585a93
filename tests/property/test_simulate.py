"""Simulated reads fit their truth, whatever the model and the reference."""

import dataclasses
import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.simulate import PRESETS, generate_reads
from overlapper.simulate.bits import Bits, Stream
from overlapper.simulate.errors import put_errors, sequence
from overlapper.tables import Reads
from tests.oracle.sequencing_errors import with_errors
from tests.tries import tries

models = st.builds(
    dataclasses.replace,
    st.sampled_from(list(PRESETS.values())),
    mean_length=st.floats(20, 300),
    length_sd=st.floats(0, 200),
    min_length=st.integers(1, 20),
    homopolymer=st.floats(0, 5),
    burst=st.floats(0, 1),
    chimeras=st.floats(0, 0.5),
    junk=st.floats(0, 0.3),
    adapters=st.floats(0, 1),
    missed_adapters=st.floats(0, 0.2),
)
references = st.lists(st.text("ACGTN", min_size=1, max_size=400), min_size=1, max_size=3).map(
    lambda sequences: Reads.from_sequences([f"c{i}" for i in range(len(sequences))], sequences)
)


@given(models, references, st.booleans(), st.floats(0.5, 5), st.integers(0, 2**40))
@settings(deadline=None, max_examples=tries(150))
def test_truth_fits_reads_and_references(model, references, circular, coverage, seed):
    sizes = dict(zip(references.names, references.lengths.tolist(), strict=True))
    placed = 0
    drawn = generate_reads(references, model, coverage=coverage, seed=seed, circular=circular)
    for number, read in enumerate(drawn, 1):
        assert read.name == f"read{number}"
        assert len(read.codes) == len(read.qualities)
        assert read.codes.max(initial=0) <= 3
        ends_whole = not (model.bad_heads or model.bad_tails or model.tail_adapter)
        if ends_whole:
            assert read.truth[0].qstart in (0, len(model.head_adapter))
            assert read.truth[-1].qend == len(read.codes)
        assert 0 <= read.truth[0].qstart <= read.truth[-1].qend <= read.truth[0].read_len == len(read.codes)
        assert all(a.qend == b.qstart for a, b in itertools.pairwise(read.truth))
        for row in read.truth:
            assert 0 <= row.identity <= 1
            if row.kind == "junk":
                assert row.ref == "*"
                continue
            size = sizes[row.ref]
            assert 0 <= row.start < size
            assert row.start < row.end <= (row.start + size if circular else size)
            placed += row.end - row.start
    assert placed >= coverage * references.total_bases


@given(models, st.integers(0, 2000), st.floats(0.5, 1), st.integers(0, 1000))
@settings(deadline=None, max_examples=tries(150))
def test_identity_is_what_the_errors_leave(model, length, identity, seed):
    bits = Bits(Stream.READ, seed)
    template = bits.bases(length)
    read = sequence(template, identity, model, bits)
    # Every inserted base adds a column and no match, every deleted one keeps its column: so the read cannot
    # be longer than the columns, nor hold fewer bases than there are matches.
    if length:
        matches_at_most = min(length, len(read.codes))
        assert read.identity <= matches_at_most / max(length, len(read.codes)) + 1e-12
    if identity == 1 and not model.bad_stretches:
        assert np.array_equal(read.codes, template)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.dictionaries(
        st.integers(0, 59),
        st.tuples(st.integers(1, 9), st.sampled_from(["deletion", "substitution", "insertion"])),
    ),
)
@settings(deadline=None, max_examples=tries(300))
def test_errors_are_put_as_the_oracle_does(template, errors):
    drawn = [(at, *errors[at]) for at in sorted(errors) if at < len(template)]
    kinds = np.array([kind for _, _, kind in drawn], "U12")
    read = put_errors(
        np.array(template, np.uint8),
        np.array([at for at, _, _ in drawn], np.int64),
        np.array([length for _, length, _ in drawn], np.int64),
        kinds == "deletion",
        kinds == "insertion",
        np.ones(len(drawn), np.float32),
        Bits(Stream.READ, 1),
    )
    codes, columns, matches = with_errors(template, drawn)
    assert (len(template) + read.inserted, read.matches) == (columns, matches)
    assert len(read.codes) == read.copies.sum() == len(codes)
    for got, expected in zip(read.codes.tolist(), codes, strict=True):
        assert got == expected if expected >= 0 else 0 <= got <= 3 and got != -1 - expected
