"""What is measured of reads on their reference: identities, bad stretches and ends, kinds of errors."""

from __future__ import annotations

import itertools

import numpy as np

from tests.benchmarks.read_profiles import (
    DELETION,
    INSERTION,
    MATCH,
    SUBSTITUTION,
    Profile,
    identities,
    windows,
)

WINDOW = 100
"""Reference bases of the windows that bad stretches are made of."""
TURN = 20_000
"""A read that goes on so near on the other strand has turned back."""


def numbers(reads: list[Profile]) -> dict[str, list[float]]:
    """Return what is measured of a set of reads, by name."""
    single = [read for read in reads if len(read.pieces) == 1]
    inner = [
        columns for columns in map(Profile.aligned_columns, single) if np.sum(columns != INSERTION) >= 500
    ]
    return {
        **_reads(reads),
        **_identities(inner),
        **_kinds(inner),
        **_clumps(inner),
        **_bad_stretches(inner),
        **_ends(single),
        **_copies(single),
    }


def _share(flags: np.ndarray) -> float:
    return float(np.mean(flags)) if len(flags) else float("nan")


def _reads(reads: list[Profile]) -> dict[str, list[float]]:
    lengths = np.array([read.length for read in reads])
    pieces = np.array([len(read.pieces) for read in reads])
    turning = joined = 0
    for read in reads:
        for one, other in itertools.pairwise(read.pieces):
            turns = one.reference == other.reference and one.reverse != other.reverse
            near = turns and abs(one.exit - other.entry) < TURN
            turning, joined = turning + near, joined + (not near)
    return {
        "length: mean, sd, median, 95 %": [
            lengths.mean(), lengths.std(), np.median(lengths), np.percentile(lengths, 95),
        ],
        "reads of no, one and more pieces": [_share(pieces == 0), _share(pieces == 1), _share(pieces > 1)],
        "turns and other joints a read": [turning / len(reads), joined / len(reads)],
    }  # fmt: skip


