"""Index of a large text: memory and disk a base, fixed seeds with mismatches, suffix array bounds.

    python -m tests.benchmarks.index_scale [--bases 100000000] [--seeds 100000] [--patterns 100000]
    [--in-parts]

The text is random, a third of it copies of 6 kb repeats. Run it alone: memory is the peak of the whole
process.
"""

import resource
import tempfile
from pathlib import Path

import numpy as np

from overlapper.index import Index, bwt
from overlapper.tables import Reads
from overlapper.tables.reads import BASES_PER_WORD
from tests.benchmarks.harness import parser_of, told

REPEAT_WORDS = 192
THREADS = 2


def reads_of(words, length):
    """Reads of equal length over packed words, a multiple of 32 bases each but for the last word."""
    n = len(words) // -(-length // BASES_PER_WORD)
    return Reads(
        lengths=np.full(n, length),
        words=words,
        word_offsets=np.arange(n + 1) * -(-length // BASES_PER_WORD),
        unknown_start=np.empty(0, np.int32),
        unknown_end=np.empty(0, np.int32),
        unknown_offsets=np.zeros(n + 1, np.int64),
        name_bytes=np.empty(0, np.uint8),
        name_offsets=np.zeros(n + 1, np.int64),
    ).validate()


def random_text(bases, rng):
    words = rng.integers(2**64, size=bases // BASES_PER_WORD, dtype=np.uint64)
    families = rng.integers(2**64, size=(50, REPEAT_WORDS), dtype=np.uint64)
    for _ in range(len(words) // REPEAT_WORDS // 3):
        place = rng.integers(len(words) - REPEAT_WORDS)
        words[place : place + REPEAT_WORDS] = families[rng.integers(len(families))]
        words[place + rng.integers(REPEAT_WORDS, size=20)] ^= np.uint64(1) << rng.integers(
            64, dtype=np.uint64
        )
    return reads_of(words, len(words) * BASES_PER_WORD)


def pieces(text, count, words, length, rng):
    """Word-aligned pieces of the text."""
    places = rng.integers(len(text.words) - words, size=count)
    taken = text.words[places[:, None] + np.arange(words)]
    if length < words * BASES_PER_WORD:
        taken &= np.uint64((1 << 2 * length) - 1)
    return reads_of(taken.ravel(), length)


def main():
    parser = parser_of(__doc__, bases=100_000_000, seeds=100_000, patterns=100_000)
    parser.add_argument("--in-parts", action="store_true", help="as a text over 2^31 rows is built")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    Index.build(reads_of(np.zeros(2, np.uint64), 64), threads=THREADS)
    if options.in_parts:
        bwt.SORTED_AT_ONCE = bwt.PART_ROWS = options.bases // 2
    text = random_text(options.bases, rng)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index, _ = told("built", lambda: Index.build(text, threads=THREADS))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory: {before * 1024 / options.bases:.2f} bytes a base before building")
    print(f"peak memory: {peak * 1024 / options.bases:.2f} bytes a base after it")
    for name in ("bins", "samples", "text", "table", "borders", "segments"):
        print(f"  {name}: {getattr(index.fm, name).nbytes / options.bases:.3f} bytes a base")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.index"
        told("saved", lambda: index.save(path))
        print(f"on disk: {path.stat().st_size / options.bases:.3f} bytes a base")
        index, _ = told("loaded", lambda: Index.load(path, threads=THREADS))
        for length in (20, 25, 30):
            seeds = pieces(text, options.seeds, 1, length, rng)
            for mismatches in range(3):
                told(
                    f"{options.seeds} seeds of {length} bases, {mismatches} mismatches",
                    lambda s=seeds, n=length, m=mismatches: index.fixed_seeds(
                        s, n, mismatches=m, threads=THREADS
                    ),
                )
        patterns = pieces(text, options.patterns, 32, 1024, rng)
        told(f"{options.patterns} bounds of 1024 bases", lambda: index.bounds(patterns, threads=THREADS))


if __name__ == "__main__":
    main()
