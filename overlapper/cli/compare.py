"""``overlapper compare``: methods beside each other on the same reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli import options
from overlapper.cli.evaluate import parse_circles
from overlapper.cli.outputs import check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import load_compute

if TYPE_CHECKING:
    from overlapper.compare.comparison import Comparison
    from overlapper.tables import Reads

EXAMPLES = """
overlapper compare reads.fastq.gz --preset ont -o methods.html
overlapper compare reads.fastq.gz --truth truth.tsv --finders dsoft --extenders chain,xdrop --tsv methods.tsv
overlapper compare reads.fq --reference ref.fasta --seeders minimizers,nov-smem --extenders edits --tsv -
"""

DEFAULT_FINDERS = "dsoft,spgemm"
DEFAULT_SEEDERS = "minimizers,smem,nov-smem,fixed,fixed-1"
MIN_OVERLAP = 2000


def compare(
    reads: Annotated[
        list[str],
        typer.Argument(metavar="READS...", help="FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed."),
    ],
    reference: Annotated[
        str | None, options.file("Compare mappings to this reference (FASTA) instead of overlaps.")
    ] = None,
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
        typer.Option(
            metavar="NAMES",
            help="For overlaps: finders to compare, separated by commas.",
            show_default=DEFAULT_FINDERS,
        ),
    ] = None,
    seeders: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="For mappings: seeders to compare, separated by commas.",
            show_default=DEFAULT_SEEDERS,
        ),
    ] = None,
    extenders: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Extenders to compare, separated by commas. The default is chain,xdrop,gact, and for "
            "mappings edits,local,xdrop,gact.",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            "-p",
            metavar="NAME",
            help="ont, clr, hifi, or auto, which estimates the error rate. For mappings also short; auto "
            "then means ont.",
        ),
    ] = "auto",
    min_overlap: Annotated[
        int | None,
        options.bases(
            "For overlaps: shortest overlap that is judged. The default is the shortest that layout uses.",
            show_default=str(MIN_OVERLAP),
        ),
    ] = None,
    seed_length: Annotated[
        int | None,
        options.bases("For mappings: shortest exact match that is a seed, or length of fixed seeds."),
    ] = None,
    seed_interval: Annotated[
        int | None, options.bases("For mappings: distance from one fixed seed to the next.")
    ] = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Compare methods: results, times and memory on the same reads.

    Runs every combination of finders and extenders or, with --reference, of seeders and extenders. Each
    method runs in its own process, first on a few reads and then on all. Results are judged by the placements
    of the reads (--truth), or else by what more than half of the methods agree on.
    """
    of_overlaps = {"--finders": finders, "--min-overlap": min_overlap}
    of_mappings = {"--seeders": seeders, "--seed-length": seed_length, "--seed-interval": seed_interval}
    _refuse_given(of_overlaps if reference else of_mappings, reference)
    outputs = {"--output": output, "--tsv": tsv, "--json": json}
    if not any(outputs.values()):
        raise typer.BadParameter("name at least one of --output, --tsv and --json")
    inputs = [*reads, *filter(None, (reference, truth))]
    if "-" in inputs:
        raise typer.BadParameter("reads are read once per method, so they cannot come from standard input")
    check_files({**outputs, "--log": log}, inputs)
    for (option, path), kind in zip(outputs.items(), ("HTML", "TSV", "JSON"), strict=True):
        check_name(path, option, kind)
    load_compute()

    from overlapper.io import read_fastx
    from overlapper.io.outputs import write_text
    from overlapper.io.sources import check_rereadable
    from overlapper.io.truth import read_truth
    from overlapper.overlap.presets import check_preset
    from overlapper.params.mapping import MapParams
    from overlapper.report.comparison import build_comparison

    for path in inputs:
        check_rereadable(path, "reads are read once per method")
    if reference and preset != "auto":
        MapParams.preset(preset)
    elif not reference:
        check_preset(preset)
    circles = parse_circles(circular or [])
    with Progress(quiet, log=log) as progress:
        progress.report("reading")
        table = read_fastx(*reads)
        how: dict[str, Any] = {
            "truth": read_truth(truth) if truth else None, "circular": circles, "threads": threads,
            "report": progress.report,
        }  # fmt: skip
        if reference:
            lengths = {"--seed-length": seed_length, "--seed-interval": seed_interval}
            named = DEFAULT_SEEDERS if seeders is None else seeders
            result = _of_mappings(table, reads, reference, named, extenders, preset, lengths, **how)
        else:
            named = DEFAULT_FINDERS if finders is None else finders
            least = MIN_OVERLAP if min_overlap is None else min_overlap
            result = _of_overlaps(table, reads, named, extenders, preset, min_overlap=least, **how)
        if output:
            write_text(output, build_comparison(result))
        if tsv:
            write_text(tsv, result.to_tsv())
        if json:
            write_text(json, result.to_json())


def _refuse_given(others: Mapping[str, Any], reference: str | None) -> None:
    """Raise `typer.BadParameter` for an option of what is not compared, which would have no effect."""
    for option, value in others.items():
        if value is not None:
            raise typer.BadParameter(
                f"{option} is for overlaps only: leave out {option} or --reference"
                if reference
                else f"{option} is for mappings only: give --reference, or leave out {option}"
            )


def _of_overlaps(
    table: Reads, reads: list[str], finders: str, extenders: str | None, preset: str, **how: Any
) -> Comparison:
    """Compare finders and extenders of overlaps."""
    from overlapper.compare.overlaps import compare_overlaps

    extending = _names("--extenders", "chain,xdrop,gact" if extenders is None else extenders)
    return compare_overlaps(
        table, reads, _names("--finders", finders), extending, options=["--preset", preset], **how
    )


def _of_mappings(
    table: Reads,
    reads: list[str],
    reference: str,
    seeders: str,
    extenders: str | None,
    preset: str,
    lengths: dict[str, int | None],
    *,
    circular: int | dict[str, int],
    **how: Any,
) -> Comparison:
    """Compare seeders and extenders of mappings to a reference; ``lengths`` are options of seeders."""
    from overlapper.compare.mappings import compare_mappings
    from overlapper.io import read_fastx

    words = ["--preset", "ont" if preset == "auto" else preset]
    words += [word for name, n in lengths.items() if n is not None for word in (name, str(n))]
    targets = read_fastx(reference)
    circles = circular if isinstance(circular, dict) else targets.names if circular else ()
    extending = _names("--extenders", "edits,local,xdrop,gact" if extenders is None else extenders)
    return compare_mappings(
        targets, table, (reference, reads), _names("--seeders", seeders), extending, options=words,
        circular=circles, **how,
    )  # fmt: skip


def _names(option: str, text: str) -> list[str]:
    if names := [name for name in text.split(",") if name]:
        return names
    raise typer.BadParameter(f"{option} names no method: leave it out for the usual ones")
