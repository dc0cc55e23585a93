"""``overlapper evaluate``: overlaps, contigs and corrected reads beside where they come from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_files
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import begun, load_compute
from overlapper.cli.sizes import parse_size
from overlapper.errors import EmptyInputError

EXAMPLES = """
overlapper evaluate truth.tsv overlaps.paf
overlapper evaluate truth.tsv overlaps.paf --circular genome=200k
overlapper evaluate contigs.fasta --reference genome.fasta --circular all --json contigs.json
overlapper evaluate assembly.gfa --reference haplotype1.fasta --reference haplotype2.fasta
overlapper evaluate corrected.fastq --reads reads.fastq --placements truth.tsv --reference genome.fasta
"""

ALL = "all"


def evaluate(
    judged: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Contigs (FASTA, GFA 1) or corrected reads. To judge overlaps: the table of where the "
            "reads come from, as overlapper simulate --truth writes it.",
        ),
    ],
    paf: Annotated[
        str | None,
        typer.Argument(
            metavar="PAF", help="Overlaps to judge, from overlapper or another program. - is standard input."
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FASTA",
            help="For contigs and corrected reads: the genome that they come from. Give "
            "it once per haplotype.",
        ),
    ] = None,
    placements: Annotated[
        str | None,
        typer.Option(
            metavar="TRUTH",
            help="For corrected reads: the table of where they come from, as overlapper simulate --truth "
            "writes it.",
        ),
    ] = None,
    reads: Annotated[
        str | None,
        typer.Option(
            metavar="READS", help="For corrected reads: the raw reads, to see what correction changed."
        ),
    ] = None,
    min_overlap: Annotated[
        int,
        options.bases(
            "For overlaps: shortest overlap that is judged. The default is the shortest that layout uses."
        ),
    ] = 2000,
    circular: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[REF=]LENGTH|NAME",
            help="For overlaps: length of a circular reference sequence. For contigs: name of a circular "
            "reference sequence, or all. May be repeated.",
        ),
    ] = None,
    output: Annotated[str, options.output("Scores as text. - is standard output.")] = "-",
    json_file: Annotated[str | None, options.file("Write the scores as JSON.", "--json")] = None,
    tsv_file: Annotated[
        str | None,
        options.file("Write a table with one line per bin of overlaps, per contig or per read.", "--tsv"),
    ] = None,
    memory: Annotated[
        int,
        options.size(
            "Memory budget for contigs and reads, such as 4G. 0: half of the memory of the machine."
        ),
    ] = 0,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Judge overlaps, contigs or corrected reads by where they come from.

    Overlaps are judged by the placements of the reads: recall, precision and errors of the ends, in all and
    by length and identity. Contigs are judged by the k-mers of the reference: completeness, quality (QV),
    breaks and NGA50; with two or more haplotypes also phase errors and switches. Corrected reads are aligned
    to their places: identity, and the share of their own bases that they keep where haplotypes or copies
    differ.
    """
    references = reference or []
    _check_use(judged, paf, references, placements, reads, circular or [])
    outputs = {OUTPUT: output, "--json": json_file, "--tsv": tsv_file, "--log": log}
    check_files(outputs, (judged, paf, *references, placements, reads))
    if paf is not None:
        with Progress(quiet, log=log) as progress:
            progress.report("judging overlaps")
            scores = _overlaps(judged, paf, min_overlap, circular or [])
    else:
        limits = {"memory": memory, "threads": load_compute(threads=threads)}
        with begun(quiet=quiet, log=log) as (progress, _):
            progress.report("reading")
            if placements is None:
                scores = _contigs(judged, references, circular or [], report=progress.report, **limits)
            else:
                scores = _reads(judged, references, placements, reads, report=progress.report, **limits)
    text, document, table = scores
    from overlapper.io.outputs import write_text

    if json_file:
        import json

        write_text(json_file, f"{json.dumps(document, indent=2)}\n")
    if tsv_file:
        write_text(tsv_file, table)
    write_text(output, text)


