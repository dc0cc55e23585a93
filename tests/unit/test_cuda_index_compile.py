"""The CUDA kernels of the index compile, for narrow and wide rows; needs no driver."""

import pytest

pytest.importorskip("numba_cuda", reason="the extra gpu brings it")

from numba import types

from overlapper.kernels.common.cuda import offsets, scan_kernels
from overlapper.kernels.index.cuda import matches, mems, smems
from overlapper.kernels.index.cuda.fm_index import DeviceQueries
from overlapper.kernels.index.fm_index import FmIndex
from tests.unit.cuda import compiled, record

U1, I4, I8, U8 = types.uint8[::1], types.int32[::1], types.int64[::1], types.uint64[::1]
PAIRS, ROWS = types.int64[:, ::1], types.uint64[:, ::1]
NUMBER, YES = types.int64, types.boolean
QUERIES = record(DeviceQueries, U8, I8, I8)
RECORDS = (I8, I4, PAIRS, YES)


def index_of(row):
    return record(FmIndex, ROWS, PAIRS, row[::1], row[:, ::1], U8, PAIRS, NUMBER, NUMBER)


KERNELS = {
    "seeds of MEMs": (mems.search_seeds, (QUERIES, I8, NUMBER, NUMBER, *RECORDS)),
    "left-maximal rows": (mems.locate_left_maximal, (QUERIES, PAIRS, I8, NUMBER, I8, I8, U1)),
    "windows of SMEMs": (smems.search_windows, (QUERIES, I8, NUMBER, NUMBER, *RECORDS)),
    "nov_smems": (smems.search_nov_smems, (QUERIES, NUMBER, *RECORDS)),
    "rows": (matches.locate_rows, (PAIRS, I8, I8, I8)),
}  # fmt: skip
OTHERS = {
    "counts": (matches.count_rows, (PAIRS, I4)),
    "few": (matches.sort_few, (I8, I8, I8, I8, I4)),
    "many": (matches.sort_many, (I8, I8, I8, I8)),
    "columns": (matches.write_columns, (PAIRS, I8, I8, I8, I8, I8, I4, I8, I4, U1)),
    "kept": (mems.gather_kept, (U1, I8, I8, I8, I8, I8)),
    "offsets": (offsets.gather, (I8, I8, I8)),
    "sums of int32": (scan_kernels.sum_tiles, (I4, I8)),
    "scan of uint8": (scan_kernels.scan_tiles, (U1, I8, I8)),
}


@pytest.mark.parametrize("row", [types.uint32, types.int64], ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_that_search_compile(name, row):
    kernel, arguments = KERNELS[name]
    ptx = compiled(kernel, (index_of(row), *arguments))
    assert "popc.b64" in ptx, "a step of the index counts bits"


@pytest.mark.parametrize("name", ["seeds of MEMs", "rows"])
def test_kernels_compile_for_another_device(name):
    # Two stand for all: no kernel has code for one kind of device alone.
    kernel, arguments = KERNELS[name]
    compiled(kernel, (index_of(types.uint32), *arguments), (8, 0))


@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels_compile(name):
    assert ".entry" in compiled(*OTHERS[name])
