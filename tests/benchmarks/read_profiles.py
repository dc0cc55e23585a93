"""Where reads differ from their reference, column by column, from one end of the read to the other.

`profiles` takes minimap2's alignments (``-c --eqx``) of real or simulated reads alike: of every read the
primary and supplementary ones, without those that lie on the read within longer ones. Two that follow each
other on one strand of one diagonal, or nearly, are one piece; what lies between them is aligned by least
edits, and so is what lies before the first piece and behind the last one, up to the ends of the read, so
that bad stretches and bad ends are measured like the rest. Where a linear reference ends before the read,
the read is cut.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterable

import edlib
import numpy as np

from overlapper.tables import Reads
from tests.benchmarks.harness import measured

MATCH, SUBSTITUTION, INSERTION, DELETION = range(4)
SHORTEST = 200
"""Shorter alignments count only if they hold half of the read."""
LONGEST_GAP = 6000
_RUNS = re.compile(rb"(\d+)([=XID])")
_CODE = {ord(letter): code for code, letter in enumerate("=XID")}
_LETTERS = np.frombuffer(b"ACGTA", np.uint8)


@dataclasses.dataclass
class Piece:
    """A part of a read that lies on one place of the reference.

    Attributes
    ----------
    q_start, q_end : int
        On the read, half open; of the alignments alone.
    reference : str
    reverse : bool
    start, end : int
        On the forward strand of the reference.
    quality : int
        Mapping quality of its first alignment.
    columns : ndarray of uint8
        `MATCH`, `SUBSTITUTION`, `INSERTION` or `DELETION`, in the direction of the read. Those of the first
        and the last piece go on to the ends of the read.
    """

    q_start: int
    q_end: int
    reference: str
    reverse: bool
    start: int
    end: int
    quality: int
    columns: np.ndarray

    @property
    def entry(self) -> int:
        """Where on the reference the piece begins in the direction of the read."""
        return self.end if self.reverse else self.start

    @property
    def exit(self) -> int:
        """Where on the reference it ends in the direction of the read."""
        return self.start if self.reverse else self.end


@dataclasses.dataclass
class Profile:
    """A read on its reference.

    Attributes
    ----------
    name : str
    codes : ndarray of uint8
        Its bases.
    pieces : list of Piece
        None of a read without alignment.
    head, tail : int
        Bases before the first alignment and behind the last one.
    """

    name: str
    codes: np.ndarray
    pieces: list[Piece]
    head: int = 0
    tail: int = 0

    @property
    def length(self) -> int:
        """Bases."""
        return len(self.codes)

    def aligned_columns(self) -> np.ndarray:
        """Return the columns of a read of one piece without its head and tail."""
        columns = self.pieces[0].columns
        base = np.cumsum(columns != DELETION)
        return columns[(base > self.head) & (base <= self.length - self.tail)]


def align(reads: str, reference: str, preset: str, output: str, minimap2: str = "minimap2") -> None:
    """Align reads with minimap2 into a PAF file."""
    measured([minimap2, "-t2", "-c", "--eqx", "-x", preset, reference, reads], output)


def profiles(reads: Reads, references: Reads, paf: str, circular: bool) -> list[Profile]:
    """Return the profiles of reads, in their order."""
    texts = {name: references.codes(i) for i, name in enumerate(references.names)}
    aligned = collections.defaultdict(list)
    with open(paf) as lines:
        for line in lines:
            if "\ttp:A:P" in line:
                name, piece = _parse(line)
                aligned[name].append(piece)
    return [
        _profile(name, reads.codes(i), aligned.get(name, []), texts, circular)
        for i, name in enumerate(reads.names)
    ]


def placements(paf: str, share: float = 0.8, quality: int = 20) -> Iterable[tuple[str, str, int, int, bool]]:
    """Yield name, reference, start, end and strand of reads of which so large a share aligns so well."""
    best: dict[str, tuple] = {}
    with open(paf) as lines:
        for line in lines:
            f = line.split("\t")
            bases = int(f[3]) - int(f[2])
            if "\ttp:A:P" in line and bases >= share * int(f[1]) and int(f[11]) >= quality:
                best[f[0]] = max(best.get(f[0], (0,)), (bases, f[5], int(f[7]), int(f[8]), f[4] == "-"))
    for name, row in best.items():
        yield name, *row[1:]


def windows(columns: np.ndarray, size: int) -> np.ndarray:
    """Return how many columns of each kind (4 rows) there are in windows of so many reference bases."""
    base = np.cumsum(columns != INSERTION)
    window = np.where(columns == INSERTION, base, base - 1) // size
    n = int(base[-1]) // size if len(base) else 0
    return np.array([np.bincount(window[columns == kind], minlength=n)[:n] for kind in range(4)])


def identities(columns: np.ndarray, size: int) -> np.ndarray:
    """Return matches over columns in windows of so many reference bases."""
    counts = windows(columns, size)
    return counts[MATCH] / counts.sum(axis=0)


def _parse(line: str) -> tuple[str, Piece]:
    f = line.rstrip("\n").split("\t")
    cigar = next(tag[5:] for tag in f[12:] if tag.startswith("cg:Z:"))
    reverse = f[4] == "-"
    columns = _columns(cigar)[::-1] if reverse else _columns(cigar)
    return f[0], Piece(int(f[2]), int(f[3]), f[5], reverse, int(f[7]), int(f[8]), int(f[11]), columns)


def _columns(cigar: str) -> np.ndarray:
    runs = _RUNS.findall(cigar.encode())
    codes = np.array([_CODE[kind[0]] for _, kind in runs], np.uint8)
    return np.repeat(codes, [int(length) for length, _ in runs])


def _profile(
    name: str, codes: np.ndarray, found: list[Piece], texts: dict[str, np.ndarray], circular: bool
) -> Profile:
    n = len(codes)
    found = sorted(
        (p for p in found if p.q_end - p.q_start >= min(SHORTEST, 0.5 * n)),
        key=lambda p: (p.q_start, p.q_end),
    )
    pieces: list[Piece] = []
    for piece in found:
        if _within_a_longer_one(piece, found):
            continue
        last = pieces[-1] if pieces else None
        gap = _gap(last, piece, len(texts[piece.reference]), circular) if last else None
        if last and gap is not None:
            between = _bases(texts, last, gap, circular) if gap else np.empty(0, np.uint8)
            joint = _edits(codes[last.q_end : piece.q_start], between, "NW")
            last.columns = np.concatenate([last.columns, joint, piece.columns])
            last.q_end = piece.q_end
            last.start, last.end = (
                (last.start - gap - (piece.end - piece.start), last.end)
                if last.reverse
                else (last.start, last.end + gap + piece.end - piece.start)
            )
        else:
            pieces.append(piece)
    if not pieces:
        return Profile(name, codes, [])
    head, tail = pieces[0].q_start, n - pieces[-1].q_end
    start, end = 0, n
    if not _carry_to_end(pieces[0], codes[:head], texts, circular, before=True):
        head, start = 0, head
    if not _carry_to_end(pieces[-1], codes[n - tail :], texts, circular, before=False):
        tail, end = 0, n - tail
    return Profile(name, codes[start:end], pieces, head, tail)


def _within_a_longer_one(piece: Piece, others: list[Piece]) -> bool:
    size = piece.q_end - piece.q_start
    return any(
        other.q_end - other.q_start > size
        and min(piece.q_end, other.q_end) - max(piece.q_start, other.q_start) > 0.5 * size
        for other in others
    )


def _gap(last: Piece, piece: Piece, size: int, circular: bool) -> int | None:
    """Return the reference bases between two pieces that make one, or None."""
    if (last.reference, last.reverse) != (piece.reference, piece.reverse):
        return None
    here = piece.q_start - last.q_end
    there = last.exit - piece.entry if last.reverse else piece.entry - last.exit
    if circular:
        there = (there + size // 2) % size - size // 2
    least, most = min(here, there), max(here, there)
    return there if least >= 0 and most <= min(2 * least + 500, LONGEST_GAP) else None


def _bases(texts: dict[str, np.ndarray], piece: Piece, length: int, circular: bool) -> np.ndarray:
    """Return the reference behind a piece, or before it for a negative length, as the read goes."""
    text = texts[piece.reference]
    behind = length > 0
    at = piece.exit if behind else piece.entry
    start = at if behind != piece.reverse else at - abs(length)
    span = np.arange(start, start + abs(length))
    bases = text[span % len(text)] if circular else text[span[(span >= 0) & (span < len(text))]]
    return 3 - bases[::-1] if piece.reverse else bases


def _carry_to_end(
    piece: Piece, codes: np.ndarray, texts: dict[str, np.ndarray], circular: bool, *, before: bool
) -> bool:
    """Add the columns of a head or tail to a piece; return False where the reference ends before it does."""
    reach = int(1.4 * len(codes)) + 50
    bases = _bases(texts, piece, -reach if before else reach, circular)
    if not len(codes):
        return True
    if len(bases) < len(codes) + 50:
        return False
    if before:
        columns = _edits(codes[::-1], bases[::-1], "SHW")[::-1]
        piece.columns = np.concatenate([columns, piece.columns])
    else:
        piece.columns = np.concatenate([piece.columns, _edits(codes, bases, "SHW")])
    return True


def _edits(read: np.ndarray, reference: np.ndarray, mode: str) -> np.ndarray:
    if not len(read) or not len(reference):
        return np.full(max(len(read), len(reference)), INSERTION if len(read) else DELETION, np.uint8)
    texts = (_LETTERS[np.minimum(codes, 4)].tobytes().decode() for codes in (read, reference))
    return _columns(edlib.align(*texts, mode=mode, task="path")["cigar"])
