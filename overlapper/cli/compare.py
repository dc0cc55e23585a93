"""``overlapper compare``: methods beside each other on the same reads."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli.evaluate import parse_circles
from overlapper.cli.options import Quiet, Threads, file_option, output_option
from overlapper.cli.outputs import check_name, check_outputs
from overlapper.cli.progress import Progress

EXAMPLES = """
overlapper compare reads.fastq.gz --preset ont -o methods.html
overlapper compare reads.fastq.gz --truth truth.tsv --finders dsoft --extenders chain,xdrop --tsv methods.tsv
overlapper compare reads.fq --reference ref.fasta --seeders minimizers,nov-smem --extenders edits --tsv -
"""


def compare(
    reads: Annotated[
        list[str],
        typer.Argument(metavar="READS...", help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed."),
    ],
    reference: Annotated[
        str | None, file_option("Compare mappings to this reference, FASTA, instead of overlaps.")
    ] = None,
    output: Annotated[str | None, output_option("Page with plots, HTML.")] = None,
    tsv: Annotated[str | None, file_option("Table, a line a method; - is standard output.")] = None,
    json: Annotated[str | None, file_option("The same and more as JSON.")] = None,
    truth: Annotated[
        str | None,
        file_option("Where the reads come from, as for evaluate; without it methods judge each other."),
    ] = None,
    circular: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[REF=]LENGTH", help="Length of a circular reference; may be repeated with different REF."
        ),
    ] = None,
    finders: Annotated[
        str, typer.Option(metavar="NAMES", help="Of overlaps, commas between them.")
    ] = "dsoft,spgemm",
    seeders: Annotated[
        str, typer.Option(metavar="NAMES", help="Of mappings, commas between them.")
    ] = "minimizers,smem,nov-smem,fixed,fixed-1",
    extenders: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Commas between them. By default chain,xdrop,gact, or of mappings edits,local,xdrop,gact.",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            "-p",
            metavar="NAME",
            help="ont, clr, hifi, or auto, which estimates the error rate; of mappings also short, and auto "
            "is ont.",
        ),
    ] = "auto",
    min_overlap: Annotated[int, typer.Option(min=1, help="Shortest overlap that is judged.")] = 1000,
    seed_length: Annotated[
        int | None, typer.Option(help="Of mappings: shortest exact match, length of fixed seeds.")
    ] = None,
    seed_interval: Annotated[
        int | None, typer.Option(help="Of mappings: bases from one fixed seed to the next.")
    ] = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Compare methods: results, times and memory on the same reads.

    Every combination is run. Overlaps: finders and extenders. Mappings, with --reference: seeders and
    extenders. Every method runs in a process of its own, once on a few reads and once on all. With --truth
    the placements of the reads judge, else what more than half of the methods agree on. Methods that align
    whole reads take long on long reads.
    """
    outputs = {"--output": output, "--tsv": tsv, "--json": json}
    if not any(outputs.values()):
        raise typer.BadParameter("name at least one of --output, --tsv and --json")
    inputs = [*reads, *filter(None, (reference, truth))]
    if "-" in inputs:
        raise typer.BadParameter("reads are read once a method: standard input cannot be")
    check_outputs(outputs, inputs)
    for (option, path), kind in zip(outputs.items(), ("HTML", "TSV", "JSON"), strict=True):
        check_name(path, option, kind)

    from overlapper.runtime.compile.startup import load_numba

    load_numba()

    from overlapper.compare.mappings import compare_mappings
    from overlapper.compare.overlaps import compare_overlaps
    from overlapper.io import read_fastx
    from overlapper.io.outputs import write_text
    from overlapper.io.sources import check_rereadable
    from overlapper.io.truth import read_truth
    from overlapper.overlap.presets import check_preset
    from overlapper.params.mapping import MapParams
    from overlapper.report.comparison import build_comparison

    for path in inputs:
        check_rereadable(path, "reads are read once a method")
    if reference and preset != "auto":
        MapParams.preset(preset)
    elif not reference:
        check_preset(preset)
    circles = parse_circles(circular or [])
    with Progress(quiet) as progress:
        progress.report("reading")
        table = read_fastx(*reads)
        places = read_truth(truth) if truth else None
        if reference:
            words = ["--preset", "ont" if preset == "auto" else preset]
            given = {"--seed-length": seed_length, "--seed-interval": seed_interval}
            words += [word for name, n in given.items() if n is not None for word in (name, str(n))]
            targets = read_fastx(reference)
            result = compare_mappings(
                targets, table, (reference, reads), _names(seeders),
                _names(extenders or "edits,local,xdrop,gact"), options=words, truth=places,
                circular=circles if isinstance(circles, dict) else targets.names if circles else (),
                threads=threads, report=progress.report,
            )  # fmt: skip
        else:
            result = compare_overlaps(
                table, reads, _names(finders), _names(extenders or "chain,xdrop,gact"),
                options=["--preset", preset], min_overlap=min_overlap, truth=places, circular=circles,
                threads=threads, report=progress.report,
            )  # fmt: skip
        if output:
            write_text(output, build_comparison(result))
        if tsv:
            write_text(tsv, result.to_tsv())
        if json:
            write_text(json, result.to_json())


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
