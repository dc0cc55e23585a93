"""Which mappings of a read are primary, supplementary and secondary, and how sure that is.

docs/algorithms/mapping.md has the definitions.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.kernels.mapping.mapping_groups import group_rows
from overlapper.params.mapping import ChoiceParams

HIGHEST_QUALITY = 60
_ENOUGH_SEEDS = 10


@dataclasses.dataclass(frozen=True)
class Groups:
    """Rows that are for the same part of a read."""

    order: np.ndarray
    """int64, shape (n,); rows by read, then from the highest score down; of equal ones the first comes
    first."""
    head: np.ndarray
    """int64, shape (n,); of each row, the best one of its group."""
    rank: np.ndarray
    """int64, shape (n,); of each row, its place in its group; that of the head is 0."""
    second: np.ndarray
    """int64, shape (n,); of each row, the second best score of its group, 0 if it has but one row."""

    @classmethod
    def of(
        cls, read: np.ndarray, q_start: np.ndarray, q_end: np.ndarray, score: np.ndarray, mask_level: int
    ) -> Groups:
        """Group rows.

        Parameters
        ----------
        read : ndarray of int64, shape (n,)
            Ascending.
        q_start, q_end : ndarray of int64, shape (n,)
            On the forward strand of the read.
        score : ndarray of int64, shape (n,)
        """
        n = len(read)
        order = np.lexsort((-score, read))
        firsts = np.flatnonzero(np.diff(read, prepend=-1))
        starts = np.append(firsts, n).astype(np.int64)
        head = group_rows(starts, order, q_start, q_end, mask_level)
        by_group = order[np.argsort(head[order], kind="stable")]
        rank, second = np.empty(n, np.int64), np.zeros(n, np.int64)
        if n:
            heads_at = np.flatnonzero(np.diff(head[by_group], prepend=-1))
            sizes = np.diff(np.append(heads_at, n))
            rank[by_group] = np.arange(n) - np.repeat(heads_at, sizes)
            following = by_group[np.minimum(heads_at + 1, n - 1)]
            second[by_group] = np.repeat(np.where(sizes > 1, score[following], 0), sizes)
        return cls(order, head, rank, second)


def worth_extending(score: np.ndarray, groups: Groups, params: ChoiceParams) -> np.ndarray:
    """Return the numbers of the chains to extend, ascending.

    They are the heads, and of the others the `ChoiceParams.most_secondary` best ones that come near the head.
    """
    near = 100 * score >= params.secondary_ratio * score[groups.head]
    return np.flatnonzero((groups.rank == 0) | (near & (groups.rank <= params.most_secondary)))


def other_score(score: np.ndarray, groups: Groups) -> np.ndarray:
    """Return, of each row, the best score of the other rows of its group, 0 if there are none."""
    return np.where(groups.rank == 0, groups.second, score[groups.head])


def mapping_quality(
    chain_score: np.ndarray,
    other_chain: np.ndarray,
    score: np.ndarray,
    other_alignment: np.ndarray,
    seeds: np.ndarray,
) -> np.ndarray:
    """Return mapping qualities.

    Parameters
    ----------
    chain_score, score : ndarray of int, shape (n,)
        Of the chain and of the alignment.
    other_chain, other_alignment : ndarray of int, shape (n,)
        The best of the other ones for the same part of the read; 0 where there is none.
    seeds : ndarray of int, shape (n,)
        Of the chain.

    Returns
    -------
    ndarray of uint8, shape (n,)
        ``40 (1 - r) min(1, seeds / 10) ln(chain_score)``, rounded down, 0 to 60, where r is other_chain over
        chain_score, times other_alignment over score where there is one, each 1 at most (after Li 2018,
        equation 4).
    """
    ratio = np.minimum(1.0, other_chain / np.maximum(chain_score, 1))
    aligned = other_alignment > 0
    ratio[aligned] *= np.minimum(1.0, other_alignment[aligned] / np.maximum(score[aligned], 1))
    quality = 40 * (1 - ratio) * np.minimum(1.0, seeds / _ENOUGH_SEEDS) * np.log(np.maximum(chain_score, 1))
    return np.clip(np.floor(quality), 0, HIGHEST_QUALITY).astype(np.uint8)
