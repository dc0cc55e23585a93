"""Reads as records of FASTA and FASTQ."""

from __future__ import annotations

import numpy as np

from overlapper.io.outputs import OutputFile
from overlapper.tables import Reads

FASTA_ENDINGS = (".fasta", ".fa", ".fna")
_LETTERS = np.frombuffer(b"ACGTN", np.uint8)
_PHRED_ZERO, _HIGHEST = 33, 93


def fasta_record(name: str, codes: np.ndarray) -> bytes:
    """Return a record of two lines."""
    return b">%s\n%s\n" % (name.encode(), _LETTERS[codes].tobytes())


def fastq_record(name: str, codes: np.ndarray, qualities: np.ndarray) -> bytes:
    """Return a record of four lines; qualities are Phred scores, at most 93."""
    letters, scores = _LETTERS[codes].tobytes(), (qualities + np.uint8(_PHRED_ZERO)).tobytes()
    return b"@%s\n%s\n+\n%s\n" % (name.encode(), letters, scores)


def is_fasta(path: str) -> bool:
    """Tell whether the name of a file says that it is FASTA."""
    return path.lower().removesuffix(".gz").endswith(FASTA_ENDINGS)


def write_reads(file: OutputFile, reads: Reads) -> None:
    """Write reads to an open file: FASTA if its name says so, else FASTQ, with tags as comments.

    Parameters
    ----------
    reads : Reads
        With qualities, unless FASTA is written.
    """
    fasta = is_fasta(file.path)
    for i in range(len(reads)):
        name, codes = reads.name(i), reads.codes(i)
        if fasta:
            file.write(fasta_record(name, codes))
            continue
        assert reads.qualities is not None and reads.quality_offsets is not None, "FASTQ needs qualities"
        qualities = reads.qualities[reads.quality_offsets[i] : reads.quality_offsets[i + 1]]
        if tags := reads.tags_of(i):
            name = f"{name}\t{tags.decode()}"
        file.write(fastq_record(name, codes, np.minimum(qualities, _HIGHEST)))
