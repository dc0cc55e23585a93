"""Ends of contigs that are telomeres."""

import random

import pytest

from overlapper.assembly import telomeres as module
from overlapper.assembly.contig_files import contig_table
from overlapper.assembly.telomeres import LEAST, MOST_BEHIND, telomeres
from overlapper.params.assembly import AssembleParams
from overlapper.simulate import adapted_model, simulate_reads
from overlapper.tables import Reads
from tests.read_sets import reverse_complement
from tests.steps import assemble_reads

MOTIF = "CCCTAA"


def begins(bases):
    """Tell what the definition says, base by base."""
    within = {
        place + i for place in range(len(bases)) if bases.startswith(MOTIF, place) for i in range(len(MOTIF))
    }
    more = most = 0
    for place in range(len(bases)):
        more += 1 if place in within else -1
        most = max(most, more)
        if most - more > MOST_BEHIND:
            break
    return most >= LEAST


def random_bases(chance, size):
    return "".join(chance.choices("ACGT", k=size))


@pytest.mark.parametrize("at_first", [50, 1 << 14])
def test_ends_are_those_of_the_definition(monkeypatch, at_first):
    monkeypatch.setattr(module, "_AT_FIRST", at_first)
    chance, texts = random.Random(4), ["", "CCCTAA", "CCCTAA" * 50, "CCCTAA" * 49 + "CCCTA"]
    for _ in range(60):
        copies = [
            MOTIF if chance.random() < 0.9 else random_bases(chance, 5) for _ in range(chance.randrange(90))
        ]
        before = random_bases(chance, chance.choice([0, 40, MOST_BEHIND - 30, MOST_BEHIND + 30]))
        texts.append(before + "".join(copies) + random_bases(chance, chance.randrange(3000)))
    expected = [(begins(text), begins(reverse_complement(text))) for text in texts]
    assert {(True, False), (False, False)} <= {*expected}
    turned = [reverse_complement(text) for text in texts]
    names = [str(number) for number in range(len(texts))]
    assert telomeres(Reads.from_sequences(names, texts), MOTIF).tolist() == [[*one] for one in expected]
    assert telomeres(Reads.from_sequences(names, turned), MOTIF).tolist() == [
        [*one[::-1]] for one in expected
    ]
    assert not telomeres(Reads.from_sequences(names, texts), "").any()


def test_telomeres_are_not_cut_off():
    chance = random.Random(6)
    genome = MOTIF * 150 + random_bases(chance, 18_000) + reverse_complement(MOTIF) * 150
    model = adapted_model("ont-r9", mean_length=4_000)
    reads, _ = simulate_reads(Reads.from_sequences(["one"], [genome]), model, coverage=12, seed=3)
    ends = {}
    for motif in ("", MOTIF, "TTTTGGG"):
        made = assemble_reads(reads, AssembleParams(telomere=motif), threads=1)
        assert len(made.contigs) == 1
        ends[motif] = made.cut_off
        header, row = contig_table(made.contigs, made.error_rate, made.doubt, motif=motif)
        told = dict(zip(header.split("\t"), row.split("\t"), strict=True))
        assert told.get("telomere") == {"": None, MOTIF: "both"}.get(motif, "*")
    assert ends[MOTIF] == 0 < ends[""] == ends["TTTTGGG"]
