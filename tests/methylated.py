"""Reads of two haplotypes with base modifications, and what is true of these."""

import random

from tests.read_sets import reverse_complement

METHYLATED, NOT = 250, 4


class Methylated:
    """Two haplotypes whose methylation differs, and reads of them with errors.

    Each C of a CG is methylated or not, by haplotype, on both strands alike. Reads are called right.
    """

    def __init__(self, size, differences, seed):
        self.chance = random.Random(seed)
        one = self.chance.choices("ACGT", k=size)
        other = list(one)
        for place in self.chance.sample(range(size), differences):
            other[place] = self.chance.choice("ACGT".replace(one[place], ""))
        self.haplotypes = ["".join(one), "".join(other)]
        self.truth = [
            {
                place: self.chance.random() < 0.5
                for place in range(size - 1)
                if bases[place : place + 2] == "CG"
            }
            for bases in self.haplotypes
        ]

    def read(self, haplotype, start, end, errors, reverse):
        """Return bases of a read, and its tags MM, ML and MN."""
        bases, calls = [], {}
        for place in range(start, min(end, len(self.haplotypes[haplotype]))):
            letter, kind = self.haplotypes[haplotype][place], self.chance.random() / errors if errors else 1
            if kind < 1 / 3:
                continue
            if kind < 2 / 3:
                letter = self.chance.choice("ACGT".replace(letter, ""))
            elif kind < 1:
                bases.append(self.chance.choice("ACGT"))
            known = self.truth[haplotype]
            # Of the pair C and G the C of the read is called: on the other strand that is the G here.
            site = place - 1 if reverse else place
            if site in known and letter == "CG"[reverse] and self.haplotypes[haplotype][place] == letter:
                calls[len(bases)] = METHYLATED if known[site] else NOT
            bases.append(letter)
        text = "".join(bases)
        if reverse:
            text = reverse_complement(text)
            calls = {len(text) - 1 - place: value for place, value in calls.items()}
        skips, last = [], -1
        same = [place for place, letter in enumerate(text) if letter == "C"]
        for number, place in enumerate(same):
            if place in calls:
                skips.append(number - last - 1)
                last = number
        values = [calls[place] for place in sorted(calls)]
        mm = ",".join(["C+m?", *map(str, skips)])
        ml = ",".join(["C", *map(str, values)])
        return text, [f"MM:Z:{mm};", f"ML:B:{ml}", f"MN:i:{len(text)}"]

    def write(self, path, coverage, length, errors):
        """Write reads of both haplotypes as SAM; names begin with the haplotype."""
        with open(path, "w") as file:
            file.write("@HD\tVN:1.6\n@RG\tID:run\tSM:sample\n")
            size = len(self.haplotypes[0])
            for number in range(2 * coverage * size // length):
                # Evenly from before the first base to the last one, so that ends are covered, too.
                start = int((number // 2 + self.chance.random()) * length / coverage - length * 0.8)
                reverse, haplotype = self.chance.random() < 0.5, number % 2
                text, tags = self.read(haplotype, max(start, 0), start + length, errors, reverse)
                fields = [
                    f"h{haplotype}_{number}",
                    "4",
                    "*",
                    "0",
                    "0",
                    "*",
                    "*",
                    "0",
                    "0",
                    text,
                    "I" * len(text),
                ]
                file.write("\t".join([*fields, "RG:Z:run", *tags]) + "\n")
