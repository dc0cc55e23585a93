"""Shortest edit paths between the anchors of a chain, and from its ends on as long as it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlapper.errors import DeviceError
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.mapping.chain_paths import Ends, align_chains
from overlapper.mapping.chains import Chains
from overlapper.mapping.extenders import Paths
from overlapper.params.mapping import MapParams
from overlapper.tables import Reads

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus


def extend(
    reads: Reads, reference: Reads, chains: Chains, params: MapParams, gpus: Gpus | None = None
) -> Paths:
    """Align every chain.

    Parameters
    ----------
    reads, reference : Reads
    chains : Chains
    params : MapParams
    gpus : Gpus, optional
        That hold the reference, to extend on instead of the CPU, with the same result.

    Raises
    ------
    DeviceError
        When the reference does not fit the GPU.
    """
    ends = ends_of(params)
    if gpus and len(chains):
        return _extend_on(gpus, reads, chains, ends)
    rows, cigar, offsets = align_chains(
        PackedReads.of(reads), PackedReads.of(reference), chains.read, chains.target, chains.reverse,
        chains.starts, chains.x, chains.y, chains.length, ends,
    )  # fmt: skip
    return Paths.of(rows, cigar, offsets)


def ends_of(params: MapParams) -> Ends:
    """Return the scores by which it is decided where alignments end."""
    scoring = params.scoring
    return Ends(scoring.match, scoring.mismatch, scoring.gap_open, scoring.gap_extend, params.end_bonus)


def _extend_on(gpus: Gpus, reads: Reads, chains: Chains, ends: Ends) -> Paths:
    from overlapper.kernels.common.cuda.walks import upload_reads
    from overlapper.kernels.mapping.cuda import chain_paths

    with gpus.slot() as slot, slot.working():
        if slot.reads is None:
            raise DeviceError(
                f"the reference takes {slot.host.words.nbytes * 1.5e-9:.2f} GB of GPU memory, and there is "
                "less, beside room to work. Allow more with --gpu-memory, use another GPU, or the CPU"
            )
        rows, cigar, offsets = chain_paths.align_chains(
            upload_reads(PackedReads.of(reads), slot.arena), slot.reads, chains.read, chains.target,
            chains.reverse, chains.starts, chains.x, chains.y, chains.length, ends, slot.arena,
        )  # fmt: skip
    return Paths.of(rows, cigar, offsets)
