import itertools
import re

import gfapy
import networkx as nx
import numpy as np
import pytest

from overlapper import graph
from overlapper.errors import ParameterError
from overlapper.graph.export import read_gfa, to_networkx, unitig_fasta, unitig_gfa, unitig_table
from overlapper.io.outputs import write_lines
from overlapper.tables import Overlaps, Reads
from tests.graph_cases import edge_set, random_genome, read_set, reverse_complement, tiled, two_paths

PARAMS = graph.GraphParams(min_overlap=60, min_depth=1, max_hang=30, fuzz=0)
UNCLEAN = graph.CleanParams(tip_reads=0, bubble_bases=0, weak_rounds=0)


def gapped(reads, overlaps, seed):
    """Change reads and alignments together: bases inserted into some reads, as gaps in every overlap."""
    draw = np.random.default_rng(seed)
    places = [np.sort(draw.choice(np.arange(20, n - 20), 6, replace=False)) for n in reads.lengths]
    sequences = [
        "".join(part + "A" for part in np_split(reads.sequence(i), places[i]))[:-1] for i in range(len(reads))
    ]
    cigars, columns = [], []
    for row in range(len(overlaps)):
        q, t, reverse = int(overlaps.query[row]), int(overlaps.target[row]), bool(overlaps.reverse[row])
        qs, qe, ts, te = (int(getattr(overlaps, c)[row]) for c in ("q_start", "q_end", "t_start", "t_end"))
        in_q = [int(p) - qs for p in places[q] if qs < p < qe]
        in_t = [te - int(p) if reverse else int(p) - ts for p in places[t] if ts < p < te]
        events = sorted([(p, 1) for p in in_q] + [(p, 2) for p in in_t])
        done, cigar = 0, []
        for place, operation in events:
            cigar += [(place - done, 7)] * (place > done) + [(1, operation)]
            done = place
        cigar.append((qe - qs - done, 7))
        cigars.append([size << 4 | operation for size, operation in cigar])
        shift = [
            int((places[r] <= p).sum()) if right else int((places[r] < p + 1).sum())
            for r, p, right in ((q, qs, 0), (t, ts, 0))
        ]
        columns.append(
            (
                qs + shift[0],
                qs + shift[0] + qe - qs + len(in_q),
                ts + shift[1],
                ts + shift[1] + te - ts + len(in_t),
            )
        )
    q_start, q_end, t_start, t_end = np.array(columns).T
    offsets = np.cumsum([0] + [len(c) for c in cigars])
    changed = Overlaps(
        **(
            vars(overlaps)
            | {"q_start": q_start, "q_end": q_end, "t_start": t_start, "t_end": t_end}
            | {"cigar": [x for c in cigars for x in c], "cigar_offsets": offsets}
        )
    )
    return Reads.from_sequences(reads.names, sequences), changed


def np_split(text, places):
    return [text[a:b] for a, b in itertools.pairwise([0, *places, len(text)])]


def segments_of(gfa):
    return {s.name: s.sequence for s in gfa.segments}


def on_strand(sequence, orientation):
    return reverse_complement(sequence) if orientation == "-" else sequence


def matches(cigar, first, second):
    """Return whether both sequences are spanned to their last base, and whether all ``=`` bases are equal."""
    a = b = 0
    equal = True
    for size, letter in re.findall(r"(\d+)([MIDX=])", cigar):
        n = int(size)
        if letter == "=":
            equal &= first[a : a + n] == second[b : b + n]
        a += n * (letter != "I")
        b += n * (letter != "D")
    return a == len(first), b == len(second), equal


