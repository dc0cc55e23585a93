"""Molecules come out of an assembly as they are: whole to their ends, as lines or circles."""

import numpy as np
import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.oracle.adapters import turned
from tests.steps import assemble_reads

HIFI = adapted_model("hifi", mean_length=8000, length_sd=2000)
R10 = adapted_model("real-ont", identity=0.985, mean_length=6000, adapters=0.0)


def molecule(text):
    return Reads.from_sequences(["molecule"], [text])


def contigs_of(text, model, coverage, **changes):
    reads, _ = simulate_reads(molecule(text), model, coverage=coverage, seed=3, **changes)
    return assemble_reads(reads, threads=1).contigs


@pytest.mark.parametrize(("model", "coverage"), [(R10, 25), (R10, 40)])
def test_telomeres_stay(model, coverage):
    """Arrays in which reads hardly overlap are kept as one read has them, with all that is unique."""
    unique, array = random_genome(12_000, seed=5).sequence(0), "TTAGGG" * 500
    contigs = contigs_of(turned(array) + unique + array, model, coverage)
    assert len(contigs) == 1 and not contigs.circular[0]
    contig = contigs.sequences.sequence(0)
    assert unique in contig or turned(unique) in contig
    assert 17_900 <= len(contig) <= 18_100


def test_arrays_of_accurate_reads_are_as_long_as_they_are():
    """Reads that err alike in many copies of a unit are aligned copy by copy all the same."""
    text, unit = random_genome(24_000, seed=1).sequence(0), random_genome(31, seed=31).sequence(0)
    text = text[:12_000] + unit * 161 + text[12_000:]
    contigs = contigs_of(text, HIFI, 25)
    assert len(contigs) == 1 and contigs.sequences.sequence(0) in (text, turned(text))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_plasmid_whose_reads_have_adapters_and_bases_from_nowhere_closes(seed):
    """Adapters, and what is random behind them, do not make reads lie on each other."""
    text = random_genome(3_500, seed=7).sequence(0)
    reads, _ = simulate_reads(molecule(text), "real-ont", coverage=150, seed=seed, circular=True)
    contigs = assemble_reads(reads, threads=1).contigs
    assert contigs.circular.tolist() == [True]
    assert contigs.sequences.sequence(0) in f"{2 * text} {turned(2 * text)}"


def test_what_single_hifi_reads_have_at_the_ends_stays():
    """Reads that taper off: none ends with the molecule but the first and the last."""
    text = random_genome(30_000, seed=6).sequence(0)
    starts = np.linspace(0, 22_000, 60).astype(int)
    reads = [text[start : start + 8000] for start in starts if not 0 < start < 2000]
    contigs = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(reads))], reads)).contigs
    assert contigs.sequences.sequence(0) in (text, turned(text))


def test_what_a_single_read_with_errors_has_at_an_end_goes():
    """Reads of all but the last 4,000 bases, which one more read has, errors and all."""
    text = random_genome(14_000, seed=6).sequence(0)
    covered, _ = simulate_reads(molecule(text[:10_000]), R10, coverage=25, seed=3)
    alone = "".join(
        "ACGT"["TGCA".index(base)] if i % 60 == 0 else base for i, base in enumerate(text[5_000:])
    )
    reads = Reads.concat([covered, molecule(alone)])
    contig = assemble_reads(reads, threads=1).contigs.sequences.sequence(0)
    assert 9_800 <= len(contig) <= 10_300
    assert text[500:9_500] in contig or turned(text[500:9_500]) in contig


def test_a_molecule_that_hairpins_close_ends_there():
    """Reads of an end go on with their reverse complement, as far as they came."""
    text = random_genome(15_000, seed=8).sequence(0)
    closed = turned(text) + text + turned(text)
    starts = np.linspace(12_000, 27_000, 90).astype(int)
    whole = [closed[start : start + 6000] for start in starts]
    arms = [15_000 - start for start in starts if 13_000 < start < 15_000]
    ends = [closed[15_000 - arm : 15_000 + arm] for arm in arms]
    ends += [closed[30_000 - arm : 30_000 + arm] for arm in arms]
    inner = [read for start, read in zip(starts, whole, strict=True) if 15_000 <= start <= 24_000]
    reads = [turned(read) if i % 2 else read for i, read in enumerate(inner + ends)]
    contigs = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(reads))], reads)).contigs
    assert len(contigs) == 1 and not contigs.circular[0]
    assert contigs.sequences.sequence(0) in (text, turned(text))


def test_a_circle_of_which_some_copies_differ_in_a_base_is_one():
    """As of a mitochondrion, of reads that are nearly as long as it is: a fifth of the copies differ."""
    text = random_genome(15_300, seed=3).sequence(0)
    other = text[:5000] + "ACGT"[("ACGT".index(text[5000]) + 1) % 4] + text[5001:]
    model = adapted_model("hifi", mean_length=13_000, length_sd=1500)
    sets = [
        simulate_reads(molecule(circle), model, coverage=coverage, seed=seed, circular=True)[0]
        for circle, coverage, seed in ((text, 45, 3), (other, 12, 4))
    ]
    drawn = [reads.sequence(i) for reads in sets for i in range(len(reads))]
    made = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(drawn))], drawn), threads=1)
    assert len(made.contigs) == 1 and made.contigs.circular[0]
    contig = made.contigs.sequences.sequence(0)
    assert len(contig) == len(text) and (contig in 2 * text or turned(contig) in 2 * text)
    assert len(made.left_out)
