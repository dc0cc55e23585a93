"""Thresholds and doubt of the vote, fitted to a sample of targets (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.correction.consensus import Consensus, consensus, contradicted_words
from overlapper.correction.motifs import motifs
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.vote_settings import RAW_DOUBT
from overlapper.kernels.consensus.consensus import DELETED, INSERTED, LONGER, RUNS, SHORTER
from overlapper.kernels.consensus.votes import MIN_DEPTH
from overlapper.params.correction import CorrectParams
from overlapper.tables.samples import spread

TYPICAL_THRESHOLD, THRESHOLD_EVEN, THRESHOLD_SLOPE = 57, 56, 60
EVEN_ON_UNITIGS = 53
"""Replaces `THRESHOLD_EVEN` where reads polish unitigs; fitted on real R9.4 reads of E. coli, judged on real
R7.3 and on simulated R9 reads (``docs/notes/assembly.md``)."""
LOWEST_THRESHOLD, HIGHEST_THRESHOLD = 45, 66
LOWEST_RUN_THRESHOLD, FEWEST_RUNS = 20, 100
MOST_INSERTED = 1.1
"""Ratio of inserted to deleted bases from which on homopolymer runs have no threshold of their own."""
STRIP_MOST, STRIP_SLOPE, REFILL_LEAST, REFILL_FEW, REFILL_SLOPE = 70, 150, 38, 90, 125
"""Thresholds by which a draft is stripped of columns and then refilled, where reads insert more than they
delete; the limits are fitted on real CLR reads (E. coli K-12 at 14x, human at 41x), the slopes on Sequel
reads of lambda, and both judged on others (``docs/notes/assembly.md``)."""
MOST_RAISED, RAISE_SLOPE = 10, 100
"""Most by which thresholds of earlier drafts are raised there, and the raise per excess of insertions: a
column to be stripped had better not come in."""
MOST_ASKED = 99
"""Largest threshold that `CorrectParams` accepts."""
SAMPLE_TARGETS, FEWEST_INDELS = 12, 200
SAMPLE_READS = 60
"""Most reads that are compared with a consensus of unitigs, to count their edits."""
EVEN_VOTE = 50
"""Any threshold gives this consensus, as all layers are equal."""
SAMPLE_BASES = 100_000
"""Least bases of a sample of corrected reads, of which few columns are divided, and of one for motifs."""

DIVIDED = 35, 55
"""Reads are divided on a base that has between these percentages of the weight."""
TYPICALLY_DIVIDED, LEAST_DOUBT, MOST_DOUBT = 0.0002, 0.5, 3.0
"""Share of divided bases of simulated CLR reads at 28x; least and most doubt relative to that of these
reads."""
SHARED_DOUBT, FEWEST_DIVIDED = 2, 10
"""By how much doubts count more where all divided bases lie outside of runs; pseudocount of divided bases."""


def fit_threshold(pileups: PileupSource, params: CorrectParams, threads: int) -> CorrectParams:
    """Fit the thresholds of the consensus that are not given.

    Where reads insert more than they delete, a wrong column attracts more chance matches, and its threshold
    is higher; where they delete more, it is lower. Homopolymer runs have error rates, and so a threshold, of
    their own. Where reads insert more than they delete, drafts of unitigs are also stripped of columns that
    few reads have and refilled with what many have.
    """
    *first, last = params.thresholds
    if last and params.run_threshold:
        return params
    sample = pileups.sample(SAMPLE_TARGETS)

    def measured(last: int, run: int) -> list[int]:
        tried = dataclasses.replace(params, thresholds=(*first, last), run_threshold=run)
        made = consensus(sample, tried, threads)
        # Edits of a raw read are those to its own consensus; a unitig may be of corrected reads.
        counts = made.counts if pileups.targets_vote else _edits_of_reads(sample, made, params, threads)
        return [int(counts[:, column].sum()) for column in (INSERTED, DELETED, RUNS, SHORTER, LONGER)]

    typical = last or TYPICAL_THRESHOLD
    inserted, deleted, *runs = measured(typical, params.run_threshold or typical)
    if not last and inserted + deleted >= FEWEST_INDELS:
        excess = inserted / (inserted + deleted) - 0.5
        even = THRESHOLD_EVEN if pileups.targets_vote else EVEN_ON_UNITIGS
        last = min(max(even + round(THRESHOLD_SLOPE * excess), LOWEST_THRESHOLD), HIGHEST_THRESHOLD)
        if inserted >= MOST_INSERTED * deleted and not pileups.targets_vote:
            bases = (sample.rows.t_end - sample.rows.t_start).sum()
            layers = min(float(bases) / sample.targets.total_bases, params.max_depth)
            strip, refill = stripping(excess, layers)
            raised = min(round(RAISE_SLOPE * excess), MOST_RAISED)
            drafts = (min(threshold + raised, MOST_ASKED) for threshold in first)
            return dataclasses.replace(
                params,
                thresholds=(*drafts, strip, refill, refill),
                run_threshold=params.run_threshold or refill,
            )
    last = last or TYPICAL_THRESHOLD
    run = params.run_threshold or last
    # Where reads insert more than they delete, any base confirms columns that are not true, in runs too.
    if inserted < MOST_INSERTED * deleted and runs[0] >= FEWEST_RUNS and not params.run_threshold:
        # The first consensus has too short runs, which hides how often reads delete bases there.
        *_, runs_again, shorter, longer = measured(last, run_threshold(*runs))
        run = run_threshold(runs_again, shorter, longer)
    return dataclasses.replace(params, thresholds=(*first, last), run_threshold=run)


def fit_erring(pileups: PileupSource, params: CorrectParams) -> CorrectParams:
    """Find the motifs at which a strand errs (`overlapper.correction.motifs`), if none is given."""
    if params.erring:
        return params
    sample = pileups.sample(_targets_with_bases(pileups))
    return dataclasses.replace(params, erring=motifs(*contradicted_words(sample, params)))


def _targets_with_bases(pileups: PileupSource) -> int:
    """Return how many targets are a sample with `SAMPLE_BASES`."""
    wanted = -(-len(pileups.targets) * SAMPLE_BASES // max(int(pileups.targets.lengths.sum()), 1))
    return max(SAMPLE_TARGETS, wanted)


def _edits_of_reads(sample: Pileups, made: Consensus, params: CorrectParams, threads: int) -> np.ndarray:
    """Return `Consensus.counts` of some of the reads, with the consensus of unitigs taken as theirs."""
    rows = made.alike
    laid = np.unique(rows.target)
    laid = laid[spread(len(laid), SAMPLE_READS)]
    rows = rows.take(np.flatnonzero(np.isin(rows.target, laid)))
    rows = dataclasses.replace(rows, target=np.searchsorted(laid, rows.target))
    pileups = Pileups(
        sample.reads.take(laid),
        pack_reads(made.codes, np.diff(made.offsets), made.quality, [""] * len(made)),
        Rows.concat([rows] * MIN_DEPTH),  # fewer have no vote
        targets_vote=False,
        divergence=sample.typical_divergence,
        reach=0,
    )
    all_alike = dataclasses.replace(
        params, thresholds=(EVEN_VOTE, EVEN_VOTE), run_threshold=EVEN_VOTE, haplotype_filter=False
    )
    return consensus(pileups, all_alike, threads).counts


def stripping(excess: float, layers: float) -> tuple[int, int]:
    """Return the thresholds (in percent) for a base to stay in a stripped draft, and then to be inserted.

    A base that a read inserts nearby pairs a column of the draft by chance, if there is one. So a column that
    is there has too many votes, and one that is not there too few, the more so the more reads insert.

    Between most neighbouring columns no base is missing. As many votes as outweigh that are a smaller share
    of more votes, so that the least share for an insertion falls to a limit as one over their number.

    Parameters
    ----------
    excess : float
        Share of insertions among insertions and deletions, less one half.
    layers : float
        Mean number that vote on a base.
    """
    strip = min(THRESHOLD_EVEN + round(STRIP_SLOPE * excess), STRIP_MOST)
    least = REFILL_LEAST + round(REFILL_FEW / max(layers, 1))
    return strip, min(max(THRESHOLD_EVEN - round(REFILL_SLOPE * excess), least), THRESHOLD_EVEN)


def fit_doubt(pileups: PileupSource, params: CorrectParams, threads: int) -> int:
    """Return the factor of doubts for votes of corrected reads, in 16ths (section 7 of the definition).

    A vote does not show errors that corrected reads have in common. But the more there are, the more bases
    there are on which reads are divided: those that a higher threshold removes. If reads err independently,
    nearly all of these lie in long homopolymer runs, which are hard to correct; divided bases elsewhere show
    that reads err alike.
    """
    sample = pileups.sample(_targets_with_bases(pileups))
    *first, _ = params.thresholds

    def bases(threshold: int, run_threshold: int) -> int:
        tried = dataclasses.replace(params, thresholds=(*first, threshold), run_threshold=run_threshold)
        return len(consensus(sample, tried, threads, doubt=RAW_DOUBT).codes)

    low, high = DIVIDED
    most, without, least = bases(low, low), bases(high, low), bases(high, high)
    divided = (most - least + 1) / (least + 1)
    doubt = min(max((divided / TYPICALLY_DIVIDED) ** 0.25, LEAST_DOUBT), MOST_DOUBT)
    outside = (most - without + 1) / (most - least + FEWEST_DIVIDED)
    return round(RAW_DOUBT * doubt * (1 + SHARED_DOUBT * outside**2))


def run_threshold(runs: int, shorter: int, longer: int) -> int:
    """Return the percentage of votes from which on a base of a homopolymer run is more likely true than not.

    Votes are taken as independent: a true base is missing at the rate of shorter runs, a false one is seen at
    the rate of longer ones.

    Parameters
    ----------
    runs, shorter, longer : int
        Number of runs in reads, and of those that are too short and too long.
    """
    missing, seen = (shorter + 1) / (runs + 2), (longer + 1) / (runs + 2)
    absent = np.log((1 - seen) / missing)
    share = absent / (absent + np.log((1 - missing) / seen))
    return int(min(max(round(100 * share), LOWEST_RUN_THRESHOLD), HIGHEST_THRESHOLD))
