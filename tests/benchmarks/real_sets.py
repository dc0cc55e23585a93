"""All real sets at once: what an assembly of each is like, by references and by the labels of reads.

    python -m tests.benchmarks.real_sets DATA [SET ...] --out after.tsv [--against before.tsv]

DATA holds a folder per set: ``reads.fast[aq].gz``; ``reference.fasta.gz`` with ``truth.tsv.gz`` (where reads
lie on it), or ``haplotags.tsv.gz`` (of which haplotype or paralogue each is) with
``haplotypes.fasta.gz``, or both. ``SET~both`` is a set of which every second read is reversed.
A row per set is written:

contigs, bases, longest, circles
    Of what the program wrote; seconds of processors and megabytes that it took.
missing, doubled, breaks, identity
    By minimap2 (asm20) on the reference: of the bases that three placed reads or more cover, those without a
    contig, and those with more of them than the set has haplotypes; places where a contig goes on elsewhere;
    matches per column.
pure, own, reads_identity
    Reads by minimap2 on the contigs, each on its best one: share of labelled reads that are of the label that
    most reads of their contig have; labels that are the most frequent one of some contig; the mean of
    1 - NM / columns.
hap_bases, hap_pure
    Of ``hap1`` and ``hap2`` together, where they are written.
kept
    Of the 31-mers that the haplotype of a read alone has, the share that correction keeps: the least of all
    labels.

With ``--against``, what differs from an earlier table is printed. With ``--program``, hifiasm or racon
(miniasm, and racon twice) assembles instead. Needs minimap2.
"""

from __future__ import annotations

import csv
import gzip
import tempfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np

from tests.benchmarks.graph_peers import block_of, is_break
from tests.benchmarks.harness import OVERLAPPER, Spent, measured, parser_of, placed_by_minimap2

K = 31
DEEP_ENOUGH = 3
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")
TECHNOLOGIES = {"hifi": ("ava-pb", "map-hifi"), "clr": ("ava-pb", "map-pb"), "ont": ("ava-ont", "map-ont")}
COLUMNS = [
    *("set", "program", "contigs", "bases", "longest", "circles", "missing", "doubled", "breaks", "identity"),
    *("pure", "own", "reads_identity", "hap_bases", "hap_pure", "kept", "cpu_s", "MB"),
]
DIPLOID = {
    "clr_na12878_chr3_w0",
    "ont_r9_na12878_chr3_w0",
    "ont_r9_hg002_chr20_100k",
    "ont_hg002_telomere_1p",
}
UNLABELLED = {"", ".", "0", "none", "Unassigned"}


def opened(path):
    return gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)


def records(path):
    """Yield names and sequences of a FASTA or FASTQ file without wrapped quality."""
    with opened(path) as file:
        lines = file.read().splitlines()
    if lines and lines[0].startswith("@"):
        yield from ((lines[i][1:].split()[0], lines[i + 1].upper()) for i in range(0, len(lines) - 3, 4))
        return
    for record in "\n".join(lines).split(">")[1:]:
        name, *sequence = record.split("\n")
        yield name.split()[0], "".join(sequence).upper()


def table(path):
    with opened(path) as file:
        return list(csv.DictReader(file, delimiter="\t"))


class RealSet:
    """Files of one set, and its reads as a program is given them."""

    def __init__(self, data, name, folder):
        self.name, self.both = name, name.endswith("~both")
        self.folder = next(
            p
            for p in (data / name.removesuffix("~both"), data / "real" / name.removesuffix("~both"))
            if p.is_dir()
        )
        self.technology = self.folder.name.split("_")[0]
        reads = next(self.folder.glob("reads.fast*.gz"))
        self.reads = self._reversed(reads, folder) if self.both else reads
        self.labels = self._labels()

    def file(self, name):
        path = self.folder / name
        return path if path.exists() else None

    def _reversed(self, reads, folder):
        path = folder / "both.fasta"
        with open(path, "w") as out:
            for number, (name, bases) in enumerate(records(reads)):
                out.write(f">{name}\n{bases.translate(COMPLEMENT)[::-1] if number % 2 else bases}\n")
        return path

    def _labels(self):
        tags = self.file("haplotags.tsv.gz")
        if tags is None:
            return {}
        rows = [list(row.values())[:2] for row in table(tags)]
        return {
            read: label.removeprefix("HP_")
            for read, label in rows
            if label and label.strip() not in UNLABELLED
        }

    @property
    def haplotypes(self):
        """How many contigs may lie on a base of the reference."""
        return max(len(set(self.labels.values())), 2 if self.folder.name in DIPLOID else 1)


