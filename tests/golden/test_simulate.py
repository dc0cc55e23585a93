"""The same seed gives the same reads, with any version of numpy and on any machine."""

import hashlib

import pytest

from overlapper.simulate import generate_reads, random_genome

DIGESTS = {
    "hifi": "29152fafbc3d1e5f",
    "clr": "8e8d41c777f6f94e",
    "ont-r7": "0d669c8dacde3bbd",
    "ont-r9": "26b7835cf31a8d12",
    "ont-r10": "474b972dc8ceb743",
    "perfect": "8ade6fe395016b69",
    "real-clr": "c49ca4d4785131ab",
    "real-ont": "9e20e78b4ddb70e2",
    "real-hifi": "a32af88a55a56bde",
}


@pytest.mark.parametrize("preset", DIGESTS)
def test_reads_of_a_seed(preset):
    digest = hashlib.sha256()
    genome = random_genome(30_000, seed=11, repeat_copies=3, repeat_length=500, repeat_divergence=0.02)
    for read in generate_reads(genome, preset, coverage=10, seed=11, circular=True):
        digest.update(read.codes)
        digest.update(read.qualities)
        digest.update("".join(row.to_line() for row in read.truth).encode())
    assert digest.hexdigest()[:16] == DIGESTS[preset]
