"""Exact matches on one GPU beside the CPU of the same machine, with equal results.

    python -m tests.benchmarks.exact_matches_gpu [--text 1000000000] [--reads 177000000] [--rounds 3]

Texts are random; a third of each is copies of 200 repeats of 320 to 6,400 bases, with one base of eight
changed. Reads are pieces of 10 kb of either strand with 13 % errors, as of PacBio: 8 % insertions, 3.5 %
deletions, 1.5 % substitutions. Whole time takes packed reads in host memory to the table of matches in host
memory, the index on the device; of some rounds the fastest counts.
"""

import dataclasses
from operator import itemgetter

import numpy as np
from numba import njit

from overlapper.index import Index
from overlapper.index.gpu import GpuIndex
from overlapper.index.index import seed_length
from overlapper.index.segments import Segments
from overlapper.kernels.common.packed import base_at, kmer_rank
from overlapper.kernels.index.cuda import mems, smems
from overlapper.kernels.index.cuda.fm_index import DeviceQueries
from overlapper.kernels.index.fm_index import extended_row
from overlapper.runtime.gpu.driver import Event
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.threads import available_threads
from overlapper.tables import Reads
from overlapper.tables.reads import BASES_PER_WORD, unpack
from tests.benchmarks.harness import parser_of, timed, told

READ_WORDS = 312
SHIFTS = np.arange(BASES_PER_WORD, dtype=np.uint64) * np.uint64(2)


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


def pieces(text, count, words, length, rng):
    """Word-aligned pieces of the text."""
    places = rng.integers(len(text.words) - words, size=count)
    taken = text.words[places[:, None] + np.arange(words)]
    if length < words * BASES_PER_WORD:
        taken &= np.uint64((1 << 2 * length) - 1)
    return reads_of(taken.ravel(), length)


def random_words(rng, count):
    return rng.integers(2**64, size=count, dtype=np.uint64)


