"""Methylation of two haplotypes, called from what each command writes, is what was put into the reads."""

import collections
import re

import pysam
import pytest

from overlapper.graph.gfa import read_gfa
from overlapper.io.fastx import read_fastx
from tests.methylated import Methylated
from tests.oracle.base_modifications import places_on_reference
from tests.read_sets import reverse_complement

ENOUGH = 0.99
FLANK = 20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methylated")
    made = Methylated(16_000, 80, seed=7)
    made.write(folder / "reads.sam", coverage=14, length=4000, errors=0.002)
    pysam.view("-b", "-o", f"{folder}/reads.bam", f"{folder}/reads.sam", catch_stdout=False)
    (folder / "one.fa").write_text(f">one\n{made.haplotypes[0]}\n")
    return folder, made


def called(path, group_of):
    """Return, by group of records and contig, whether most calls of each site say that it is methylated.

    Sites are Cs of CG on the forward strand; calls on the other strand are those of the G behind.
    """
    votes = collections.defaultdict(lambda: [0, 0])
    with pysam.AlignmentFile(str(path)) as file:
        for record in file:
            if record.is_unmapped or not record.has_tag("MM"):
                continue
            calls = places_on_reference(
                record.flag, record.reference_start, record.cigarstring, record.query_sequence,
                record.get_tag("MM"), record.get_tag("ML"),
            )  # fmt: skip
            for (place, code), value in calls:
                assert code == "m"
                site = group_of(record), record.reference_name, place - record.is_reverse
                votes[site][value > 127] += 1
    return {site: methylated > others for site, (others, methylated) in votes.items()}


def agreement(found, truth):
    """Return the share of true sites that are called, and called right."""
    return sum(found.get(site) == methylated for site, methylated in truth.items()) / len(truth)


def haplotype_of(record):
    return int(record.query_name[1])


def test_after_map(command, made):
    folder, made = made
    assert command("map", folder / "one.fa", folder / "reads.bam", "-o", "o.bam", "-p", "hifi").code == 0
    found = called("o.bam", haplotype_of)
    truth = {(of, "one", site): value for of in (0, 1) for site, value in made.truth[of].items()}
    assert agreement(found, truth) >= ENOUGH


@pytest.mark.slow
def test_after_assemble(command, made):
    """Contigs are of one haplotype each, which is that of their reads, and so are the tags HP of these."""
    folder, made = made
    result = command("assemble", folder / "reads.bam", "-o", "out", "--reads-out", "o.bam")
    assert result.code == 0
    pysam.quickcheck("o.bam")
    assert pysam.view("-H", "o.bam").startswith("@HD\tVN:1.6\tSO:coordinate")
    walks = read_gfa("out/contigs.gfa").walks
    assert sorted(walk.haplotype for walk in walks) == [1, 2]
    names = collections.defaultdict(collections.Counter)
    with pysam.AlignmentFile("o.bam") as file:
        assert file.has_index()
        records = list(file.fetch(until_eof=True))
    with pysam.AlignmentFile(str(folder / "reads.bam"), check_sq=False) as given:
        tags = {record.query_name: record.get_tags(True) for record in given}
    assert {record.query_name for record in records} == tags.keys()
    for record in records:
        assert [tag for tag in record.get_tags(True) if tag[0] in ("RG", "MM", "ML", "MN")] == tags[
            record.query_name
        ]
        if record.has_tag("HP"):
            names[record.get_tag("HP")][haplotype_of(record)] += 1
    assert sum(record.is_mapped for record in records) >= 0.95 * len(tags)
    assert [max(one.values()) / sum(one.values()) for one in names.values()] == [1, 1]
    of = {tag: one.most_common()[0][0] for tag, one in names.items()}
    found = called("o.bam", lambda record: of[record.get_tag("HP")] if record.has_tag("HP") else None)
    truth, places = {}, {}
    with pysam.FastxFile("out/contigs.fasta") as contigs:
        for contig in contigs:
            for strand, bases in (("+", contig.sequence), ("-", reverse_complement(contig.sequence))):
                for at in range(len(bases) - 2 * FLANK):
                    place = at if strand == "+" else len(bases) - at - 2 * FLANK
                    places[bases[at : at + 2 * FLANK], contig.name] = place + FLANK - 1
    contig_of = {(group, name) for group, name, _ in found if group is not None}
    for haplotype, name in contig_of:
        bases = made.haplotypes[haplotype]
        for site, methylated in made.truth[haplotype].items():
            word = bases[site + 1 - FLANK : site + 1 + FLANK]
            if (word, name) in places:
                truth[haplotype, name, places[word, name]] = methylated
    assert len(truth) >= 0.95 * sum(map(len, made.truth))
    assert agreement(found, truth) >= ENOUGH


@pytest.mark.parametrize("output", ["corrected.bam", "corrected.fastq"])
def test_after_correct(command, made, output):
    folder, made = made
    result = command("correct", folder / "reads.bam", "-o", output)
    assert result.code == 0
    counts = re.findall(r"([0-9,]+) base modifications (?:kept|lost)", result.err)
    kept, lost = (int(count.replace(",", "")) for count in counts)
    assert 0 < lost < 0.01 * kept
    reads = read_fastx(output, tags="all")
    for read in range(len(reads)):
        tags = dict(tag.split(":", 1) for tag in reads.tags_of(read).decode().split("\t"))
        assert tags["RG"] == "Z:run" and tags["MN"] == f"i:{reads.lengths[read]}"
    assert command("map", folder / "one.fa", output, "-o", "o.bam", "-p", "hifi").code == 0
    truth = {(of, "one", site): value for of in (0, 1) for site, value in made.truth[of].items()}
    assert agreement(called("o.bam", haplotype_of), truth) >= ENOUGH