def _identities(inner: list[np.ndarray]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    counts = np.array([np.bincount(columns, minlength=4)[:4] for columns in inner])
    errors = counts[:, 1:].sum(axis=1) / (counts.sum(axis=1) - counts[:, INSERTION])
    identity = counts[:, MATCH] / counts.sum(axis=1)
    found["identity of reads: mean, sd"] = [identity.mean(), identity.std()]
    found["errors a base of reads: 1 5 25 50 75 95 99 %"] = list(
        np.percentile(errors, [1, 5, 25, 50, 75, 95, 99])
    )
    for size in (100, 500, 1000):
        of_windows = np.concatenate([identities(columns, size) for columns in inner])
        found[f"identity of windows of {size}: 1 5 25 50 75 95 %"] = list(
            np.percentile(of_windows, [1, 5, 25, 50, 75, 95])
        )
        found[f"windows of {size} below .6 .7 .75 .8"] = [
            _share(of_windows < limit) for limit in (0.6, 0.7, 0.75, 0.8)
        ]
    return found


def _kinds(inner: list[np.ndarray]) -> dict[str, list[float]]:
    counts = np.concatenate([windows(columns, 500) for columns in inner], axis=1)
    identity = counts[MATCH] / counts.sum(axis=0)
    found = {
        "shares of substitutions, insertions, deletions": list(counts[1:].sum(axis=1) / counts[1:].sum())
    }
    edges = (0.5, 0.65, 0.75, 0.82, 0.88, 0.93, 0.97, 1.01)
    for low, high in itertools.pairwise(edges):
        within = (identity >= low) & (identity < high)
        if within.sum() > 20:
            found[f"the same a base where windows have an identity from {low} to {high}"] = list(
                counts[1:, within].mean(axis=1) / 500
            )
    return found


def _clumps(inner: list[np.ndarray]) -> dict[str, list[float]]:
    bases = sum(int(np.sum(columns != INSERTION)) for columns in inner)
    found = {}
    for kind, name in ((INSERTION, "insertions"), (DELETION, "deletions"), (SUBSTITUTION, "substitutions")):
        lengths = np.concatenate([_runs(columns == kind) for columns in inner])
        found[f"{name} of 1 2 3 4 bases"] = [_share(lengths == size) for size in (1, 2, 3, 4)]
        found[f"{name} of 5 10 20 50 100 bases or more in 10 kb"] = [
            int(np.sum(lengths >= size)) / bases * 1e4 for size in (5, 10, 20, 50, 100)
        ]
    # Square roots of rates, whose variance does not depend on the rate; means of reads are taken away.
    tracks = []
    for columns in inner:
        rate = np.sqrt(windows(columns, WINDOW)[1:].sum(axis=0) / WINDOW)
        if len(rate) > 30:
            tracks.append(rate - rate.mean())
    variance = np.mean([np.mean(track**2) for track in tracks]) if tracks else float("nan")
    found[
        "root of errors a base in windows of 100: sd within reads; correlation over 1 2 5 10 20 windows"
    ] = [
        variance**0.5,
        *(_correlation(tracks, lag) / variance for lag in (1, 2, 5, 10, 20) if tracks),
    ]
    return found


def _correlation(tracks: list[np.ndarray], lag: int) -> float:
    return float(np.mean(np.concatenate([track[:-lag] * track[lag:] for track in tracks])))


def _bad_stretches(inner: list[np.ndarray]) -> dict[str, list[float]]:
    """Return stretches whose windows, averaged over three, are below a limit, in reads that are else good."""
    limits = (0.6, 0.7, 0.75, 0.8)
    found: dict[float, list[np.ndarray]] = {limit: [] for limit in limits}
    total = 0
    for columns in inner:
        identity = identities(columns, WINDOW)
        if len(identity) < 10 or np.median(identity) < 0.8:
            continue
        total += len(identity)
        ones = np.ones(3)
        smooth = np.convolve(identity, ones, "same") / np.convolve(np.ones(len(identity)), ones, "same")
        for limit in limits:
            found[limit].append(_runs(smooth < limit))
    result = {}
    for limit in limits:
        lengths = np.concatenate([*found[limit], np.empty(0, np.int64)])
        if len(lengths):
            result[f"stretches below {limit}: in 10 kb; length in bases, mean, 50 75 90 95 %"] = [
                len(lengths) / total * 1e4 / WINDOW,
                lengths.mean() * WINDOW,
                *np.percentile(lengths, [50, 75, 90, 95]) * WINDOW,
            ]
    return result


def _ends(single: list[Profile]) -> dict[str, list[float]]:
    limits = (50, 100, 200, 500, 1000, 2000)
    found = {}
    for name in ("head", "tail"):
        bases = np.array([getattr(read, name) for read in single])
        found[f"reads of one piece with 50 100 200 500 1000 2000 unaligned bases at the {name}"] = [
            _share(bases >= limit) for limit in limits
        ]
    return found


def _copies(single: list[Profile]) -> dict[str, list[float]]:
    """Return how often an inserted base between bases that match is one of these."""
    copies = total = 0
    for read in single:
        columns, codes = read.aligned_columns(), read.codes[read.head :]
        alone = np.flatnonzero(
            (columns[1:-1] == INSERTION) & (columns[:-2] == MATCH) & (columns[2:] == MATCH)
        )
        at = np.cumsum(columns != DELETION)[alone]  # the base before the inserted one has this number, from 1
        here, before, behind = codes[at], codes[at - 1], codes[at + 1]
        copies, total = copies + int(np.sum((here == before) | (here == behind))), total + len(at)
    return {"share of lone inserted bases that a base beside them equals": [copies / total] if total else []}


def _runs(flags: np.ndarray) -> np.ndarray:
    """Return the lengths of the runs of true values."""
    edges = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
