"""Items by class, the highest class first.

Threads of a warp that work on items of like size finish together. Where a few classes are enough, counting
takes no more than two looks at each item. The order within a class is arbitrary, and must change no result.
"""

from __future__ import annotations

from numba import cuda, int32

from overlapper.kernels.common.cuda.path_classes import CLASSES


@cuda.jit
def count_classes(numbers, counts):
    """Add how many items are of each class to ``counts``; ``numbers`` (int32) are their classes."""
    own = cuda.shared.array(CLASSES, int32)
    for number in range(cuda.threadIdx.x, CLASSES, cuda.blockDim.x):
        own[number] = int32(0)
    cuda.syncthreads()
    for item in range(cuda.grid(1), len(numbers), cuda.gridsize(1)):
        cuda.atomic.add(own, numbers[item], int32(1))
    cuda.syncthreads()
    for number in range(cuda.threadIdx.x, CLASSES, cuda.blockDim.x):
        if own[number]:
            cuda.atomic.add(counts, number, own[number])


@cuda.jit
def order_by_class(numbers, places, order):
    """Write items by class; ``places`` says where each class starts, and is moved on.

    A block counts its share, takes that much room of every class, and only then writes.
    """
    own = cuda.shared.array(CLASSES, int32)
    starts = cuda.shared.array(CLASSES, int32)
    share = (len(numbers) + cuda.gridDim.x - 1) // cuda.gridDim.x
    first = cuda.blockIdx.x * share + cuda.threadIdx.x
    last = min(len(numbers), (cuda.blockIdx.x + 1) * share)
    for number in range(cuda.threadIdx.x, CLASSES, cuda.blockDim.x):
        own[number] = int32(0)
    cuda.syncthreads()
    for item in range(first, last, cuda.blockDim.x):
        cuda.atomic.add(own, numbers[item], int32(1))
    cuda.syncthreads()
    for number in range(cuda.threadIdx.x, CLASSES, cuda.blockDim.x):
        if own[number]:
            starts[number] = cuda.atomic.add(places, number, own[number])
            own[number] = int32(0)
    cuda.syncthreads()
    for item in range(first, last, cuda.blockDim.x):
        number = numbers[item]
        order[starts[number] + cuda.atomic.add(own, number, int32(1))] = int32(item)
