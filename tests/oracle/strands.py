"""The other strand of a sequence."""

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def reverse_complement(text):
    """Return the other strand; what is not ACGT stays."""
    return text.translate(COMPLEMENT)[::-1]
