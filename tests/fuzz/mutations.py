"""Damaged copies of files: what disks, editors, other programs and hostile users do to them."""

import copy
import json
import os
import re
import shutil

HUGE = (
    *(b"0", b"-1", b"1", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807"),
    *(b"-9223372036854775809", b"18446744073709551616", b"9" * 400, b"1e20", b"1e400", b"-1e400", b"nan"),
    *(b"inf", b"-inf", b"0.5", b"1_000", b"+7", b"0x10", "٣".encode(), "²".encode(), b"", b" 5"),
)
"""Numbers, and what a careless parser takes for one."""
ODD = (
    *(b"\0", b"\x01", b"\x07", b"\x0b", b"\x0c", b"\x1b[2J", b"\x1c", b"\x7f", b"\r", b"\r\n", b"\n\n"),
    *("\x85".encode(), "\u2028".encode(), "\u2029".encode(), "\xa0".encode(), "\ufeff".encode()),
    *("\uffff".encode(), "\U0001f9ec".encode(), b"\xff", b"\xc3", b"caf\xe9", b"\xed\xa0\x80", b"\xf5\x80"),
    *(b"\t", b" ", b"*", b"=", b"-", b"+", b">", b"@", b'"', b"'", b"<b>", b"&", b",", b":", b"[", b"{"),
    *(b"N" * 100, b"x" * 70_000, b"\\", b"%s", b"/", b"../x"),
)
"""Control characters, line ends of other alphabets, text that is not UTF-8, signs that mean something."""
VALUES = (
    *(None, True, 0, -1, 1.5, 10**400, 2**63, 1e308, float("nan"), float("inf"), "", "x", "9" * 400),
    *([], [1], {}, {"a": 1}, {"a": {"b": [None]}}, [[]], "\ud800", "\u2028"),
)
"""Values of JSON."""


def mutated(data, rng):
    """Return bytes changed in one to three ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_WAYS)(data, rng)
    return data


def mutated_json(data, rng):
    """Return JSON of which one to three values are others, or the text of which is damaged."""
    if rng.random() < 0.3:
        return mutated(data, rng)
    try:
        document = json.loads(data)
    except ValueError:  # damaged before
        return mutated(data, rng)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(document))
        if not places:
            break
        inside, key = rng.choice(places)
        if rng.random() < 0.25:
            del inside[key]
        else:
            inside[key] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(document).encode()


def damage_folder(folder, rng):
    """Damage one or two of the files in a folder: what is in them, or what they are."""
    for _ in range(rng.choice((1, 1, 2))):
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            return
        records = [path for path in files if path.suffix == ".json"]
        path = rng.choice(records if records and rng.random() < 0.5 else files)
        if rng.random() < 0.75:
            change = mutated_json if path.suffix == ".json" else mutated
            path.write_bytes(change(path.read_bytes(), rng))
        else:
            rng.choice(_WAYS_OF_FILES)(path, rng.choice(files), rng)


def _swap_files(path, other, rng):
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _replace_file(path, other, rng):
    path.unlink()
    rng.choice((path.mkdir, lambda: path.symlink_to(other), lambda: os.mkfifo(path)))()


def _rename_file(path, other, rng):
    path.rename(path.with_name(path.name + rng.choice(("", ".part", ".0123abcd.part", "x"))))


def _rename_folder(path, other, rng):
    new = path.parent.with_name(rng.choice((path.parent.name[:-1] + "0", "renamed")))
    if not new.exists():
        path.parent.rename(new)


_WAYS_OF_FILES = (
    lambda path, other, rng: path.unlink(), lambda path, other, rng: shutil.rmtree(path.parent),
    _swap_files, _replace_file, _rename_file, _rename_folder,
)  # fmt: skip


def _places(node):
    keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def _flip(data, rng):
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(data, rng):
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.choice(
            (0, 9, 10, 13, 32, 127, 128, 255, rng.randrange(256))
        )
    return bytes(changed)


def _cut(data, rng):
    return data[: rng.randint(0, len(data))]


def _slice(data, rng, longest):
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.randint(0, longest))


def _delete(data, rng):
    start, end = _slice(data, rng, rng.choice((1, 10, 1000)))
    return data[:start] + data[end:]


def _repeat(data, rng):
    start, end = _slice(data, rng, rng.choice((1, 10, 1000)))
    return data[:start] + data[start:end] * rng.choice((2, 2, 50)) + data[end:]


def _move(data, rng):
    start, end = _slice(data, rng, 200)
    rest, to = data[:start] + data[end:], rng.randint(0, len(data) - (end - start))
    return rest[:to] + data[start:end] + rest[to:]


def _insert(data, rng):
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(ODD + HUGE) + data[at:]


def _number(data, rng):
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return _insert(data, rng)
    start, end = rng.choice(found).span()
    return data[:start] + rng.choice(HUGE) + data[end:]


def _field(data, rng):
    """Change one field of a line of text: put something else there, drop it, double it, swap it."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    separator = rng.choice((b"\t", b"\t", b"\t", b" ", b":", b"="))
    fields = lines[at].split(separator)
    first, second = rng.randrange(len(fields)), rng.randrange(len(fields))
    way = rng.randrange(6)
    if way == 0:
        fields[first] = rng.choice(ODD + HUGE)
    elif way == 1:
        fields[first] += rng.choice(ODD)
    elif way == 2:
        fields[first] = rng.choice(ODD) + fields[first]
    elif way == 3:
        del fields[first]
    elif way == 4:
        fields.insert(second, fields[first])
    else:
        fields[first], fields[second] = fields[second], fields[first]
    lines[at] = separator.join(fields)
    return b"\n".join(lines)


def _line(data, rng):
    """Drop a line, double it, swap it with another, or put something else there."""
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(4)
    if way == 0:
        del lines[first]
    elif way == 1:
        lines.insert(second, lines[first])
    elif way == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = rng.choice(ODD + HUGE)
    return b"\n".join(lines)


def _line_ends(data, rng):
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\n \n", b" \n", b"\t\n", b"\n\r")))


def _edge(data, rng):
    return rng.choice(
        (b"", b"\n", data.rstrip(b"\n"), data + data, data + b"\0" * 100, b"\xef\xbb\xbf" + data)
    )


_WAYS = (
    *(_flip, _overwrite, _cut, _delete, _repeat, _move, _insert, _insert, _number, _number),
    *(_field, _field, _field, _line, _line, _line_ends, _edge),
)