def _check_use(
    judged: str,
    paf: str | None,
    references: list[str],
    placements: str | None,
    reads: str | None,
    circular: list[str],
) -> None:
    """Refuse options that do not go together."""
    if paf is not None:
        for option, value in (("--reference", references), ("--placements", placements), ("--reads", reads)):
            if value:
                raise typer.BadParameter(f"{option} is not for overlaps: give contigs or reads alone with it")
        return
    if judged.endswith((".paf", ".paf.gz")):
        raise typer.BadParameter(
            f"{judged} is named like a file of overlaps, which are judged by the placements of their reads: "
            f"overlapper evaluate TRUTH {judged}"
        )
    if not references:
        raise typer.BadParameter(
            "give placements and overlaps (TRUTH PAF), or the reference of contigs or corrected reads "
            "(--reference)"
        )
    if len(set(references)) < len(references):
        raise typer.BadParameter("--reference names a file twice: give each haplotype once")
    if reads and not placements:
        raise typer.BadParameter("--reads is for corrected reads, which need --placements, too")
    if placements and circular:
        raise typer.BadParameter("--circular is not for reads: their placements tell which sequences are")


def _overlaps(truth: str, paf: str, min_overlap: int, circular: list[str]) -> tuple[str, dict[str, Any], str]:
    """Judge overlaps; return text, JSON and a table of the scores."""
    from overlapper.cli.overlap_scores import as_document, as_text, as_tsv
    from overlapper.evaluation.overlaps import evaluate_overlaps
    from overlapper.io.reported import read_reported
    from overlapper.io.truth import read_truth

    circles = parse_circles(circular)
    scores = evaluate_overlaps(
        read_truth(truth), read_reported(paf), min_overlap=min_overlap, circular=circles
    )
    return as_text(scores), as_document(scores), as_tsv(scores)


def _contigs(
    path: str, references: list[str], circular: list[str], **run: Any
) -> tuple[str, dict[str, Any], str]:
    """Judge contigs; return text, JSON and a table of the scores."""
    from overlapper.cli.contig_scores import as_document, as_text, as_tsv
    from overlapper.correction.polish import read_unitigs
    from overlapper.evaluation.contigs import evaluate_contigs
    from overlapper.io import read_fastx

    haplotypes = [read_fastx(reference) for reference in references]
    contigs = read_unitigs(path)
    if not len(contigs.sequences):
        raise EmptyInputError("holds no contigs", file=path, remedy="Give an assembly that has some.")
    circles = circular == [ALL] or circular
    scores = evaluate_contigs(
        contigs.sequences, haplotypes, circles=contigs.circular, circular=circles, **run
    )
    return as_text(scores, references), as_document(scores, path, references), as_tsv(scores, references)


def _reads(
    path: str, references: list[str], placements: str, raw: str | None, *, threads: int, **run: Any
) -> tuple[str, dict[str, Any], str]:
    """Judge corrected reads; return text, JSON and a table of the scores."""
    from overlapper.cli.read_scores import as_document, as_text, as_tsv
    from overlapper.evaluation.reads import evaluate_reads
    from overlapper.io import read_fastx
    from overlapper.io.truth import read_truth

    haplotypes = [read_fastx(reference) for reference in references]
    corrected = read_fastx(path, threads=threads)
    given = read_fastx(raw, threads=threads) if raw else None
    scores = evaluate_reads(corrected, read_truth(placements), haplotypes, raw=given, threads=threads, **run)
    return as_text(scores), as_document(scores, path, references), as_tsv(scores)


def parse_circles(given: list[str]) -> int | dict[str, int]:
    """Return one length for all references, or lengths by reference."""
    if len(given) == 1 and "=" not in given[0]:
        return _circle(given[0])
    named: dict[str, int] = {}
    for option in given:
        name, _, length = option.rpartition("=")
        if not name or name in named:
            raise typer.BadParameter("several --circular need the form REF=LENGTH, each with another REF")
        named[name] = _circle(length)
    return named or 0


def _circle(length: str) -> int:
    if size := parse_size(length):
        return size
    raise typer.BadParameter(
        "a circular reference has no length of 0: name its bases, or leave --circular out"
    )