def repetitive_text(bases, rng):
    """Random words, a third of them diverged copies of repeats."""
    words = random_words(rng, bases // BASES_PER_WORD)
    repeats = [random_words(rng, size) for size in rng.integers(10, 201, 200)]
    copied = 0
    while copied < len(words) // 3:
        repeat = repeats[rng.integers(len(repeats))]
        copies = max(1, len(words) // (600 * len(repeat)))
        changes = random_words(rng, (copies, len(repeat)))
        for _ in range(3):
            changes &= random_words(rng, changes.shape)  # a bit of 16, so one base of eight
        places = rng.integers(len(words) - len(repeat), size=copies)
        words[places[:, None] + np.arange(len(repeat))] = repeat ^ changes
        copied += changes.size
    return reads_of(words, len(words) * BASES_PER_WORD)


def noisy_reads(text, bases, rng):
    """Reads of `READ_WORDS` words, of either strand."""
    packed = []
    length = READ_WORDS * BASES_PER_WORD
    for _ in range(-(-bases // (256 * length))):
        places = rng.integers(len(text.words) - READ_WORDS - 2, size=256)
        codes = unpack(text.words[places[:, None] + np.arange(READ_WORDS)].ravel(), 256 * length)
        codes = codes.reshape(256, length)
        codes[::2] = 3 - codes[::2, ::-1]
        codes = codes.ravel()
        chance = rng.integers(1000, size=len(codes), dtype=np.int16)
        codes = np.where(chance >= 985, rng.integers(4, size=len(codes), dtype=np.uint8), codes)
        copies = np.where(chance < 80, 2, np.where(chance < 115, 0, 1))
        codes = np.repeat(codes, copies)
        inserted = np.flatnonzero(np.repeat(chance < 80, copies))[::2]
        codes[inserted] = rng.integers(4, size=len(inserted), dtype=np.uint8)
        codes = codes[: len(codes) // length * length].reshape(-1, BASES_PER_WORD).astype(np.uint64)
        packed.append(np.bitwise_or.reduce(codes << SHIFTS, axis=1))
    words = np.concatenate(packed)[: bases // length * READ_WORDS]
    return reads_of(words, length)


def fastest(function, rounds):
    """Return a result and the least seconds of some rounds, after one that compiles."""
    return min((timed(function) for _ in range(rounds + 1)), key=itemgetter(1))


def kernel_seconds(arena, kernel, items, *arguments, rounds=3):
    """Return the least seconds of a launch, by events."""
    best = float("inf")
    for _ in range(rounds + 1):
        begin = Event(arena.stream)
        launch(kernel, items, arena, *arguments)
        best = min(best, Event(arena.stream).seconds_since(begin))
    return best


def equal(a, b):
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))


def build(bases, rng):
    text, _ = told(f"text of {bases} bases", lambda: repetitive_text(bases, rng))
    index, _ = told("index", lambda: Index.build(text))
    return text, index, told("upload", lambda: GpuIndex(index))[0]


@njit(nogil=True)
def count_accesses(fm, words, sources, lengths, step, size):
    """Count look-ups in the table, and bins looked at, of `mems.search_seeds`."""
    table, k = fm.table, fm.kmer_length
    rows_a_bin, accesses = 64, 0
    for query in range(len(sources)):
        source = sources[query]
        for start in range(0, lengths[query] - size + 1, step):
            rank = kmer_rank(words, source + start + size - k, k)
            first, last = np.int64(table[rank, 0]), np.int64(table[rank, 1])
            accesses += 1
            place = start + size - k - 1
            while first < last and place > start - step and place >= 0:
                base = base_at(words, source + place)
                accesses += 1 + int(first // rows_a_bin != last // rows_a_bin)
                first = extended_row(fm, base, first)
                last = extended_row(fm, base, last)
                place -= 1
    return accesses


def search_kernels(index, device, reads, min_length, rounds):
    """Print the seconds of the kernels that search, once over all reads, and gathers a second of MEMs'."""
    segments = Segments.of(reads, min_length)
    gpu = device._gpus[0]
    arena = gpu._arena
    queries = DeviceQueries(*map(arena.upload, (reads.words, segments.packed_starts, segments.lengths)))
    size = seed_length(index.fm, min_length)
    step = min_length - size + 1
    part = segments.rows(0, len(segments) // 50 + 1)
    sample = count_accesses(index.fm, reads.words, part.packed_starts, part.lengths, step, size)
    gathers = sample * int(segments.lengths.sum()) / int(part.lengths.sum())
    for what, kernel, settings, items_each in (
        ("MEM", mems.search_seeds, (step, size), (segments.lengths - size) // step + 1),
        ("SMEM", smems.search_windows, (min_length, smems.ENDS),
         -(-(segments.lengths - min_length + 1) // smems.ENDS)),
    ):  # fmt: skip
        items = int(items_each.sum())
        offsets = arena.upload(np.concatenate([[0], np.cumsum(items_each)]))
        counts, nothing = arena.array(items, np.int32), arena.array((1, 6), np.int64)
        seconds = kernel_seconds(
            arena, kernel, items, gpu._held, queries, offsets, *map(np.int64, settings),
            offsets, counts, nothing, False, rounds=rounds,
        )  # fmt: skip
        print(f"{what}: search kernel {seconds * 1e3:.1f} ms, {items} threads", end="")
        if what == "MEM":
            print(f", {gathers / 1e9:.2f} G gathers, {gathers / seconds / 1e9:.1f} G/s", end="")
        print(flush=True)
    arena.release(0)


def compare_matches(options, rng):
    text, index, device = build(options.text, rng)
    reads, _ = told("reads", lambda: noisy_reads(text, options.reads, rng))
    print(f"{len(reads)} reads of {reads.total_bases} bases, matches of {options.min_length} and more")
    some = reads.take(np.arange(min(200, len(reads))))
    for kind in ("mems", "smems", "nov_smems"):
        found, seconds = fastest(lambda k=kind: getattr(device, k)(reads, options.min_length), options.rounds)
        line = f"{kind}: {len(found)} matches, {seconds:.3f} s whole on the GPU"
        if kind != "nov_smems" or options.all:
            getattr(index, kind)(some, options.min_length)
            expected, cpu = timed(lambda k=kind: getattr(index, k)(reads, options.min_length))
            line += f", {cpu:.2f} s on {available_threads()} threads of the CPU, {cpu / seconds:.1f}x"
            line += ", equal" if equal(found, expected) else ", DIFFERENT"
        print(line, flush=True)
    search_kernels(index, device, reads, options.min_length, options.rounds)


def main():
    parser = parser_of(
        __doc__,
        text=1_000_000_000,
        reads=177_000_000,
        min_length=20,
        rounds=3,
    )
    parser.add_argument("--all", action="store_true", help="nov-SMEMs on the CPU, too")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    compare_matches(options, rng)


if __name__ == "__main__":
    main()
