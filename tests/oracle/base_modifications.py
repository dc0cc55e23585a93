"""Base modifications of SAM records, read as the SAM tags specification defines them, by plain Python.

Imports nothing of the program.
"""

import re

_COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A", "N": "N"}


def places_on_read(bases, mm, ml):
    """Return (place, strand, codes, values) of each call; bases and places are of the read as sequenced."""
    calls, values = [], list(ml)
    for part in mm.split(";")[:-1]:
        head, *skips = part.split(",")
        base, strand, codes = re.fullmatch(r"([ACGTUN])([-+])([a-z]+|[0-9]+|[ACGTUN])[.?]?", head).groups()
        codes = [codes] if codes.isdigit() else list(codes)
        same = [place for place, letter in enumerate(bases) if base in ("N", letter)]
        at = -1
        for skip in map(int, skips):
            at += skip + 1
            taken, values = values[: len(codes)], values[len(codes) :]
            calls.append((same[at], strand, codes, taken))
    assert not values
    return calls


def places_on_reference(flag, position, cigar, sequence, mm, ml):
    """Return ((place, code), value) of each call of a record, by 0-based places on the reference.

    Calls at bases that are not aligned with one of the reference are left out.
    """
    reverse = bool(flag & 16)
    sequenced = "".join(_COMPLEMENT[letter] for letter in reversed(sequence)) if reverse else sequence
    on_reference, at = [], position
    for size, kind in re.findall(r"([0-9]+)([MIDNSHP=X])", cigar):
        for _ in range(int(size)):
            if kind in "M=X":
                on_reference.append(at)
            elif kind in "IS":
                on_reference.append(None)
            at += kind in "M=XDN"
    assert len(on_reference) == len(sequence)
    found = []
    for place, _, codes, values in places_on_read(sequenced, mm, ml):
        there = on_reference[len(sequence) - 1 - place if reverse else place]
        if there is not None:
            found += [((there, code), value) for code, value in zip(codes, values, strict=True)]
    return found
