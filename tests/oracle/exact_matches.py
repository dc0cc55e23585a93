"""Exact matches by comparing everything with everything.

Texts and reads are strings over ACGTN. A match is (q_start, length, reverse, t_start): both positions are
first bases on forward strands, ``reverse`` says that the reverse complement of the read matches, and
``t_start`` counts the bases of all texts in order.
"""

from tests.oracle.strands import reverse_complement


def equal(a, b):
    """N equals nothing, not even N."""
    return a == b and a != "N"


def text_offsets(texts):
    return [sum(len(text) for text in texts[:i]) for i in range(len(texts))]


def mems(texts, read, min_length):
    """Matches that extend neither way, of a minimum length."""
    found = set()
    for reverse in (False, True):
        query = reverse_complement(read) if reverse else read
        for text, offset in zip(texts, text_offsets(texts), strict=True):
            for i in range(len(query)):
                for j in range(len(text)):
                    if i > 0 and j > 0 and equal(query[i - 1], text[j - 1]):
                        continue
                    length = 0
                    while i + length < len(query) and j + length < len(text):
                        if not equal(query[i + length], text[j + length]):
                            break
                        length += 1
                    if length >= min_length:
                        q_start = len(read) - i - length if reverse else i
                        found.add((q_start, length, reverse, offset + j))
    return found


def places(texts, piece):
    """All places of a piece, on both strands."""
    found = set()
    if "N" in piece or not piece:
        return found
    for reverse in (False, True):
        query = reverse_complement(piece) if reverse else piece
        for text, offset in zip(texts, text_offsets(texts), strict=True):
            j = text.find(query)
            while j >= 0:
                found.add((reverse, offset + j))
                j = text.find(query, j + 1)
    return found


def smems(texts, read, min_length):
    """Longest matching intervals of the read, those that lie in no other one, with all their places."""
    longest = []  # from each start; the others lie in these
    for start in range(len(read)):
        end = start
        while end < len(read) and places(texts, read[start : end + 1]):
            end += 1
        longest.append((start, end))
    found = set()
    for start, end in longest:
        contained = any(s <= start and end <= e and (s, e) != (start, end) for s, e in longest)
        if not contained and end - start >= min_length:
            found |= {(start, end - start, *place) for place in places(texts, read[start:end])}
    return found


def nov_smems(texts, read, min_length):
    """The longest match from the first base on, then the longest one from its end on, and so on."""
    found, start = set(), 0
    while start < len(read):
        end = start
        while end < len(read) and places(texts, read[start : end + 1]):
            end += 1
        if end - start >= min_length:
            found |= {(start, end - start, *place) for place in places(texts, read[start:end])}
        start = max(end, start + 1)
    return found
