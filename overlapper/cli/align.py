"""``overlapper align``: plain pairs of sequences."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_files
from overlapper.cli.run_files import begun, load_compute

EXAMPLES = """
overlapper align queries.fa targets.fa --mode local -o scores.paf
overlapper align reads.fq reference.fa --pairs pairs.tsv --mode semi-global --free target-start,target-end --cigar -o out.paf.gz
overlapper align primers.fa amplicons.fa --pairing all-to-all --match 2 --mismatch -3 --gap-open -5 --gap-extend -2
"""  # noqa: E501


def align(
    queries: Annotated[
        str,
        typer.Argument(
            metavar="QUERIES",
            help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed. - is standard input.",
        ),
    ],
    targets: Annotated[str, typer.Argument(metavar="TARGETS", help="The same formats.")],
    output: Annotated[str, options.output("Alignments: .paf or .paf.gz. - is PAF on standard output.")] = "-",
    mode: Annotated[
        str, typer.Option("--mode", "-m", metavar="MODE", help="local, global or semi-global.")
    ] = "global",
    free: Annotated[
        str | None,
        typer.Option(
            metavar="ENDS",
            help="Ends that may stay unaligned without cost in semi-global mode, separated by commas: "
            "query-start, query-end, target-start, target-end. All by default.",
        ),
    ] = None,
    pairing: Annotated[
        str,
        typer.Option(metavar="HOW", help="one-to-one, one-to-all (a single query or target) or all-to-all."),
    ] = "one-to-one",
    pairs: Annotated[
        str | None,
        options.file(
            "Tab-separated table of the pairs to align: query, target and, if wanted, strand (+ or -)."
        ),
    ] = None,
    cigar: Annotated[
        bool, typer.Option("--cigar", help="Report alignments, not only scores and intervals.")
    ] = False,
    match: Annotated[int, typer.Option(help="Score of two equal bases.")] = 1,
    mismatch: Annotated[int, typer.Option(help="Score of two unequal bases.")] = -4,
    unknown: Annotated[int, typer.Option(help="Score of two bases of which one is not A, C, G or T.")] = -1,
    gap_open: Annotated[
        int,
        typer.Option(help="Score for opening a gap, in addition to its bases. 0 makes gap scores linear."),
    ] = -6,
    gap_extend: Annotated[int, typer.Option(help="Score of each base in a gap.")] = -1,
    band: Annotated[
        int | None,
        typer.Option(help="Most diagonals on either side that an alignment may use. All by default."),
    ] = None,
    device: Annotated[str, options.device("cpu, or one GPU such as cuda:0.")] = "cpu",
    threads: options.Threads = 0,
    stats: options.Stats = None,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Align plain pairs of sequences.

    A gap of n bases scores --gap-open plus n times --gap-extend. Alignments are optimal. Among alignments of
    equal score a written rule chooses, so the result depends only on the sequences and the scores.
    """
    outputs = {OUTPUT: output, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (queries, targets, pairs))
    threads = load_compute(device, threads)

    from overlapper.cli.record import Record
    from overlapper.extend.pairwise import align as align_pairs
    from overlapper.io import read_fastx
    from overlapper.io.outputs import check_format
    from overlapper.io.pairwise import ENDINGS, read_pairs, write_alignments
    from overlapper.params.scoring import Scoring

    check_format(output, ENDINGS)
    scoring = Scoring(match, mismatch, unknown, gap_open, gap_extend)
    ends = None if free is None else [end for end in free.split(",") if end]
    with begun(quiet=quiet, log=log) as (progress, files):
        files.open(stats)
        record = Record(inputs, threads, digests=stats is not None)
        progress.report("reading")
        query_table, target_table = (read_fastx(path, threads=threads) for path in (queries, targets))
        chosen = read_pairs(pairs, query_table, target_table) if pairs else pairing
        progress.report("aligning")
        found = align_pairs(
            query_table, target_table, pairs=chosen, mode=mode, scoring=scoring, free=ends,
            report="cigar" if cigar else "start", band=band, device=device, threads=threads,
        )  # fmt: skip
        progress.report("writing")
        write_alignments(found, query_table, target_table, output)
        counts = {"queries": len(query_table), "targets": len(target_table), "alignments": len(found)}
        settings = {"mode": mode, "free": ends, "pairing": pairing, "band": band}
        params = {**settings, "scoring": dataclasses.asdict(scoring)}
        files.write(stats, lambda: record.to_json({"counts": counts, "devices": [device], "params": params}))
        files.close()
        progress.note(f"{len(found):,} alignments")
