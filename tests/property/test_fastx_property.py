"""FASTA and FASTQ against the plain Python of tests/oracle/fastx.py, cut into blocks anywhere."""

import itertools
import tempfile
from unittest import mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import EmptyInputError, FormatError, InputError, TruncatedError
from overlapper.io.fastx import read_fastx
from overlapper.io.reads_builder import ReadsBuilder
from overlapper.tables import Reads
from tests.oracle.fastx import Broken, records
from tests.tries import tries

WORDS = {
    "no header": "expected > or @",
    "no name": "has no name",
    "bad name": "in its name",
    "bad letter": "among its bases",
    "no plus": "has no + line",
    "short quality": "fewer qualities",
    "long quality": "more qualities",
    "bad quality": "among its qualities",
    "truncated": "ends in the middle",
}

ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", " \n"])
names = st.integers(0, 10**6).map(str)
bases = st.one_of(
    st.text("ACGT", min_size=30, max_size=140),
    st.text("ACGTacgtUuNnRX", max_size=70),
    st.integers(0, 70).map(lambda n: "N" * n),
)


@st.composite
def wrapped(draw, sequence):
    """The sequence on one line or on several of one width."""
    width = draw(st.integers(1, 80))
    end = draw(ends)
    if draw(st.booleans()) or not sequence:
        return sequence + end
    return "".join(sequence[i : i + width] + end for i in range(0, len(sequence), width))


@st.composite
def fastq_records(draw):
    sequence = draw(bases)
    qualities = "".join(
        draw(st.lists(st.sampled_from("!+>@IJ~"), min_size=len(sequence), max_size=len(sequence)))
    )
    end = draw(ends)
    if draw(st.booleans()):
        return f"@{draw(names)}{end}{sequence}{end}+{end}{qualities}{end}"
    return f"@{draw(names)} x{end}{draw(wrapped(sequence))}+again{end}{draw(wrapped(qualities))}"


@st.composite
def fasta_records(draw):
    return (
        f">{draw(names)}{draw(st.sampled_from(['', ' of', chr(9)]))}{draw(ends)}{draw(wrapped(draw(bases)))}"
    )


good = st.lists(st.one_of(fasta_records(), fastq_records()), min_size=1, max_size=8).map("".join)
bad = st.text(">@+ACGTN!I \t\n\r*\x00~\x7f", max_size=60)


@st.composite
def damaged(draw):
    """Good text with a piece cut out and a letter put in."""
    text = draw(good)
    start, stop = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    return (
        text[:start]
        + draw(st.text(">@+A\nI*", max_size=2))
        + text[max(start, stop - draw(st.integers(0, 9))) :]
    )


def read_in_blocks(text, cuts, taking):
    """Read a text in blocks, and take what is complete after each, or all at the end."""
    builder = ReadsBuilder(keep_qualities=True)
    bounds = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    parts = []
    for start, stop in itertools.pairwise(bounds):
        builder.feed(text[start:stop].encode(), "text")
        if taking:
            parts.append(builder.take_closed())
    builder.end_file("text")
    return Reads.concat([*parts, builder.take_closed()])


@settings(deadline=None, max_examples=tries(400))
@given(
    text=st.one_of(good, bad, damaged()),
    cuts=st.lists(st.integers(0, 2000), max_size=5),
    taking=st.booleans(),
)
def test_reads_or_errors_are_the_oracles(text, cuts, taking):
    try:
        expected = records(text)
    except Broken as broken:
        try:
            read_in_blocks(text, cuts, taking)
        except (FormatError, TruncatedError) as error:
            first = "starts with" if broken.args[0] == "no header" else None
            assert WORDS[broken.args[0]] in str(error) or (first and first in str(error)), (broken, error)
            assert isinstance(error, TruncatedError) == (broken.args[0] == "truncated")
            return
        raise AssertionError(f"no error, expected {broken}") from None
    try:
        reads = read_in_blocks(text, cuts, taking).validate()
    except EmptyInputError:
        assert not expected
        return
    table = Reads.from_sequences([name for name, _, _ in expected], [bases for _, bases, _ in expected])
    for column in table.__dataclass_fields__:
        if getattr(table, column) is not None:
            np.testing.assert_array_equal(getattr(reads, column), getattr(table, column), err_msg=column)
    scores = [scores or "" for _, _, scores in expected]
    assert bytes(reads.qualities + 33).decode() == "".join(scores)
    assert np.diff(reads.quality_offsets).tolist() == [len(s) for s in scores]


def outcome(path, threads):
    try:
        return read_fastx(path, keep_qualities=True, threads=threads)
    except InputError as error:
        return error


@settings(deadline=None, max_examples=tries(300))
@given(text=st.one_of(good, bad, damaged()), chunk=st.integers(1, 400), look=st.integers(1, 200))
def test_chunks_of_a_file_are_the_whole(text, chunk, look):
    with (
        tempfile.NamedTemporaryFile() as file,
        mock.patch.multiple("overlapper.io.chunks", CHUNK_BYTES=chunk, _LOOK_BYTES=look),
    ):
        file.write(text.encode())
        file.flush()
        whole, in_chunks = outcome(file.name, 1), outcome(file.name, 2)
    if isinstance(whole, InputError):
        assert str(in_chunks) == str(whole)
        return
    for column in whole.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(in_chunks, column), getattr(whole, column), err_msg=column)
