"""``overlapper compare``: methods beside each other on the same reads."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.evaluate import parse_circles
from overlapper.cli.outputs import check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import load_compute

EXAMPLES = """
overlapper compare reads.fastq.gz --preset ont -o methods.html
overlapper compare reads.fastq.gz --truth truth.tsv --finders dsoft --extenders chain,xdrop --tsv methods.tsv
"""

DEFAULT_FINDERS = "dsoft,spgemm"
DEFAULT_EXTENDERS = "chain,xdrop,gact"
MIN_OVERLAP = 2000


def compare(
    reads: Annotated[
        list[str],
        typer.Argument(metavar="READS...", help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed."),
    ],
    output: Annotated[str | None, options.output("Page with plots, HTML.")] = None,
    tsv: Annotated[str | None, options.file("Table with one line per method. - is standard output.")] = None,
    json: Annotated[str | None, options.file("The same and more, as JSON.")] = None,
    truth: Annotated[
        str | None,
        options.file(
            "Table of where the reads come from, as for evaluate. Without it, methods are judged "
            "by what most of them agree on."
        ),
    ] = None,
    circular: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[REF=]LENGTH", help="Length of a circular reference sequence. May be repeated."
        ),
    ] = None,
    finders: Annotated[
        str | None,
        options.names("Finders to compare, separated by commas.", DEFAULT_FINDERS),
    ] = None,
    extenders: Annotated[
        str | None,
        options.names("Extenders to compare, separated by commas.", DEFAULT_EXTENDERS),
    ] = None,
    preset: Annotated[
        str,
        options.preset("ont, clr, hifi, or auto, which estimates the error rate."),
    ] = "auto",
    min_overlap: Annotated[
        int | None,
        options.bases(
            "Shortest overlap that is judged. The default is the shortest that layout uses.",
            show_default=str(MIN_OVERLAP),
        ),
    ] = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Compare methods: results, times and memory on the same reads.

    Runs every combination of finders and extenders. Each method runs in its own process, first on a few reads
    and then on all. Results are judged by the placements of the reads (--truth), or else by what more than
    half of the methods agree on.
    """
    outputs = {"--output": output, "--tsv": tsv, "--json": json}
    if not any(outputs.values()):
        raise typer.BadParameter("name at least one of --output, --tsv and --json")
    inputs = [*reads, *filter(None, [truth])]
    if "-" in inputs:
        raise typer.BadParameter("reads are read once per method, so they cannot come from standard input")
    check_files({**outputs, "--log": log}, inputs)
    for (option, path), kind in zip(outputs.items(), ("HTML", "TSV", "JSON"), strict=True):
        check_name(path, option, kind)
    load_compute()

    from overlapper.compare.overlaps import compare_overlaps
    from overlapper.io import read_fastx
    from overlapper.io.outputs import write_text
    from overlapper.io.sources import check_rereadable
    from overlapper.io.truth import read_truth
    from overlapper.overlap.presets import check_preset
    from overlapper.report.comparison import build_comparison

    for path in inputs:
        check_rereadable(path, "reads are read once per method")
    check_preset(preset)
    with Progress(quiet, log=log) as progress:
        progress.report("reading")
        table = read_fastx(*reads)
        finding = _names("--finders", DEFAULT_FINDERS if finders is None else finders)
        extending = _names("--extenders", DEFAULT_EXTENDERS if extenders is None else extenders)
        result = compare_overlaps(
            table, reads, finding, extending, options=["--preset", preset],
            min_overlap=MIN_OVERLAP if min_overlap is None else min_overlap,
            truth=read_truth(truth) if truth else None, circular=parse_circles(circular or []),
            threads=threads, report=progress.report,
        )  # fmt: skip
        if output:
            write_text(output, build_comparison(result))
        if tsv:
            write_text(tsv, result.to_tsv())
        if json:
            write_text(json, result.to_json())


def _names(option: str, text: str) -> list[str]:
    if names := [name for name in text.split(",") if name]:
        return names
    raise typer.BadParameter(f"{option} names no method: leave it out for the usual ones")
