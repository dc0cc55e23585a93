"""Every CUDA kernel of the consensus compiles for the devices we name; needs no driver."""

import inspect

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types
from numba.cuda import dispatcher

from overlapper.kernels.common.cuda import edit_paths, groups, offsets
from overlapper.kernels.consensus.cuda import (
    carry_over,
    consensus,
    error_probabilities,
    haplotype_filter,
    known_votes,
    layer_paths,
    layers,
    mem_anchors,
    next_draft,
    own_bases,
    reconsider,
    unknown_runs,
    votes,
)
from tests.unit.cuda import H100, compiled

MODULES = (
    offsets,
    layers,
    mem_anchors,
    own_bases,
    layer_paths,
    edit_paths,
    votes,
    next_draft,
    carry_over,
    unknown_runs,
    haplotype_filter,
    known_votes,
    reconsider,
    error_probabilities,
    consensus,
)
KERNELS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": kernel
    for module in MODULES
    for name, kernel in vars(module).items()
    if isinstance(kernel, dispatcher.CUDADispatcher) and not kernel.targetoptions.get("device")
    if kernel.py_func.__module__ == module.__name__
} | {"groups.list_flagged": groups.list_flagged}
U1, U2, U4, U8 = types.uint8[::1], types.uint16[::1], types.uint32[::1], types.uint64[::1]
I4, I8, WIDE = types.int32[::1], types.int64[::1], types.int32[:, ::1]
WEIGHTS, COUNTS = types.uint16[:, ::1], types.int64[:, ::1]
NUMBER, YES = types.int64, types.boolean
TYPES = {
    **dict.fromkeys(["words", "unknown"], U4),
    **dict.fromkeys(["rows", "up", "down"], U8),
    **dict.fromkeys(["column", "inserted"], WEIGHTS),
    "passing": U2,
    **dict.fromkeys(["found", "ends", "pairs", "small", "medium", "large", "table"], WIDE),
    **dict.fromkeys(
        ["bases", "weights", "codes", "targets", "reverse", "used", "moving", "quality", "next_codes",
         "filled", "next_depth", "is_candidate", "is_site", "marked", "is_uncertain", "kept", "changed",
         "qualities", "lost", "flags", "state", "sides", "decided"], U1),
    **dict.fromkeys(
        ["window", "t_start", "t_end", "start", "end", "starts", "carried", "sequence", "heads", "shift",
         "following", "score", "before", "counts", "sizes", "depth", "probabilities", "limits", "giver",
         "origin", "stretches", "latest", "agreeing", "differing"], I4),
    **dict.fromkeys(
        ["k", "band", "share", "max_gap", "value", "number", "threads", "threshold", "run_threshold", "worth",
         "plain_weight", "most_weight", "errors"], NUMBER),
    **dict.fromkeys(["write", "own", "target_votes", "with_gaps"], YES),
}  # fmt: skip
OWN_TYPES = {
    "mem_anchors.clear": {"values": I4},
    "next_draft.count_bases": {"sizes": U1},
    "next_draft.write_bases": {"depth": I4, "doubt": NUMBER},
    "consensus.count_aligned": {"counts": COUNTS},
    "consensus.compare": {"counts": COUNTS},
    "consensus.set_column": {"counts": COUNTS, "column": NUMBER},
}
"""Where a name means something else; all others are arrays of int64."""


LARGEST = ("layer_paths.align_ends", "reconsider.decide")
OTHER_DEVICES = [(name, device) for name in LARGEST for device in ((8, 0), (10, 0))]
"""Two stand for all: no kernel has code for one kind of device alone."""


@pytest.mark.parametrize(("name", "capability"), [*((name, H100) for name in KERNELS), *OTHER_DEVICES])
def test_kernels_compile(name, capability):
    known = TYPES | OWN_TYPES.get(name, {})
    arguments = [known.get(argument, I8) for argument in inspect.signature(KERNELS[name].py_func).parameters]
    ptx = compiled(KERNELS[name], arguments, capability)
    assert ".f32" not in ptx, "a number became a float"
    assert name.startswith("next_draft.") or ".f64" not in ptx, "an integer became a float"
