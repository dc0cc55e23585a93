"""Words of bases as numbers."""

import numpy as np
import pytest

from overlapper.sketch.words import NO_WORD, words_of


def word(codes):
    """Return a word by its definition."""
    return NO_WORD if max(codes) > 3 else int("".join(map(str, codes)), 4)


@pytest.mark.parametrize("bases", [1, 2, 3, 10, 11, 12, 15, 16, 31])
@pytest.mark.parametrize("length", [0, 1, 11, 30, 31, 80])
def test_words_are_numbers_to_the_base_of_four(bases, length):
    codes = np.random.default_rng(length).choice(5, (3, length), p=[0.24] * 4 + [0.04]).astype(np.uint8)
    words = words_of(codes, bases)
    expected = [[word(row[i : i + bases]) for i in range(length - bases + 1)] for row in codes.tolist()]
    np.testing.assert_array_equal(words, np.reshape(expected, (3, max(0, length - bases + 1))))
    np.testing.assert_array_equal(words_of(codes[1], bases), words[1])
