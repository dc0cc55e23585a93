"""The library takes what one has at hand: paths, short names, single sequences."""

import inspect

import numpy as np
import pytest

import overlapper
from overlapper.errors import InputError, ParameterError
from overlapper.io.records import fasta_record
from overlapper.params.shortcuts import SECTIONS, merged, nested
from overlapper.params.stages import Params
from tests.read_sets import columns_of, random_text, reverse_complement


@pytest.fixture(scope="module")
def reads():
    return overlapper.simulate_reads(overlapper.random_genome(15_000, seed=3), "hifi", coverage=6, seed=3)[0]


@pytest.fixture(scope="module")
def files(reads, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    for name, part in (("all", reads), ("first", reads[:5]), ("rest", reads[5:])):
        content = b"".join(fasta_record(part.name(i), part.codes(i)) for i in range(len(part)))
        (folder / f"{name}.fa").write_bytes(content)
    return folder


def test_paths_are_read(reads, files, tmp_path):
    wanted = columns_of(overlapper.find_overlaps(reads, "hifi"))
    assert columns_of(overlapper.find_overlaps(str(files / "all.fa"), "hifi", threads=2)) == wanted
    assert (
        columns_of(overlapper.find_overlaps([files / "first.fa", str(files / "rest.fa")], "hifi")) == wanted
    )
    overlaps = overlapper.find_overlaps(files / "all.fa", "hifi")
    for name, given in (("a.paf", reads), ("b.paf", files / "all.fa"), ("c.paf", str(files / "all.fa"))):
        overlapper.write_overlaps(overlaps, given, tmp_path / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "a.paf").read_bytes()
        back = overlapper.read_overlaps(tmp_path / name, given)
        assert columns_of(back) == columns_of(overlapper.read_overlaps(tmp_path / "a.paf", reads))


@pytest.mark.parametrize("wrong", [5, None, [5], ["reads.fa", None], {"reads.fa": 1}])
def test_what_are_no_reads_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"reads: .* is given, expected the path .* list of sequences"):
        overlapper.find_overlaps(wrong)


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.fa"):
        overlapper.find_overlaps(tmp_path / "nowhere.fa")


def test_short_names_are_those_of_parameters():
    params = Params()
    for name, section in SECTIONS.items():
        assert name in vars(getattr(params, section) if section else params)
    assert SECTIONS.keys() <= inspect.signature(overlapper.find_overlaps).parameters.keys()


def test_all_overlaps_of_a_pair_are_asked_for_by_name(reads):
    one, several = (overlapper.find_overlaps(reads, "hifi", best_of_pair=most) for most in (1, 0))
    assert len({*zip(several.query, several.target, strict=True)}) == len(one) <= len(several)


def test_short_names_say_what_changes_say(reads):
    short = overlapper.find_overlaps(
        reads, "hifi", extender="xdrop", min_overlap=900, kmer_length=17, keep_internal=True, best=2
    )
    changes = {
        "extender": "xdrop", "sketch": {"kmer_length": 17},
        "classes": {"min_overlap": 900, "keep_internal": True, "best": 2},
    }  # fmt: skip
    assert columns_of(short) == columns_of(overlapper.find_overlaps(reads, "hifi", changes=changes))
    both = overlapper.find_overlaps(
        reads, "hifi", min_overlap=900, changes={"classes": {"min_overlap": 50, "best": 2}}
    )
    changes = {"classes": {"min_overlap": 900, "best": 2}}
    assert columns_of(both) == columns_of(overlapper.find_overlaps(reads, "hifi", changes=changes))


