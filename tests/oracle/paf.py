"""PAF lines to rows and back, in plain Python.

A row is a dict: query, target, reverse, q_start, q_end, t_start, t_end, matches, block_length, score, seeds,
divergence (None without an estimate), kind (0 to 3: i, d, q, t), edits (None without an alignment) and
cigar, a list of (length, operation) along the forward strand of the query.
"""

import itertools
from decimal import ROUND_HALF_UP, Decimal

CLASSES = "idqt"
SWAPPED = {"i": "i", "d": "d", "q": "t", "t": "q"}


def lines_of(rows, names, lengths):
    """The lines of rows; of those of a pair, which follow each other, the best one is marked P."""
    lines = []
    for _, group in itertools.groupby(rows, key=lambda row: (row["query"], row["target"])):
        of_pair = list(group)
        best = min(map(rank, of_pair))
        for row in of_pair:
            further = row["secondary"] if row.get("secondary") is not None else rank(row) > best
            lines.append(line_of(row, names, lengths, "S" if further else "P"))
    return lines


def rank(row):
    """What is smallest for the best overlap of a pair; the same from either read."""
    starts, ends = (row["q_start"], row["t_start"]), (row["q_end"], row["t_end"])
    if row["query"] > row["target"]:
        starts, ends = starts[::-1], ends[::-1]
    return -row["score"], row["reverse"], starts, ends


def line_of(row, names, lengths, mark="P"):
    """The line of a row; its query is the PAF query."""
    aligned = row["edits"] is not None
    columns = [names[row["query"]], lengths[row["query"]], row["q_start"], row["q_end"]]
    columns += ["-" if row["reverse"] else "+"]
    columns += [names[row["target"]], lengths[row["target"]], row["t_start"], row["t_end"]]
    columns += [row["matches"], row["block_length"], 255, f"tp:A:{mark}", f"cm:i:{row['seeds']}"]
    columns += [f"{'AS' if aligned else 's1'}:i:{row['score']}"]
    if aligned:
        columns += [f"NM:i:{row['edits']}"]
    if row["divergence"] is not None:
        rounded = Decimal(row["divergence"]).quantize(Decimal("0.0001"), ROUND_HALF_UP)
        columns += [f"{'de' if aligned else 'dv'}:f:{rounded}"]
    columns += [f"cl:A:{CLASSES[row['kind']]}"]
    if row.get("copy_differences") is not None:
        columns += [f"cd:i:{row['copy_differences']}"]
    if row["cigar"]:
        along_target = row["cigar"][::-1] if row["reverse"] else row["cigar"]
        columns += ["cg:Z:" + "".join(f"{length}{operation}" for length, operation in along_target)]
    return "\t".join(map(str, columns)) + "\n"


def row_of(line, names):
    """The row of a line, its query the read of the smaller number; None where a read matches itself."""
    columns = line.rstrip("\r\n").split("\t")
    tags = {tag[:2]: tag[5:] for tag in columns[12:]}
    query, target = names.index(columns[0]), names.index(columns[5])
    if query == target:
        return None
    q_start, q_end, t_start, t_end = (int(columns[i]) for i in (2, 3, 7, 8))
    reverse = columns[4] == "-"
    cigar, number = [], ""
    for letter in tags.get("cg", ""):
        if letter.isdigit():
            number += letter
        else:
            cigar.append((int(number), letter))
            number = ""
    if reverse:
        cigar.reverse()
    kind = tags.get("cl", "i")
    if query > target:
        query, target = target, query
        q_start, q_end, t_start, t_end = t_start, t_end, q_start, q_end
        kind = SWAPPED[kind]
        # Along the other read: on the reverse strand it is walked from its other end.
        cigar = [(n, {"I": "D", "D": "I"}.get(op, op)) for n, op in (cigar[::-1] if reverse else cigar)]
    return {
        "query": query, "target": target, "reverse": reverse,
        "q_start": q_start, "q_end": q_end, "t_start": t_start, "t_end": t_end,
        "matches": int(columns[9]), "block_length": int(columns[10]),
        "score": int(tags.get("AS", tags.get("s1", 0))), "seeds": int(tags.get("cm", 0)),
        "divergence": float(tags.get("de", tags.get("dv", "nan"))), "kind": CLASSES.index(kind),
        "edits": int(tags["NM"]) if "NM" in tags else None, "cigar": cigar,
    }  # fmt: skip
