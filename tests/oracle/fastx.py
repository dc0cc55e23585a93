"""Records of FASTA and FASTQ text, in plain Python, line by line.

`records` returns a list of (name, bases, qualities or None), or raises `Broken` with what is wrong. Bases
are as in the text, without blanks.
"""

BASES = set("ACGTURYSWKMBDHVNXacgturyswkmbdhvnx")
BLANKS = " \t"


class Broken(Exception):
    """The text breaks the format; the argument says how."""


def records(text):
    lines = text.replace("\r", "\n").split("\n")
    found = []
    i = 0
    while i < len(lines):
        header = lines[i].strip(BLANKS) if not lines[i].strip(BLANKS) else lines[i].lstrip(BLANKS)
        if not header:
            i += 1
            continue
        if header[0] not in ">@":
            raise Broken("no header")
        last = i == len(lines) - 1
        name = name_of(header[1:], last)
        reader = fastq if header[0] == "@" else fasta
        bases, qualities, i = reader(lines, i + 1)
        found.append((name, bases, qualities))
    return found


def name_of(header, last):
    name = ""
    for letter in header:
        if letter in BLANKS:
            break
        if ord(letter) < 32 or ord(letter) == 127:
            raise Broken("bad name")
        name += letter
    if not name:
        raise Broken("truncated" if last and not header else "no name")
    return name


def letters_of(line):
    bases = ""
    for letter in line:
        if letter in BASES:
            bases += letter
        elif letter not in BLANKS:
            raise Broken("bad letter")
    return bases


def fasta(lines, i):
    bases = ""
    while i < len(lines) and lines[i][:1] not in (">", "@"):
        bases += letters_of(lines[i])
        i += 1
    return bases, None, i


def fastq(lines, i):
    bases, based_lines = "", 0
    while True:
        if i == len(lines):
            raise Broken("truncated")
        if lines[i][:1] in (">", "@"):
            raise Broken("no plus")
        if lines[i][:1] == "+":
            break
        more = letters_of(lines[i])
        based_lines += more != ""
        bases += more
        i += 1
    i += 1
    if not bases:
        return "", "", i
    if i >= len(lines):
        raise Broken("truncated")
    qualities = ""
    while len(qualities) < len(bases):
        if i == len(lines):
            raise Broken("truncated")
        qualities = scores_of(lines[i], qualities, len(bases))
        i += 1
        # A last line without its end may be cut off; a finished one may not be short.
        if based_lines == 1 and 0 < len(qualities) < len(bases):
            raise Broken("truncated" if i == len(lines) else "short quality")
    return bases, qualities, i


def scores_of(line, qualities, wanted):
    for letter in line:
        if letter in BLANKS:
            continue
        if len(qualities) == wanted:
            raise Broken("long quality")
        if not "!" <= letter <= "~":
            raise Broken("bad quality")
        qualities += letter
    return qualities