def test_nested_and_merged():
    assert nested({"finder": None, "window": 5, "best": 0, "keep_internal": False}) == {
        "sketch": {"window": 5}, "classes": {"best": 0, "keep_internal": False},
    }  # fmt: skip
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": 5}) == {"a": {"b": 1, "c": 4}, "d": 5}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "max_hang",
            r"max_hang is a parameter of the section \[classes\]: give changes={'classes': {'max_hang': 5}}",
        ),
        ("match", r"of the section \[xdrop\], \[gact\]: give .* or changes={'gact': {'match': 5}}"),
        (
            "min_hang",
            r"there is no parameter min_hang, expected one of preset, finder, .*min_overlap.* gpu_memory",
        ),
        ("classes", r"there is no parameter classes"),
    ],
)
def test_a_wrong_name_is_told_where_it_belongs(reads, name, said):
    with pytest.raises(ParameterError, match=said):
        overlapper.find_overlaps(reads, **{name: 5})


def test_a_wrong_value_is_told_before_files_are_read():
    with pytest.raises(ParameterError, match="min_overlap is 0, expected 1 or more"):
        overlapper.find_overlaps("nowhere.fa", min_overlap=0)
    with pytest.raises(ParameterError, match="preset is 'ava'"):
        overlapper.find_overlaps("nowhere.fa", "ava")


def test_two_texts_are_one_pair():
    found = overlapper.align("ACGT", "ACGA")
    assert len(found) == 1
    assert found.cigar_text(0) == "3=1X"
    assert len(overlapper.align(["ACGT"], ["ACGA"])) == 1
    assert len(overlapper.align("ACGT", ["ACGA", "ACG"], pairs="one-to-all")) == 2


def test_hits_are_the_mappings(tmp_path):
    rng = np.random.default_rng(8)
    texts = random_text(rng, 5000), random_text(rng, 3000)
    reference = overlapper.Reads.from_sequences(["one", "two"], texts)
    (tmp_path / "ref.fa").write_text(">one\n{}\n>two\n{}\n".format(*texts))
    mapper = overlapper.Mapper(tmp_path / "ref.fa", preset="hifi", threads=1)
    assert repr(mapper) == "Mapper(2 sequences, 8,000 bases)"
    sequence = reference.sequence(1)[500:1700]
    (hit,) = mapper.map(sequence)
    assert (hit.ctg, hit.ctg_len, hit.r_st, hit.r_en, hit.strand) == ("two", 3000, 500, 1700, 1)
    assert (hit.q_st, hit.q_en, hit.mlen, hit.blen, hit.NM) == (0, 1200, 1200, 1200, 0)
    assert (hit.cigar, hit.cigar_str, hit.is_primary) == ([(1200, 7)], "1200=", True)
    assert str(hit) == f"0\t1200\t+\ttwo\t3000\t500\t1700\t1200\t1200\t{hit.mapq}\ttp:A:P\tcg:Z:1200="
    back = reverse_complement(sequence)
    (turned,) = mapper.map(back[:600] + back[601:])
    assert (turned.strand, turned.r_st, turned.r_en, turned.NM) == (-1, 500, 1700, 1)
    assert list(mapper.map("ACGT" * 100)) == []
    reads = overlapper.Reads.from_sequences(["a", "b"], [sequence, back])
    whole = overlapper.map_reads(reference, reads, "hifi", threads=1)
    assert columns_of(mapper.map_reads(reads, 1)) == columns_of(whole)


def test_placements_and_overlaps_are_read_to_be_judged(reads, files, tmp_path):
    genome = overlapper.random_genome(15_000, seed=3)
    reads, truth = overlapper.simulate_reads(genome, "hifi", coverage=6, seed=3)
    overlaps = overlapper.find_overlaps(reads, "hifi")
    overlapper.write_overlaps(overlaps, reads, tmp_path / "o.paf")
    from overlapper.io.truth import header

    (tmp_path / "t.tsv").write_text(header() + "".join(row.to_line() for row in truth.rows()))
    named = overlapper.ReportedOverlaps.from_table(overlaps, reads)
    judged = overlapper.evaluate_overlaps(tmp_path / "t.tsv", str(tmp_path / "o.paf"), min_overlap=500)
    assert judged.total == overlapper.evaluate_overlaps(truth, named, min_overlap=500).total
