"""Simulate noisy long reads whose place on the reference is known.

A read is drawn in this order (`overlapper.simulate.reads`):

1. A length, an identity, and what the read is: normal, a chimera of two places, one that turns back at a
   missed adapter (``split``: its second place is the other strand of the end of the first), or junk (random
   bases).
2. Its places: uniform over the reference bases, on either strand. On a linear reference a place
   that would run over an end is cut there, which keeps the coverage level up to the ends; on a circular one
   it runs through the origin, and its end exceeds the length of the reference.
3. Errors (`overlapper.simulate.errors`): each template base is deleted, substituted or gets inserted bases
   before it. Windows share a burst factor; indels are likelier in homopolymer runs; bad stretches have more.
4. Perhaps bases from nowhere at either end, and adapters around all. The truth leaves them out of its
   intervals.

Reads are drawn until their placed template bases reach the coverage. All randomness is raw output of numpy's
PCG64, whose stream is fixed, seeded for each read with the seed and the number of the read: the same seed and
options give the same reads with any version of numpy, and read ``i`` depends on no other read.

Identity is BLAST identity, matches over alignment columns, of the alignment that the simulated errors spell.
"""

from overlapper.simulate.genome import random_genome
from overlapper.simulate.model import ReadModel
from overlapper.simulate.presets import PRESETS, adapted_model
from overlapper.simulate.reads import SimulatedRead, generate_reads, simulate_reads

__all__ = [
    "PRESETS",
    "ReadModel",
    "SimulatedRead",
    "adapted_model",
    "generate_reads",
    "random_genome",
    "simulate_reads",
]
