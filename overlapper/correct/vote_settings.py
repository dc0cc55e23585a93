"""Settings of the vote on a pileup, from its parameters and the divergence of the reads."""

from __future__ import annotations

import numpy as np

from overlapper.correct.pileups import Pileups
from overlapper.correct.stored_pileups import StoredPileups
from overlapper.kernels.consensus.layers import Settings
from overlapper.kernels.consensus.own_bases import LONGEST_RUN, MILLION, MOST_MISSING
from overlapper.params.correction import CorrectParams

RUN_ERRORS, MOST_RUN_ERRORS = 0.25, 0.4
"""Share of reads in which a run of one base is a base shorter, for each error of a read and the square of the
bases of the run; most such reads. Simulated HiFi reads (``docs/notes/correction.md``)."""
CHANCE, MOST_ALIKE = 12, 0.49
"""The square of this times the error rate is the share of reads that have a wrong column by chance, where
errors of a draft and of reads meet, for each column of a run; most such reads, at which nothing is held. Real
R10 reads of 6 % of errors (Listeria) and simulated ones of an LPA locus (``docs/notes/correction.md``)."""
WEIGHT, MOST_WEIGHT = 10, 40
"""Weight of a base without a quality, and the highest weight of one that has it."""
ACCURATE_ANCHOR, ANCHOR = 15, 11
"""Shortest anchors where the median divergence of overlaps is below `LONG_ANCHORS_BELOW`, and elsewhere."""
LONG_ANCHORS_BELOW = 0.05
RAW_DOUBT = 16
"""What a doubt counts where reads err independently."""
DIVERGENCES, WORTHS = (0.003, 0.02, 0.065, 0.10, 0.12), (2.0, 1.6, 1.0, 0.95, 0.8)
"""What the vote of a read tells, by about how much reads diverge from the truth; fitted on simulations."""


def settings_of(pileups: Pileups, params: CorrectParams, doubt: int | None) -> Settings:
    """Return the settings of a vote.

    Parameters
    ----------
    pileups : Pileups
    params : CorrectParams
        With all thresholds.
    doubt : int or None
        As for `overlapper.correct.consensus.consensus`.
    """
    typical = pileups.typical_divergence
    return Settings(
        k=params.kmer_length or (ACCURATE_ANCHOR if typical < LONG_ANCHORS_BELOW else ANCHOR),
        max_gap=params.max_gap,
        max_depth=params.max_depth,
        thresholds=_by_draft(params),
        weight=WEIGHT,
        most_weight=MOST_WEIGHT,
        target_votes=pileups.targets_vote,
        haplotype_filter=params.haplotype_filter,
        worth=_worth(error_rate(pileups)) if doubt is None else 0,
        doubt=doubt or RAW_DOUBT,
        alike=_alike(params.error_rate or error_rate(pileups)),
    )


def error_rate(pileups: Pileups | StoredPileups) -> float:
    """Return the error rate of the reads, estimated from how much they diverge from their targets."""
    return pileups.typical_divergence / 2 if pileups.targets_vote else pileups.typical_divergence


def _alike(error_rate: float) -> np.ndarray:
    """Return the share of layers, in millionths, that may have the same error by chance.

    Of ``n`` layers ``b`` have one thing and the others another. If errors give a share ``p`` of layers the
    one in place of the other, the likelihood is ``p^b (1 - p)^(n - b)``, and ``2^-n`` if half of the layers
    have either. They are equal at the share ``b / n`` that is returned.
    """
    run, missing = np.ogrid[: LONGEST_RUN + 1, : MOST_MISSING + 1]
    single = np.minimum(RUN_ERRORS * error_rate * run**2, MOST_RUN_ERRORS)
    least = np.maximum(RUN_ERRORS * error_rate, (CHANCE * error_rate) ** 2 * np.maximum(run, 1))
    wrong = np.minimum(np.maximum(single**missing, least), MOST_ALIKE)
    share = np.log(2 * (1 - wrong)) / np.log((1 - wrong) / wrong)
    return np.asarray(np.round(MILLION * share), np.int64)


def _by_draft(params: CorrectParams) -> np.ndarray:
    """Return the thresholds of every draft, of other bases and of those of homopolymer runs."""
    both = np.array([params.thresholds, params.thresholds]).T
    both[-1, 1] = params.run_threshold
    return np.ascontiguousarray(both)


def _worth(divergence: float) -> int:
    """Return the weight of the vote of a read, in 64ths, as in `Settings`."""
    return round(64 * float(np.interp(divergence, DIVERGENCES, WORTHS)))
