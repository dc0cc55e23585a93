"""X-drop beside edlib and parasail: the same pairs, one core, score and ends only.

    python -m tests.benchmarks.xdrop [--length 10000] [--difference 0.2] [--pairs 40] [--rounds 5]

The peers do more on these pairs: edlib finds the edit distance, banded but exact, and parasail fills the
whole matrix. The rounds alternate between the programs, and the fastest of each counts.
"""

import edlib
import numpy as np
import parasail

from overlapper.extend import xdrop
from overlapper.params.stages import XdropParams
from overlapper.tables import Candidates
from tests.benchmarks.harness import fastest, parser_of
from tests.read_sets import mutated, random_text, reads_of

SEED_LENGTH = 15


def pair(rng, length, difference):
    """A random sequence and a copy with as many substitutions as insertions and deletions, after a seed."""
    query = random_text(rng, length)
    return query, query[:SEED_LENGTH] + mutated(rng, query[SEED_LENGTH:], difference)


def main():
    parser = parser_of(__doc__, length=10_000, difference=0.2, pairs=40, rounds=5)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    pairs = [pair(rng, arguments.length, arguments.difference) for _ in range(arguments.pairs)]
    reads = reads_of([sequence for both in pairs for sequence in both])
    number, nothing = np.arange(len(pairs)), np.zeros(len(pairs))
    candidates = Candidates(
        2 * number, 2 * number + 1, nothing, nothing, nothing, nothing, nothing, seed_length=SEED_LENGTH
    )
    unit = parasail.matrix_create("ACGT", 1, -1)
    programs = {
        f"overlapper X={x}": lambda x=x: xdrop.extend(reads, candidates, XdropParams(xdrop=x), 1)
        for x in (15, 49, 100, 200, 500, 1000)
    }
    programs["edlib NW"] = lambda: [edlib.align(q, t, mode="NW", task="distance") for q, t in pairs]
    programs["edlib SHW"] = lambda: [edlib.align(q, t, mode="SHW", task="distance") for q, t in pairs]
    programs["parasail sg_de_striped_16"] = lambda: [
        parasail.sg_de_striped_16(q, t, 1, 1, unit) for q, t in pairs[:4]
    ]
    aligned = {"parasail sg_de_striped_16": 4}
    programs["overlapper X=15"](), programs["overlapper X=200"]()  # compiles
    taken = fastest(programs, arguments.rounds)
    print(
        f"{arguments.length} bases, {arguments.difference:.0%} difference, best of {arguments.rounds} rounds"
    )
    ours = taken["overlapper X=49"] / len(pairs)
    for name, seconds in taken.items():
        each = seconds / aligned.get(name, len(pairs))
        print(f"{name:28} {each * 1e6:9.0f} us {1 / each:9.0f} a second {each / ours:8.2f} x X=49")


if __name__ == "__main__":
    main()
