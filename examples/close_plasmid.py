"""Assemble a plasmid of which some molecules are dimers: two samples give the same circle.

python examples/close_plasmid.py
"""

import overlapper
from overlapper import Reads, random_genome, simulate_reads


def sample(plasmid, seed):
    """Simulate reads of a plasmid, of which one molecule in twenty is a dimer."""
    dimer = Reads.from_sequences(["dimer"], [2 * plasmid.sequence(0)])
    monomers, _ = simulate_reads(plasmid, "ont-r10", coverage=120, circular=True, seed=seed)
    dimers, _ = simulate_reads(dimer, "ont-r10", coverage=6, circular=True, seed=seed + 1)
    return Reads.concat([monomers, dimers])


def main():
    plasmid = random_genome(6_000, seed=5)
    found = [overlapper.assemble(sample(plasmid, seed)) for seed in (1, 3)]
    for made in found:
        for row in made.table.to_pandas().itertuples():
            print(row.name, "circular" if row.circular else "linear", row.length, f"{row.depth:.0f}x")
    same = found[0].contigs.sequence(0) == found[1].contigs.sequence(0)
    print("both samples give", "the same text" if same else "different texts")


if __name__ == "__main__":
    main()