def assembled(program, real, folder):
    """Assemble with a program; return what it took, its contigs as FASTA, and how many are circles."""
    contigs = folder / "contigs.fasta"
    if program == "ours":
        spent = measured([*OVERLAPPER, "assemble", real.reads, "-o", folder / "ours", "-q"])
        rows = table(folder / "ours" / "contigs.tsv")
        return spent, folder / "ours" / "contigs.fasta", sum(row["circular"] == "yes" for row in rows)
    if program == "hifiasm":
        options = ["--ont"] if real.technology == "ont" else []
        words = ["hifiasm", *options, "-f0", "-t2", "-o", folder / "h", real.reads]
        spent = measured(words)
        gfa = next(folder.glob("h.bp.p_utg.gfa"))
        circles = gfa_to_fasta(gfa, contigs)
        return spent, contigs, circles
    overlap, mapping = TECHNOLOGIES[real.technology]
    paf, gfa = folder / "ava.paf", folder / "draft.gfa"
    spent = [measured(["minimap2", "-x", overlap, "-t2", real.reads, real.reads], paf)]
    spent.append(measured(["miniasm", "-f", real.reads, paf], gfa))
    circles, draft = gfa_to_fasta(gfa, contigs), contigs
    for number in (1, 2):
        if draft.stat().st_size:
            mapped, polished = folder / f"{number}.paf", folder / f"{number}.fasta"
            spent.append(measured(["minimap2", "-x", mapping, "-t2", draft, real.reads], mapped))
            spent.append(measured(["racon", "-t2", real.reads, mapped, draft], polished))
            draft = polished
    wall, cpu, megabytes = zip(*spent, strict=True)
    return Spent(sum(wall), sum(cpu), max(megabytes)), draft, circles


def gfa_to_fasta(gfa, fasta):
    """Write the segments of a GFA file as FASTA; return how many have the name of a circle."""
    with open(gfa) as lines, open(fasta, "w") as out:
        segments = [line.split("\t")[1:3] for line in lines if line.startswith("S\t")]
        out.writelines(f">{name}\n{bases.strip()}\n" for name, bases in segments)
    return sum(name.endswith("c") for name, _ in segments)


def by_reference(real, contigs):
    """Judge contigs by the reference of a set."""
    reference, truth = real.file("reference.fasta.gz"), real.file("truth.tsv.gz")
    if reference is None or truth is None:
        return {}
    depth = {name: np.zeros(len(bases) + 1, int) for name, bases in records(reference)}
    on = {name: np.zeros(len(bases) + 1, int) for name, bases in records(reference)}
    for row in table(truth):
        if row["ref"] in depth:
            depth[row["ref"]][int(row["start"])] += 1
            depth[row["ref"]][min(int(row["end"]), len(depth[row["ref"]]) - 1)] -= 1
    blocks, matches, columns = [], 0, 0
    for f in placed_by_minimap2("-cx", "asm20", "-r2000,2000", reference, contigs):
        on[f[5]][int(f[7])] += 1
        on[f[5]][int(f[8])] -= 1
        matches, columns = matches + int(f[9]), columns + int(f[10])
        blocks.append(block_of(f))
    missing = doubled = 0
    for name in depth:
        asked = np.cumsum(depth[name]) >= DEEP_ENOUGH
        lying = np.cumsum(on[name])
        missing += int((asked & (lying == 0)).sum())
        doubled += int((asked * np.maximum(lying - real.haplotypes, 0)).sum())
    breaks = sum(a[0] == b[0] and is_break(a, b, False) for a, b in pairwise(sorted(blocks)))
    return {
        "missing": missing,
        "doubled": doubled,
        "breaks": breaks,
        "identity": f"{matches / max(columns, 1):.5f}",
    }