def check_overlaps(path):
    """Validate a file, compare every CIGAR with the sequences, and count the L and C lines that had one."""
    gfa = gfapy.Gfa.from_file(str(path), vlevel=3)
    gfa.validate()
    segments = segments_of(gfa)
    counts = {"L": 0, "C": 0}
    for line in gfa.dovetails + gfa.containments:
        if gfapy.is_placeholder(line.overlap):
            continue
        spans = line.overlap.length_on_reference(), line.overlap.length_on_query()
        first = on_strand(segments[line.from_name], line.from_orient)
        second = on_strand(segments[line.to_name], line.to_orient)
        if line.record_type == "C":
            first = first[line.pos : line.pos + spans[0]]
        else:
            first, second = first[len(first) - spans[0] :], second[: spans[1]]
        assert matches(str(line.overlap), first, second) == (True, True, True), str(line)[:200]
        counts[line.record_type] += 1
    return counts


@pytest.mark.parametrize("gaps", [False, True])
def test_every_cigar_of_reads_fits_and_matches(tmp_path, gaps):
    strands = set()
    for seed in (2, 3):
        reads, overlaps = two_paths(seed)
        if gaps:
            reads, overlaps = gapped(reads, overlaps, seed)
        built, _ = graph.build_graph(reads, overlaps, PARAMS)
        path = tmp_path / "reads.gfa"
        write_lines(path, read_gfa(built, reads, overlaps=overlaps, contained=True))
        assert check_overlaps(path) == {"L": len(built.edges) // 2, "C": len(built.contained)}
        strands |= {bool(reverse) for reverse in built.contained.reverse}
    assert strands == {False, True}


def test_every_cigar_of_unitigs_fits_and_matches(tmp_path):
    reads, overlaps = two_paths()
    assembly = graph.assemble(reads, overlaps, PARAMS, UNCLEAN)
    path = tmp_path / "unitigs.gfa"
    write_lines(path, unitig_gfa(assembly.layout, reads, overlaps=overlaps))
    assert check_overlaps(path)["L"] > 0
    assert len(assembly.layout) > 2


def test_without_alignments_overlaps_are_unspecified(tmp_path):
    reads, overlaps = two_paths()
    plain = Overlaps(**(vars(overlaps) | {"cigar": None, "cigar_offsets": None}))
    assembly = graph.assemble(reads, plain, PARAMS, UNCLEAN)
    path = tmp_path / "unitigs.gfa"
    write_lines(path, unitig_gfa(assembly.layout, reads, overlaps=plain))
    links = [line.split("\t") for line in path.read_text().splitlines() if line[0] == "L"]
    assert len(links) == assembly.counts["layout"]["links"] > 0
    assert {fields[5] for fields in links} == {"*"}


def test_a_circle_links_to_itself(tmp_path):
    genome = random_genome(3000, 9)
    reads, overlaps = read_set(genome, tiled(3000, 700, 150, 9, circular=True), circular=True)
    assembly = graph.assemble(reads, overlaps, PARAMS)
    path = tmp_path / "circle.gfa"
    write_lines(path, unitig_gfa(assembly.layout, reads))
    (name,) = assembly.layout.names
    assert name.endswith("c")
    assert f"L\t{name}\t+\t{name}\t+\t0M\n" in path.read_text()
    gfapy.Gfa.from_file(str(path), vlevel=3).validate()


def test_read_lines_place_every_read_of_the_path(tmp_path):
    genome = random_genome(3000, 11)
    reads, overlaps = read_set(genome, tiled(3000, 700, 150, 11))
    assembly = graph.assemble(reads, overlaps, PARAMS)
    sequence = assembly.layout.sequence(0, reads)
    for style in "aA":
        path = tmp_path / f"{style}.gfa"
        write_lines(path, unitig_gfa(assembly.layout, reads, read_lines=style))
        lines = [line.split("\t") for line in path.read_text().splitlines() if line[0] == style]
        assert len(lines) == len(assembly.layout.path)
        for fields in lines:
            start = int(fields[2])
            if style == "a":
                name, first, last = re.fullmatch(r"(.*):(\d+)-(\d+)", fields[3]).groups()
                interval, strand = (int(first) - 1, int(last)), fields[4]
            else:
                name, strand, interval = fields[4], fields[3], (int(fields[5]), int(fields[6]))
            read = reads.sequence(reads.names.index(name))[slice(*interval)]
            assert sequence[start : start + len(read)] == on_strand(read, strand)


@pytest.mark.parametrize("circular", [False, True])
def test_contained_reads_lie_where_their_bases_are_in_the_unitig(tmp_path, circular):
    genome = random_genome(3000, 12)
    placements = tiled(3000, 700, 150, 12, circular=circular)
    inner = [(s, s + 90 + 10 * (i % 7), bool(i % 3)) for i, s in enumerate(range(5, 2800, 110))]
    reads, overlaps = read_set(genome, placements + inner, circular=circular)
    assembly = graph.assemble(reads, overlaps, PARAMS)
    path = tmp_path / "contained.gfa"
    write_lines(path, unitig_gfa(assembly.layout, reads, contained=True))
    gfa = gfapy.Gfa.from_file(str(path), vlevel=3)
    gfa.validate()
    assert len(gfa.containments) == len(assembly.graph.contained) > 20
    sequence = assembly.layout.sequence(0, reads) * 2
    strands = set()
    for line in gfa.containments:
        assert (line.from_name, line.from_orient) == (assembly.layout.names[0], "+")
        read = on_strand(gfa.segment(line.to_name).sequence, line.to_orient)
        assert sequence[line.pos : line.pos + len(read)] == read
        strands.add(line.to_orient)
    assert strands == {"+", "-"}


def test_paths_name_the_reads_of_unitigs(tmp_path):
    reads, overlaps = two_paths()
    assembly = graph.assemble(reads, overlaps, PARAMS, UNCLEAN)
    path = tmp_path / "reads.gfa"
    write_lines(path, read_gfa(assembly.graph, reads, layout=assembly.layout))
    gfa = gfapy.Gfa.from_file(str(path), vlevel=3)
    gfa.validate()
    assert {p.name: len(p.segment_names) for p in gfa.paths} == dict(
        zip(assembly.layout.names, np.diff(assembly.layout.starts).tolist(), strict=True)
    )


def test_fasta_and_table_agree_with_the_layout(tmp_path):
    reads, overlaps = two_paths()
    layout = graph.assemble(reads, overlaps, PARAMS, UNCLEAN).layout
    write_lines(tmp_path / "unitigs.fasta", unitig_fasta(layout, reads))
    write_lines(tmp_path / "unitigs.tsv", unitig_table(layout))
    lines = (tmp_path / "unitigs.fasta").read_text().splitlines()
    header, *rows = [line.split("\t") for line in (tmp_path / "unitigs.tsv").read_text().splitlines()]
    assert header == ["name", "length", "circular", "path_reads", "reads", "depth", "copies"]
    assert [line[1:].split(" ")[0] for line in lines[::2]] == layout.names == [row[0] for row in rows]
    assert [len(line) for line in lines[1::2]] == layout.lengths.tolist() == [int(row[1]) for row in rows]
    assert sum(int(row[4]) for row in rows) == len(reads)


def test_networkx_holds_the_graph():
    reads, overlaps = two_paths()
    built, _ = graph.build_graph(reads, overlaps, PARAMS)
    found = to_networkx(built)
    assert isinstance(found, nx.DiGraph)
    assert {(v, w): (d["length"], d["overlap"]) for v, w, d in found.edges(data=True)} == {
        (
            2 * int(np.flatnonzero(built.reads.read == v >> 1)[0]) + (v & 1),
            2 * int(np.flatnonzero(built.reads.read == w >> 1)[0]) + (w & 1),
        ): value
        for (v, w), value in edge_set(built).items()
    }
    assert found.nodes[1]["reverse"]


def test_an_unknown_style_of_read_lines_is_refused(tmp_path):
    reads, overlaps = two_paths()
    layout = graph.assemble(reads, overlaps, PARAMS).layout
    with pytest.raises(ParameterError, match="read_lines is 'b', expected 'a', 'A' or none"):
        write_lines(tmp_path / "x.gfa", unitig_gfa(layout, reads, read_lines="b"))
    assert not list(tmp_path.iterdir())
