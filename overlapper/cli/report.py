"""``overlapper report``: a page that shows how a run went."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files, check_name
from overlapper.cli.run_files import begun, load_compute

EXAMPLES = """
overlapper report reads.fastq.gz overlaps.paf run.json layout.json layout.gfa -o report.html
overlapper report minimap2.paf.gz -o report.html
overlapper report assembly reads.fastq.gz -o report.html
"""


def report(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="Any files of a run: reads, overlaps (.paf, .paf.gz, .parquet), unitigs (.gfa, .gfa.gz), "
            "the JSON files of overlap --stats and layout --stats, the table of correct --table (.tsv, "
            ".tsv.gz), or the folder that assemble wrote. Parts without a file are left out of the page.",
        ),
    ],
    output: Annotated[str, options.output("The page, HTML. - is standard output.")],
    title: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="Heading of the page. By default it says what the page is about.",
            show_default=False,
        ),
    ] = "",
    reference: options.Reference = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Show how a run went, on one page.

    The page shows reads, overlaps, correction, the graph, unitigs or contigs, what every filter
    dropped, and time, memory and parameters, as far as there are files of them. It needs no network.
    """
    check_files({"--output": output, "--log": log}, files)
    check_name(output, "--output", "HTML")
    threads = load_compute(threads=threads)

    from overlapper.report import build_report, read_inputs

    with begun(quiet=quiet, log=log) as (progress, made):
        made.open(output)
        inputs = read_inputs(files, reference=reference, threads=threads, report=progress.report)
        made.write(
            output,
            lambda: build_report(inputs, title=title, threads=threads, report=progress.report),
        )
