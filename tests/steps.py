"""The steps from reads to contigs, in memory, as tests call them: all parameters as dataclasses."""

from overlapper.assembly.contigs import assemble_packed
from overlapper.correction.polish import polish_packed
from overlapper.correction.reads import correct_packed
from overlapper.correction.resources import Resources
from overlapper.io.given import reads_given
from overlapper.sketch.canonical import packed


def assemble_reads(
    reads, params=None, *, threads=None, device="auto", gpu_memory=0, stages=None, client=None, **options
):
    resources = Resources.of(stages, threads, device, gpu_memory, client)
    store = packed(reads_given(reads, keep_qualities=True), resources.threads)
    return assemble_packed(store, resources, params, **options)


def correct(
    reads,
    overlaps=None,
    params=None,
    *,
    threads=None,
    device="auto",
    gpu_memory=0,
    stages=None,
    client=None,
    **options,
):
    resources = Resources.of(stages, threads, device, gpu_memory, client)
    return correct_packed(packed(reads, resources.threads), resources, overlaps, params, **options)


def polish(unitigs, reads, params=None, *, threads=None, stages=None, client=None, **options):
    resources = Resources.of(stages, threads, client=client)
    return polish_packed(unitigs, packed(reads, resources.threads), resources, params, **options)
