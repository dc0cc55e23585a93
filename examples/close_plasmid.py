"""Assemble a plasmid of which some molecules are dimers: two samples give the same circle.

python examples/close_plasmid.py
"""

from overlapper import Reads, assemble_reads, random_genome, simulate_reads


def sample(plasmid, seed):
    """Simulate reads of a plasmid, of which one molecule in twenty is a dimer."""
    dimer = Reads.from_sequences(["dimer"], [2 * plasmid.sequence(0)])
    monomers, _ = simulate_reads(plasmid, "ont-r10", coverage=120, circular=True, seed=seed)
    dimers, _ = simulate_reads(dimer, "ont-r10", coverage=6, circular=True, seed=seed + 1)
    return Reads.concat([monomers, dimers])


def main():
    plasmid = random_genome(6_000, seed=5)
    found = [assemble_reads(sample(plasmid, seed)).contigs for seed in (1, 3)]
    for contigs in found:
        for name, circular in zip(contigs.sequences.names, contigs.circular, strict=True):
            print(
                name,
                "circular" if circular else "linear",
                *contigs.sequences.lengths,
                f"{contigs.depth[0]:.0f}x",
            )
    same = found[0].sequences.sequence(0) == found[1].sequences.sequence(0)
    print("both samples give", "the same text" if same else "different texts")


if __name__ == "__main__":
    main()
