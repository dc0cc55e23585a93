import random

import pytest

from overlapper.simulate import random_genome
from overlapper.tables import Reads
from tests.steps import correct

GENOME = random_genome(3_000, seed=11).sequence(0)
ENDS = {"another base": ("A", "C"), "a base more": ("", "T"), "a base less": ("GA", "A")}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("reverse", [False, True])
def test_an_error_at_the_last_base_of_a_read_is_corrected(end, reverse):
    right, wrong = ENDS[end]
    genome = GENOME[:2_000] + "TGACTGA" + GENOME[2_000:]
    given = genome[:2_007].removesuffix(right) + wrong
    complement = str.maketrans("ACGT", "TGCA")
    if reverse:
        given = given[::-1].translate(complement)
    around = random.Random(1)
    others = [genome[around.randint(0, 500) : around.randint(2_300, 3_000)] for _ in range(12)]
    others = [b if i % 2 else b[::-1].translate(complement) for i, b in enumerate(others)]
    reads = Reads.from_sequences([f"r{i}" for i in range(13)], [given, *others])
    made = correct(reads).reads.sequence(0)
    if reverse:
        made = made[::-1].translate(complement)
    assert made in genome and len(made) >= 2_000
