"""Rules that SAM files of single reads must keep, after Picard's ValidateSamFile and the specification."""

import re
from collections import defaultdict
from itertools import groupby, pairwise

CIGAR = re.compile(r"(\d+)([MIDNSHP=X])")
NAME = re.compile(r"[!-?A-~]{1,254}")
ON_READ, ON_REFERENCE = set("MIS=X"), set("MDN=X")
TAG = re.compile(r"[A-Za-z][A-Za-z0-9]:(?:A:[!-~]|i:[-+]?\d+|f:[-+]?[\d.]+(?:e[-+]?\d+)?|Z:[ !-~]*)")


def problems(text, references):
    """What is wrong with a file: a list of texts; empty if nothing is.

    Parameters
    ----------
    text : str
        Header and records.
    references : dict of str to str
        Bases of the reference sequences, in order.
    """
    lines = text.splitlines()
    header = [line.split("\t") for line in lines if line.startswith("@")]
    records = [line.split("\t") for line in lines[len(header) :]]
    found = list(_header_problems(header, references))
    groups = {field[3:] for line in header if line[0] == "@RG" for field in line if field.startswith("ID:")}
    for fields in records:
        if len(fields) < 11:
            found.append(f"{fields[0]}: fewer than 11 fields")
            continue
        found += [f"{fields[0]}: {problem}" for problem in _record_problems(fields, references, groups)]
    if not found:
        found += _read_problems(records)
        found += _order_problems(header, records, list(references))
    return found


def tags_of(fields):
    return {field[:2]: field[5:] for field in fields[11:]}


def _header_problems(header, references):
    if not header or header[0][0] != "@HD":
        yield "the header has no first line @HD"
    sequences = [dict(f.split(":", 1) for f in line[1:]) for line in header if line[0] == "@SQ"]
    expected = [{"SN": name, "LN": str(len(bases))} for name, bases in references.items()]
    if sequences != expected:
        yield "the sequences of the header are not the reference"
    programs = [field for line in header if line[0] == "@PG" for field in line if field.startswith("ID:")]
    if len(programs) != len(set(programs)) or not programs:
        yield "programs of the header are missing or twice there"


def _record_problems(fields, references, groups):
    name, flag, reference, position, quality, cigar = fields[:6]
    flag, position, quality = int(flag), int(position), int(quality)
    bases, scores, tags = fields[9], fields[10], tags_of(fields)
    if not NAME.fullmatch(name):
        yield "bad name"
    if flag & ~(4 | 16 | 256 | 2048) or flag & 2304 == 2304:
        yield "flags of pairs, or secondary and supplementary at once"
    if fields[6:9] != ["*", "0", "0"]:
        yield "mate fields of a single read"
    if not all(TAG.fullmatch(field) for field in fields[11:]) or len(tags) != len(fields) - 11:
        yield "bad tag, or twice the same"
    if groups and tags.get("RG") not in groups:
        yield "read group missing or not in the header"
    if bases != "*" and not re.fullmatch("[ACGTN]+", bases):
        yield "bad bases"
    if scores != "*" and (len(scores) != len(bases) or not re.fullmatch("[!-~]+", scores)):
        yield "qualities do not fit the bases"
    if flag & 4:
        if flag != 4 or (reference, position, quality, cigar) != ("*", 0, 0, "*") or "NM" in tags:
            yield "an unmapped read has a place"
        return
    if reference not in references:
        yield "reference is not in the header"
        return
    if flag & 256 and quality:
        yield "a secondary mapping has a quality"
    if not 0 <= quality <= 254:
        yield "bad mapping quality"
    yield from _alignment_problems(position, cigar, bases, tags, references[reference])


def _alignment_problems(position, cigar, bases, tags, reference):
    runs = [(int(n), kind) for n, kind in CIGAR.findall(cigar)]
    kinds = "".join(kind for _, kind in runs)
    if "".join(f"{n}{kind}" for n, kind in runs) != cigar or not re.fullmatch(
        "S?[M=X]([MID=X]*[M=X])?S?", kinds
    ):
        yield "bad CIGAR"
        return
    if any(n == 0 for n, _ in runs) or any(a == b for a, b in pairwise(kinds)):
        yield "bad CIGAR"
    if bases != "*" and sum(n for n, kind in runs if kind in ON_READ) != len(bases):
        yield "the CIGAR does not fit the bases"
        return
    if position < 1 or position - 1 + sum(n for n, kind in runs if kind in ON_REFERENCE) > len(reference):
        yield "the alignment leaves the reference"
        return
    if "NM" not in tags:
        yield "NM is missing"
    elif bases != "*":
        q, t, edits = 0, position - 1, 0
        for n, kind in runs:
            if kind in "M=X":
                pairs = zip(bases[q : q + n], reference[t : t + n], strict=True)
                equal = [a == b and a != "N" for a, b in pairs]
                if (kind == "=" and not all(equal)) or (kind == "X" and any(equal)):
                    yield "= or X is not so"
                edits += equal.count(False)
            elif kind in "ID":
                edits += n
            q, t = q + n * (kind in ON_READ), t + n * (kind in ON_REFERENCE)
        if edits != int(tags["NM"]):
            yield "NM is not the number of edits"


def _read_problems(records):
    """Yield what is wrong with the records of a read together."""
    of_read = defaultdict(list)
    for fields in records:
        of_read[fields[0]].append(fields)
    for name, rows in of_read.items():
        pieces = [fields for fields in rows if not int(fields[1]) & 256]
        if sum(not int(fields[1]) & 2048 for fields in pieces) != 1:
            yield f"{name}: not exactly one primary record"
        forward = {
            fields[9][::-1].translate(str.maketrans("ACGT", "TGCA")) if int(fields[1]) & 16 else fields[9]
            for fields in pieces
        }
        if len(forward) != 1:
            yield f"{name}: its records have other bases"
        for fields in pieces:
            others = [_entry(other) for other in pieces if other is not fields]
            if _entries(tags_of(fields).get("SA", "")) != sorted(others):
                yield f"{name}: SA does not name its other records"


def _entry(fields):
    """What SA says of a record: place, strand, clips, lengths, quality and edits."""
    runs = [(int(n), kind) for n, kind in CIGAR.findall(fields[5])]
    return (
        fields[2], fields[3], "-" if int(fields[1]) & 16 else "+", *_shape(runs), fields[4],
        tags_of(fields)["NM"],
    )  # fmt: skip


def _shape(runs):
    before = runs[0][0] if runs[0][1] == "S" else 0
    after = runs[-1][0] if runs[-1][1] == "S" else 0
    on_read = sum(n for n, kind in runs if kind in ON_READ) - before - after
    return before, on_read, sum(n for n, kind in runs if kind in ON_REFERENCE), after


def _entries(tag):
    entries = [entry.split(",") for entry in tag.split(";")[:-1]]
    return sorted(
        (ref, at, strand, *_shape([(int(n), kind) for n, kind in CIGAR.findall(cigar)]), quality, edits)
        for ref, at, strand, cigar, quality, edits in entries
    )


def _order_problems(header, records, names):
    order = next((field[3:] for field in header[0] if field.startswith("SO:")), "unknown")
    if order == "coordinate":
        places = [
            (names.index(fields[2]) if fields[2] != "*" else len(names), int(fields[3])) for fields in records
        ]
        if places != sorted(places):
            yield "records are not in the order that the header says"
    elif "GO:query" in header[0]:
        changes = [name for name, _ in groupby(fields[0] for fields in records)]
        if len(changes) != len(set(changes)):
            yield "records of a read are apart, though the header says they are not"
