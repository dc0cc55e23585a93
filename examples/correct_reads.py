"""Correct reads, and see what became of them.

python examples/correct_reads.py
"""

from overlapper.correct.reads import correct
from overlapper.simulate import random_genome, simulate_reads


def main():
    reads, _ = simulate_reads(random_genome(20_000), "ont-r10", coverage=15)
    corrected = correct(reads)
    changes = corrected.changes
    print(f"{len(corrected.reads)} reads, {corrected.reads.total_bases:,} bases")
    print(f"their identity before: {changes.identity.mean():.3f}")
    print(f"mean quality now: {corrected.reads.qualities.mean():.0f}")


if __name__ == "__main__":
    main()
