"""``overlapper index``: an index of exact matches, built once and kept."""

from __future__ import annotations

from typing import Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import begun, load_compute
from overlapper.runtime.messages import counted

EXAMPLES = """
overlapper index reference.fasta.gz -o reference.index
overlapper index reads.fastq.gz --sample-rate 32 -o reads.index
"""


def index(
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Sequences to index: FASTA, FASTQ, BAM, CRAM or SAM, plain or compressed. - is standard "
            "input.",
        ),
    ],
    output: Annotated[str, options.output("File for the index, which overlapper seeds reads.")],
    sample_rate: Annotated[
        int,
        typer.Option(
            help="Keep one of N values of the suffix array; N is a power of two. A higher N makes the "
            "index smaller and the search for positions slower."
        ),
    ] = 8,
    threads: options.Threads = 0,
    stats: options.Stats = None,
    reference: options.Reference = None,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Build an index of exact matches and keep it in a file.

    The file takes 1.25 + 8 / N bytes per base, N being the sample rate.
    """
    inputs = check_files({"--output": output, "--stats": stats, "--log": log}, (*text, reference))
    threads = load_compute(threads=threads)

    from overlapper.cli.record import Record
    from overlapper.index import Index, store
    from overlapper.index.limits import check_sample_rate
    from overlapper.io import read_fastx

    check_sample_rate(sample_rate)
    with begun(quiet=quiet, log=log) as (progress, files):
        files.open(stats)
        record = Record(inputs, threads, digests=stats is not None)
        with store.open_index(output) as file:
            progress.report("reading")
            table = read_fastx(*text, reference=reference, threads=threads)
            progress.report("building")
            built = Index.build(table, sample_rate=sample_rate, threads=threads)
            progress.report("writing")
            store.write(file, built.fm, built.text)
        facts = {
            "counts": {"sequences": len(table), "bases": table.total_bases},
            "params": {"sample_rate": sample_rate},
        }
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.note(f"{counted(len(table), 'sequence')}, {counted(table.total_bases, 'base')}")
