"""Draw reads: what each is, where it comes from, and its bases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.io.truth import Truth, TruthRow
from overlapper.simulate.bits import Bits, Distribution, Stream
from overlapper.simulate.errors import MAX_QUALITY, SequencedRead, sequence
from overlapper.simulate.model import ReadModel, lognormal
from overlapper.simulate.presets import adapted_model
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import CODE_OF_BYTE, UNKNOWN, pack, words_for

CHIMERA_CUT = (0.15, 0.85)
"""Where a chimera changes over, and a read turns back at a missed adapter, as a share of its length."""
NO_BASES = np.empty(0, np.uint8)
MOST_COVERAGE = 1_000_000


class SimulatedRead(NamedTuple):
    """One read.

    Attributes
    ----------
    name : str
    codes : ndarray of uint8, shape (n,)
        Bases, 0 to 3.
    qualities : ndarray of uint8, shape (n,)
        Phred scores.
    truth : list of TruthRow
        A row for each place that it comes from, in the order of the read.
    """

    name: str
    codes: np.ndarray
    qualities: np.ndarray
    truth: list[TruthRow]


class Place(NamedTuple):
    """An interval of a reference, and the strand that is read."""

    reference: int
    """Its number."""
    start: int
    end: int
    """`start`, `end`: 0-based half-open; on a circular reference the end may exceed its length."""
    reverse: bool


def simulate_reads(
    references: Reads,
    preset: str | ReadModel = "ont",
    *,
    coverage: float = 20.0,
    seed: int = 1,
    circular: bool = False,
) -> tuple[Reads, Truth]:
    """Simulate reads and keep them in memory.

    Parameters
    ----------
    references : Reads
        The sequences that reads come from, chosen in proportion to their lengths; bases other than ACGT are
        replaced by random ones.
    preset : str or ReadModel
        A name in `PRESETS`, or a model of your own.
    coverage : float
        Placed template bases over reference bases, above 0.
    seed : int
        0 or more.
    circular : bool
        Every reference is a circle.

    Returns
    -------
    Reads
        With qualities.
    Truth
        Where they come from.

    Raises
    ------
    ParameterError
        When a value is out of range.
    EmptyInputError
        When the references hold no bases.

    Examples
    --------
    >>> from overlapper.simulate import random_genome, simulate_reads
    >>> reads, truth = simulate_reads(random_genome(50_000), "hifi", coverage=5)
    >>> int(truth.read_len.sum()) >= 5 * 50_000 * 0.99
    True
    """
    reads = list(generate_reads(references, preset, coverage=coverage, seed=seed, circular=circular))
    lengths = np.array([len(read.codes) for read in reads], np.int64)
    names = [np.frombuffer(read.name.encode(), np.uint8) for read in reads]
    table = Reads(
        lengths=lengths,
        words=np.concatenate([pack(read.codes) for read in reads]),
        word_offsets=offsets_of(words_for(lengths)),
        unknown_start=np.empty(0, np.int32),
        unknown_end=np.empty(0, np.int32),
        unknown_offsets=np.zeros(len(reads) + 1, np.int64),
        name_bytes=np.concatenate(names),
        name_offsets=offsets_of(np.array([len(name) for name in names])),
        qualities=np.concatenate([read.qualities for read in reads]),
        quality_offsets=offsets_of(lengths),
    )
    return table, Truth.from_rows(row for read in reads for row in read.truth)


def generate_reads(
    references: Reads,
    preset: str | ReadModel = "ont",
    *,
    coverage: float = 20.0,
    seed: int = 1,
    circular: bool = False,
) -> Iterator[SimulatedRead]:
    """Simulate reads one by one.

    Parameters
    ----------
    references, preset, coverage, seed, circular
        As `simulate_reads` takes them.

    Raises
    ------
    ParameterError, EmptyInputError
        See `simulate_reads`.
    """
    model = adapted_model(preset)
    if not 0 < coverage <= MOST_COVERAGE:
        raise ParameterError(f"coverage is {coverage}, expected a number above 0, {MOST_COVERAGE:,} at most")
    if not references.total_bases:
        raise EmptyInputError("the references hold no bases")
    return _Sampler(references, model, seed, circular).reads(coverage * references.total_bases)


class _Sampler:
    """The state that all reads of a simulation share: reference, model, random numbers."""

    def __init__(self, references: Reads, model: ReadModel, seed: int, circular: bool) -> None:
        self.model, self.seed, self.circular = model, seed, circular
        self.names = references.names
        self.codes = [_resolved(references.codes(i), seed, i) for i in range(len(references))]
        self.ends = np.cumsum(references.lengths)
        self.lengths: Distribution = model.lengths()
        self.identities: Distribution = model.identities()
        self.bad_ends = lognormal(model.bad_end_length, model.bad_end_length_sd, 1)
        letters = [
            np.frombuffer(text.encode(), np.uint8) for text in (model.head_adapter, model.tail_adapter)
        ]
        self.adapters = [CODE_OF_BYTE[text] for text in letters]

    def reads(self, wanted: float) -> Iterator[SimulatedRead]:
        """Yield reads until their placed template bases reach the number wanted."""
        placed = 0
        for number in itertools.count():
            if placed >= wanted:
                return
            read, bases = self.read(number)
            placed += bases
            yield read

    def read(self, number: int) -> tuple[SimulatedRead, int]:
        """Return a read and its placed template bases."""
        bits = Bits(Stream.READ, self.seed, number)
        model = self.model
        length = int(self.lengths.draw(bits))
        identity = round(self.identities.draw(bits), 6)
        what = bits.unit()
        head, tail = self.adapters if bits.unit() < model.adapters else (NO_BASES, NO_BASES)
        places: list[Place] = []
        if what < model.junk:
            kind = "junk"
            parts = [sequence(bits.bases(length), identity, model, bits)]
        else:
            kind, places = self.places(what - model.junk, length, bits)
            parts = [sequence(self.template(place), identity, model, bits) for place in places]
        before, after = self.bad_end(model.bad_heads, bits), self.bad_end(model.bad_tails, bits)
        codes = np.concatenate([head, before, *(part.codes for part in parts), after, tail])
        qualities = [np.full(len(head), MAX_QUALITY, np.uint8), np.ones(len(before), np.uint8)]
        qualities += [part.qualities for part in parts]
        qualities += [np.ones(len(after), np.uint8), np.full(len(tail), MAX_QUALITY, np.uint8)]
        name = f"read{number + 1}"
        truth = self.truth(name, kind, places, parts, len(head) + len(before), len(codes))
        return (
            SimulatedRead(name, codes, np.concatenate(qualities), truth),
            sum(p.end - p.start for p in places),
        )

    def places(self, what: float, length: int, bits: Bits) -> tuple[str, list[Place]]:
        """Return the kind of a read and the places it comes from; ``what`` is a random number from 0."""
        model = self.model
        joined = what < model.chimeras + model.missed_adapters
        low, high = CHIMERA_CUT
        cut = max(1, int(length * (low + (high - low) * bits.unit()))) if joined else length
        if what < model.chimeras:
            return "chimera", [self.place(size, bits) for size in (cut, length - cut) if size]
        first = self.place(cut, bits)
        return ("split", [first, self.back(first, length - cut)]) if joined else ("normal", [first])

    def back(self, place: Place, length: int) -> Place:
        """Return where a read goes on that turns back at the end of a place, on the other strand."""
        size = len(self.codes[place.reference])
        length = max(1, min(length, size))
        if place.reverse:
            start, end = place.start, place.start + length
        else:
            start, end = place.end - length, place.end
        if self.circular:
            return Place(place.reference, start % size, start % size + length, not place.reverse)
        return Place(place.reference, max(start, 0), min(end, size), not place.reverse)

    def bad_end(self, share: float, bits: Bits) -> np.ndarray:
        """Draw the bases from nowhere at an end of a read (uint8), of so large a share of the reads."""
        bad = share > 0 and bits.unit() < share
        return bits.bases(int(self.bad_ends.draw(bits))) if bad else NO_BASES

    def place(self, length: int, bits: Bits) -> Place:
        """Draw a place of the given length."""
        total = int(self.ends[-1])
        reference = int(np.searchsorted(self.ends, int(bits.unit() * total), side="right"))
        size = len(self.codes[reference])
        reverse = bits.unit() < 0.5
        if self.circular:
            start = int(bits.unit() * size)
            return Place(reference, start, start + min(length, size), reverse)
        # A start may lie before the reference; what is cut off leaves at least `least` bases.
        least = min(self.model.min_length, length, size)
        start = least - length + int(bits.unit() * (size + length - 2 * least + 1))
        return Place(reference, max(start, 0), min(start + length, size), reverse)

    def template(self, place: Place) -> np.ndarray:
        """Return the bases of a place, on its strand."""
        codes = self.codes[place.reference]
        over = place.end - len(codes)
        bases = codes[place.start : place.end]
        if over > 0:
            bases = np.concatenate([bases, codes[:over]])
        return 3 - bases[::-1] if place.reverse else bases

    def truth(
        self, name: str, kind: str, places: list[Place], parts: list[SequencedRead], start: int, length: int
    ) -> list[TruthRow]:
        """Return the rows of a read whose part from the first place starts at the given base."""
        rows = []
        for place, part in itertools.zip_longest(places, parts):
            end = start + len(part.codes)
            if place is None:
                rows.append(TruthRow(name, "*", 0, 0, ".", start, end, length, kind, 0.0))
            else:
                strand = "-" if place.reverse else "+"
                reference = self.names[place.reference]
                rows.append(
                    TruthRow(name, reference, place.start, place.end, strand, start, end, length, kind,
                             part.identity)
                )  # fmt: skip
            start = end
        return rows


def _resolved(codes: np.ndarray, seed: int, reference: int) -> np.ndarray:
    unknown = np.flatnonzero(codes == UNKNOWN)
    codes[unknown] = Bits(Stream.UNKNOWN_BASES, seed, reference).bases(len(unknown))
    return codes