def by_labels(real, contigs):
    """Judge contigs by the labels of the reads that lie on each."""
    best = {}
    preset = TECHNOLOGIES[real.technology][1]
    for f in placed_by_minimap2("-cx", preset, "-N5", contigs, real.reads):
        tags = {tag[:2]: tag[5:] for tag in f[12:]}
        score = int(tags["AS"])
        if f[0] not in best or score > best[f[0]][0]:
            best[f[0]] = score, f[5], 1 - int(tags["NM"]) / int(f[10])
    of_contigs = defaultdict(Counter)
    for read, (_, contig, _) in best.items():
        if read in real.labels:
            of_contigs[contig][real.labels[read]] += 1
    placed = sum(count.total() for count in of_contigs.values())
    identity = sum(b[2] for b in best.values()) / max(len(best), 1)
    if not real.labels:
        return {"reads_identity": f"{identity:.5f}"}
    pure = sum(max(count.values()) for count in of_contigs.values()) / max(placed, 1)
    own = {max(count, key=count.get) for count in of_contigs.values()}
    return {
        "pure": f"{pure:.4f}",
        "own": f"{len(own)}/{len(set(real.labels.values()))}",
        "reads_identity": f"{identity:.5f}",
    }


def kmers(bases):
    other = bases.translate(COMPLEMENT)[::-1]
    n = len(bases)
    return {min(bases[i : i + K], other[n - K - i : n - i]) for i in range(n - K + 1)}


def kept(real, folder):
    """Return the least share of a label's own 31-mers that correction keeps in its reads."""
    haplotypes = real.file("haplotypes.fasta.gz")
    if not real.labels or haplotypes is None:
        return {}
    of = {name.removeprefix("HP_"): kmers(bases) for name, bases in records(haplotypes)}
    count = Counter(k for own in of.values() for k in own)
    corrected = folder / "corrected.fasta"
    measured([*OVERLAPPER, "correct", real.reads, "-o", corrected, "-q"])
    before, after = dict(records(real.reads)), dict(records(corrected))
    had, has = Counter(), Counter()
    for read, label in real.labels.items():
        if label in of and read in after:
            own = {k for k in kmers(before[read]) & of[label] if count[k] == 1}
            had[label] += len(own)
            has[label] += len(own & kmers(after[read]))
    return {"kept": f"{min((has[label] / had[label] for label in had if had[label]), default=1):.4f}"}


def judged(program, data, name, more=lambda contigs: {}):
    """Return the row of a set; ``more`` judges its contigs further."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        real = RealSet(data, name, folder)
        spent, contigs, circles = assembled(program, real, folder)
        lengths = [len(bases) for _, bases in records(contigs)]
        row = {"set": name, "program": program, "contigs": len(lengths), "bases": sum(lengths)}
        row |= {"longest": max(lengths, default=0), "circles": circles}
        row |= {"cpu_s": f"{spent.cpu:.1f}", "MB": f"{spent.megabytes:.0f}"}
        if not lengths:
            return row
        row |= by_reference(real, contigs) | by_labels(real, contigs) | more(contigs)
        if program == "ours":
            row |= kept(real, folder)
            phased = [
                path
                for path in (folder / "ours" / f"contigs.hap{h}.p_ctg.fasta" for h in (1, 2))
                if path.exists()
            ]
            if phased:
                both = folder / "haplotypes.fasta"
                both.write_text("".join(path.read_text() for path in phased))
                row["hap_bases"] = sum(len(bases) for _, bases in records(both))
                row["hap_pure"] = by_labels(real, both).get("pure", "")
        return row


def main():
    parser = parser_of(__doc__, "data", out="real-sets.tsv", against="", program="ours")
    parser.add_argument("sets", nargs="*")
    options = parser.parse_args()
    data = Path(options.data)
    names = options.sets or sorted(path.parent.name for path in data.glob("real/*/reads.fast*.gz"))
    earlier = {row["set"]: row for row in table(options.against)} if options.against else {}
    with open(options.out, "w") as file:
        rows = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n", restval="")
        rows.writeheader()
        print("\t".join(COLUMNS))
        for name in names:
            try:
                row = judged(options.program, data, name)
            except OSError as error:
                row = {"set": name, "program": f"failed: {error}"}
            rows.writerow(row)
            file.flush()
            print("\t".join(str(row.get(column, "")) for column in COLUMNS), flush=True)
            before = earlier.get(name, {})
            changed = [c for c in COLUMNS[:-2] if c in row and str(row[c]) != before.get(c, str(row[c]))]
            print("".join(f"    {c}: {before[c]} -> {row[c]}\n" for c in changed), end="", flush=True)


if __name__ == "__main__":
    main()
