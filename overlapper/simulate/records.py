"""Base codes as records of FASTA and FASTQ."""

from __future__ import annotations

import numpy as np

_LETTERS = np.frombuffer(b"ACGTN", np.uint8)
_PHRED_ZERO = 33


def fasta_record(name: str, codes: np.ndarray) -> bytes:
    """Return a record of two lines."""
    return b">%s\n%s\n" % (name.encode(), _LETTERS[codes].tobytes())


def fastq_record(name: str, codes: np.ndarray, qualities: np.ndarray) -> bytes:
    """Return a record of four lines; qualities are Phred scores, at most 93."""
    letters, scores = _LETTERS[codes].tobytes(), (qualities + np.uint8(_PHRED_ZERO)).tobytes()
    return b"@%s\n%s\n+\n%s\n" % (name.encode(), letters, scores)
