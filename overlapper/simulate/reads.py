"""Draw reads: what each is, where it comes from, and its bases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.io.truth import Truth, TruthRow
from overlapper.simulate.bits import Bits, Distribution, Stream
from overlapper.simulate.errors import MAX_QUALITY, Sequenced, sequence
from overlapper.simulate.model import ReadModel, adapted_model
from overlapper.tables import Reads
from overlapper.tables.base import offsets_of
from overlapper.tables.reads import CODE_OF_BYTE, UNKNOWN, pack, words_for

ADAPTER = CODE_OF_BYTE[np.frombuffer(b"AATGTACTTCGTTCAGTTACGTATTGCT", np.uint8)]
"""The 5' ligation adapter of Oxford Nanopore."""

CHIMERA_CUT = (0.15, 0.85)
"""Where a chimera changes over, as a share of its length."""


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
        Its pieces, in the order of the read.
    """

    name: str
    codes: np.ndarray
    qualities: np.ndarray
    truth: list[TruthRow]


class Place(NamedTuple):
    """An interval of a reference, and the strand that is read.

    Attributes
    ----------
    reference : int
        Its number.
    start, end : int
        0-based half-open; on a circular reference the end may exceed its length.
    reverse : bool
    """

    reference: int
    start: int
    end: int
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
    if not 0 < coverage < math.inf:
        raise ParameterError(f"coverage is {coverage}, expected a number above 0")
    if not references.total_bases:
        raise EmptyInputError("the references hold no bases")
    return _Sampler(references, model, seed, circular).reads(coverage * references.total_bases)


class _Sampler:
    """What is common to all reads of a run."""

    def __init__(self, references: Reads, model: ReadModel, seed: int, circular: bool) -> None:
        self.model, self.seed, self.circular = model, seed, circular
        self.names = references.names
        self.codes = [_resolved(references.codes(i), seed, i) for i in range(len(references))]
        self.ends = np.cumsum(references.lengths)
        self.lengths: Distribution = model.lengths()
        self.identities: Distribution = model.identities()

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
        adapter = ADAPTER if bits.unit() < model.adapters else ADAPTER[:0]
        places: list[Place] = []
        if what < model.junk:
            kind = "junk"
            pieces = [sequence(bits.bases(length), identity, model, bits)]
        else:
            kind = "chimera" if what < model.junk + model.chimeras else "normal"
            low, high = CHIMERA_CUT
            cut = max(1, int(length * (low + (high - low) * bits.unit()))) if kind == "chimera" else length
            places = [self.place(size, bits) for size in (cut, length - cut) if size]
            pieces = [sequence(self.template(place), identity, model, bits) for place in places]
        codes = np.concatenate([adapter] + [piece.codes for piece in pieces])
        sure = np.full(len(adapter), MAX_QUALITY, np.uint8)
        qualities = np.concatenate([sure] + [piece.qualities for piece in pieces])
        name = f"read{number + 1}"
        truth = self.truth(name, kind, places, pieces, len(adapter), len(codes))
        return SimulatedRead(name, codes, qualities, truth), sum(p.end - p.start for p in places)

    def place(self, length: int, bits: Bits) -> Place:
        """Draw where a piece of the given length comes from."""
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
        self, name: str, kind: str, places: list[Place], pieces: list[Sequenced], start: int, length: int
    ) -> list[TruthRow]:
        """Return the rows of a read whose first piece starts at the given base."""
        rows = []
        for place, piece in itertools.zip_longest(places, pieces):
            end = start + len(piece.codes)
            if place is None:
                rows.append(TruthRow(name, "*", 0, 0, ".", start, end, length, kind, 0.0))
            else:
                strand = "-" if place.reverse else "+"
                reference = self.names[place.reference]
                rows.append(
                    TruthRow(name, reference, place.start, place.end, strand, start, end, length, kind,
                             piece.identity)
                )  # fmt: skip
            start = end
        return rows


def _resolved(codes: np.ndarray, seed: int, reference: int) -> np.ndarray:
    unknown = np.flatnonzero(codes == UNKNOWN)
    codes[unknown] = Bits(Stream.UNKNOWN_BASES, seed, reference).bases(len(unknown))
    return codes
