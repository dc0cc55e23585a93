"""Settings of the consensus kernels, by the parameters of correction and the divergence of the reads."""

from __future__ import annotations

import math

import numpy as np

from overlapper.correction.motifs import erring_words
from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Pileups
from overlapper.kernels.consensus.layers import Settings
from overlapper.kernels.consensus.own_bases import LONGEST_TABLED_RUN, MILLION, MOST_MISSING
from overlapper.kernels.consensus.shares import UNIT
from overlapper.params.correction import CorrectParams

RUN_ERRORS, MOST_RUN_ERRORS = 0.25, 0.4
"""A homopolymer run of n bases is a base short in a share ``RUN_ERRORS e n**2`` of reads of error rate e, at
most `MOST_RUN_ERRORS`. Fitted on simulated HiFi reads (``docs/notes/correction.md``)."""
CHANCE, MOST_ALIKE = 12, 0.49
"""A share ``(CHANCE e)**2`` of reads has a wrong column by chance for each column of a run, where an error of
the draft meets errors of reads; at most `MOST_ALIKE`, with which nothing is held. Fitted on real R10 reads
with 6 % errors (Listeria), and simulated ones of an LPA locus (``docs/notes/correction.md``)."""
WEIGHT, MOST_WEIGHT = 10, 40
"""Weight of the vote of a base without a quality; highest weight of one with a quality."""
ACCURATE_ANCHOR, ANCHOR = 15, 11
"""Bases of the shortest anchor, where the median divergence of overlaps is below `LONG_ANCHORS_BELOW`, and
else."""
LONG_ANCHORS_BELOW = 0.05
STRAND_ERRORS, MOST_BY_CHANCE, MOST_CHI_SQUARE = 20, 0.05, 20
"""Chance at which what is on one strand is an error: ``(STRAND_ERRORS e)**2``, at most `MOST_BY_CHANCE`; and
the highest chi square that is asked for. Fitted on native R10 reads of E. coli and on HiFi reads, on one
strand, of four copies (``docs/notes/correction.md``)."""
RAW_DOUBT = 16
"""Factor of a doubt, in 16ths, where reads err independently."""
DIVERGENCES, WORTHS = (0.003, 0.02, 0.065, 0.10, 0.12), (2.0, 1.6, 1.0, 0.95, 0.8)
"""Worth of a read's vote as evidence, by the error rate of the reads; interpolated, fitted on simulations."""


def settings_of(pileups: Pileups, params: CorrectParams, doubt: int | None, targets_lead: bool) -> Settings:
    """Return the settings of the consensus of a pileup.

    Parameters
    ----------
    pileups : Pileups
    params : CorrectParams
        With all thresholds set.
    doubt, targets_lead
        As for `overlapper.correction.consensus.consensus_in_parts`.
    """
    given = given_error_rate(pileups, params)
    return Settings(
        k=params.kmer_length or anchor_of(pileups.typical_divergence),
        max_gap=params.max_gap,
        max_depth=params.max_depth,
        thresholds=_by_draft(params),
        weight=WEIGHT,
        most_weight=MOST_WEIGHT,
        target_votes=pileups.targets_vote,
        target_leads=targets_lead,
        haplotype_filter=params.haplotype_filter,
        worth=_worth(error_rate(pileups)) if doubt is None else 0,
        doubt=doubt or RAW_DOUBT,
        alike=_alike(given),
        errors=round(MILLION * given),
        strands=_strands(given),
        erring=erring_words(params.erring),
    )


def anchor_of(divergence: float) -> int:
    """Return the bases of the shortest anchor, by the typical divergence of overlaps."""
    return ACCURATE_ANCHOR if divergence < LONG_ANCHORS_BELOW else ANCHOR


def error_rate(pileups: Pileups | PileupSource) -> float:
    """Estimate the error rate of the reads: their divergence from unitigs, or half of that from reads."""
    return pileups.typical_divergence / 2 if pileups.targets_vote else pileups.typical_divergence


def given_error_rate(pileups: Pileups | PileupSource, params: CorrectParams) -> float:
    """Return the error rate of the reads as they were given, before the first round."""
    return params.error_rate or error_rate(pileups)


def _alike(error_rate: float) -> np.ndarray:
    """Return the share of layers that may have the same error by chance, in millionths.

    The table goes by the bases of a homopolymer run and the bases missing in it.

    Say ``b`` of ``n`` layers differ from the others. If this is an error that a share ``p`` of layers has,
    the likelihood is ``p^b (1 - p)^(n - b)``; if each layer is of either kind with equal chance, ``2^-n``.
    The share ``b / n`` at which both are equal is returned.
    """
    run, missing = np.ogrid[: LONGEST_TABLED_RUN + 1, : MOST_MISSING + 1]
    single = np.minimum(RUN_ERRORS * error_rate * run**2, MOST_RUN_ERRORS)
    least = np.maximum(RUN_ERRORS * error_rate, (CHANCE * error_rate) ** 2 * np.maximum(run, 1))
    wrong = np.minimum(np.maximum(single**missing, least), MOST_ALIKE)
    with np.errstate(divide="ignore"):  # reads without errors: no share, 0
        share = np.log(2 * (1 - wrong)) / np.log((1 - wrong) / wrong)
    return np.asarray(np.round(MILLION * share), np.int64)


def _strands(error_rate: float) -> int:
    """Return the chi square from which strands show that layers err alike, in parts of `UNIT`.

    Two shares have a chi square of ``c`` by chance about once in ``exp(c / 2)`` times. The more reads err,
    the more of what is on one strand is an error.
    """
    by_chance = min((STRAND_ERRORS * error_rate) ** 2, MOST_BY_CHANCE)
    return round(UNIT * min(-2 * math.log(max(by_chance, 1e-9)), MOST_CHI_SQUARE))


def _by_draft(params: CorrectParams) -> np.ndarray:
    """Return the thresholds of every draft: of bases in general, and of those of homopolymer runs."""
    both = np.array([params.thresholds, params.thresholds]).T
    both[-1, 1] = params.run_threshold
    return np.ascontiguousarray(both)


def _worth(divergence: float) -> int:
    """Return the worth of a read's vote, in 64ths."""
    return round(64 * float(np.interp(divergence, DIVERGENCES, WORTHS)))
