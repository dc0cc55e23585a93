"""``overlapper convert``: overlaps from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from overlapper.cli import options
from overlapper.cli.outputs import check_files
from overlapper.cli.run_files import begun, load_compute

if TYPE_CHECKING:
    from overlapper.tables import Overlaps, Reads

EXAMPLES = """
overlapper convert overlaps.paf.gz overlaps.parquet
overlapper convert overlaps.paf by_target.paf --both-sides --group-by target
"""


def convert(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Overlaps: .paf, .paf.gz or .parquet.")],
    output: Annotated[
        str | None,
        typer.Argument(metavar="[OUTPUT]", help="Output file; its name says in which of these formats."),
    ] = None,
    named_output: Annotated[
        str | None, options.output("The same as OUTPUT. - is PAF on standard output.")
    ] = None,
    reads: Annotated[
        list[str] | None,
        options.file(
            "File of the reads; may be repeated. It sets the numbers of the reads. Without it, reads are "
            "numbered in the order in which the PAF file names them."
        ),
    ] = None,
    both_sides: options.BothSides = False,
    group_by: options.GroupBy = None,
    stats: options.Stats = None,
    reference: options.Reference = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Convert overlaps between PAF and Parquet."""
    if (output is None) == (named_output is None):
        raise typer.BadParameter("name one output: OUTPUT, or --output")
    output = output or named_output or ""
    outputs = {"OUTPUT": output, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (source, *(reads or []), reference))
    threads = load_compute(threads=threads)

    from overlapper.cli.record import Record
    from overlapper.io.fastx import read_fastx
    from overlapper.io.sided import open_sided
    from overlapper.io.writers import check_format

    for path in (source, output):
        check_format(path)
    sides = options.checked_sides(both_sides, group_by, output)
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        files.open(stats)
        record = Record(inputs, threads, digests=stats is not None)
        progress.report("reading")
        table = read_fastx(*reads, reference=reference, threads=threads) if reads else None
        overlaps, named, counts = _read(source, table, threads)
        progress.report("writing")
        with open_sided(output, named, **sides, threads=threads) as writer:
            writer.write(overlaps)
        files.write(stats, lambda: record.to_json({"counts": counts, "params": {"reads": reads or []}}))
        files.close()
        progress.counts(counts)


def _read(path: str, reads: Reads | None, threads: int) -> tuple[Overlaps, Reads, dict[str, int]]:
    """Return overlaps, the reads that they number, and what there is to count."""
    from overlapper.io.writers import read_overlaps, reads_named

    reads = reads_named(path) if reads is None else reads
    overlaps = read_overlaps(path, reads, threads=threads)
    once = overlaps.distinct()
    counts = {
        "reads": len(reads),
        "overlaps": len(once),
        "lines that repeat another one left out": len(overlaps) - len(once),
    }
    return once, reads, counts
