"""``overlapper layout``: from overlaps to unitigs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from overlapper.cli import options
from overlapper.cli.config import configured
from overlapper.cli.outputs import OUTPUT, check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import begun, load_compute
from overlapper.runtime.output_stats import stats_beside

if TYPE_CHECKING:
    from overlapper.graph import Assembly
    from overlapper.params.graph import CleanParams, GraphParams
    from overlapper.tables import Overlaps, Reads

EXAMPLES = """
overlapper layout reads.fastq.gz overlaps.paf -o layout.gfa
overlapper layout run1.fq.gz run2.fq.gz overlaps.paf.gz -o layout.gfa --fasta unitigs.fa --table unitigs.tsv
overlapper layout reads.fq minimap2.paf --min-overlap 5k --no-clean --reads-gfa reads.gfa -o layout.gfa
"""


def layout(
    reads: Annotated[
        list[str],
        typer.Argument(
            metavar="READS...",
            help="The reads that the overlaps were found on: FASTA, FASTQ, BAM, CRAM or SAM.",
        ),
    ],
    overlaps: Annotated[
        str,
        typer.Argument(
            metavar="OVERLAPS",
            help="Their overlaps, from overlapper or another program: .paf, .paf.gz or .parquet. - is PAF "
            "on standard input.",
        ),
    ],
    output: Annotated[str, options.output("Unitigs and their links, GFA 1. - is standard output.")] = "-",
    fasta: Annotated[str | None, options.file("Write the sequences of the unitigs as FASTA.")] = None,
    table: Annotated[
        str | None,
        options.file(
            "Write a tab-separated table of the unitigs: length, circular or not, reads, depth and copies."
        ),
    ] = None,
    reads_gfa: Annotated[
        str | None, options.file("Write the cleaned graph of reads as GFA 1, with the unitigs as paths.")
    ] = None,
    keep_contained: Annotated[
        bool,
        typer.Option("--keep-contained", help="Write contained reads and their positions into the GFA."),
    ] = False,
    read_lines: Annotated[
        str | None,
        typer.Option(
            metavar="STYLE",
            help="Write lines that name the reads of each unitig: a, as miniasm does, or A, as hifiasm does.",
        ),
    ] = None,
    min_overlap: options.LayoutOverlap = None,
    min_depth: Annotated[
        int | None,
        typer.Option(
            help="Number of overlaps that must cover a base of a read, or it is trimmed off. 0: do not trim.",
            show_default="3",
        ),
    ] = None,
    max_hang: Annotated[
        int | None,
        options.bases(
            "Longest stretch of unmatched bases at the end of an overlap that is used.", show_default="1000"
        ),
    ] = None,
    no_clean: Annotated[
        bool, typer.Option("--no-clean", help="Do not clean the graph after transitive reduction.")
    ] = False,
    threads: options.Threads = 0,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    stats: options.KeptStats = None,
    reference: options.Reference = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Lay reads out along their overlaps.

    Builds the string graph of the reads, cleans it, and writes its unitigs. Links have CIGARs if the overlaps
    have them. All parameters of the graph and of its cleaning are in the file of --write-config.
    """
    beside = None if stats else stats_beside(output)
    outputs = {
        OUTPUT: output, "--fasta": fasta, "--table": table, "--reads-gfa": reads_gfa,
        "--write-config": write_config, "--stats": stats, "the statistics next to the unitigs": beside,
        "--log": log,
    }  # fmt: skip
    inputs = check_files(outputs, (*reads, overlaps, config, reference))
    check_name(output, "--output", "GFA")
    check_name(fasta, "--fasta", "FASTA")
    threads = load_compute(threads=threads)

    from overlapper.cli.record import Record, keep_stats
    from overlapper.graph.export import check_read_lines
    from overlapper.graph.layout_summary import held_by, no_unitigs, shortest, to_json
    from overlapper.io.writers import check_format
    from overlapper.overlap.read_share import shorter_than
    from overlapper.params.graph import LayoutParams
    from overlapper.params.text import to_toml

    check_format(overlaps)
    check_read_lines(read_lines)
    given = {"graph": {"min_overlap": min_overlap, "min_depth": min_depth, "max_hang": max_hang}}
    params = configured(LayoutParams(), config, given)
    cleaning = None if no_clean else params.clean
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        record = Record(inputs, threads, digests=stats is not None)
        files.open(output, fasta, table, reads_gfa, write_config, stats)
        made = _laid_out(reads, reference, overlaps, params.graph, cleaning, threads, progress)
        of_reads = params.graph.of_reads(made.reads.lengths)
        progress.report("writing")
        contents = _contents(made, keep_contained, read_lines)
        for path, lines in zip((output, fasta, table, reads_gfa), contents, strict=True):
            files.write_lines(path, lines)
        files.write(write_config, lambda: to_toml(params))
        told = partial(to_json, made.assembly, made.reads, made.overlaps, of_reads, cleaning)
        files.write(stats, lambda: told(record.document()))
        files.close()
        if beside:
            keep_stats(beside, told(record.document(output)), progress)
        _tell(progress, made)
        held = held_by(made.assembly, made.reads, made.overlaps)
        pieces = int((~made.assembly.layout.circular).sum())
        poor = held.warnings(shorter_than(made.reads.lengths, of_reads.least_overlap), pieces)
        progress.note(shortest(of_reads), held.sentence(), *poor)
        if not len(made.assembly.layout):
            progress.note(no_unitigs(len(made.overlaps), of_reads))


class _ReadsLaidOut(NamedTuple):
    """A layout, and the reads and overlaps that it is made of."""

    reads: Reads
    overlaps: Overlaps
    assembly: Assembly


def _laid_out(
    reads: list[str],
    reference: str | None,
    overlaps: str,
    params: GraphParams,
    cleaning: CleanParams | None,
    threads: int,
    progress: Progress,
) -> _ReadsLaidOut:
    """Read reads and overlaps, and lay the reads out."""
    from overlapper.graph import assemble
    from overlapper.io.fastx import read_fastx
    from overlapper.io.writers import read_overlaps

    progress.report("reading reads")
    given = read_fastx(*reads, reference=reference, threads=threads)
    progress.report("reading overlaps")
    found = read_overlaps(overlaps, given, threads=threads)
    assembly = assemble(given, found, params, cleaning, threads=threads, report=progress.report)
    return _ReadsLaidOut(given, found, assembly)


def _contents(
    made: _ReadsLaidOut, keep_contained: bool, read_lines: str | None
) -> list[Callable[[], Iterable[str]]]:
    """Return what makes the lines of each file: GFA, FASTA, table, GFA of reads."""
    from overlapper.graph import export

    reads, unitigs = made.reads, made.assembly.layout
    extra: dict[str, Any] = {"overlaps": made.overlaps, "contained": keep_contained}
    return [
        partial(export.unitig_gfa, unitigs, reads, read_lines=read_lines, **extra),
        partial(export.unitig_fasta, unitigs, reads),
        partial(export.unitig_table, unitigs),
        partial(export.read_gfa, made.assembly.graph, reads, layout=unitigs, **extra),
    ]


def _tell(progress: Progress, made: _ReadsLaidOut) -> None:
    progress.note(f"{len(made.reads):>15,} reads")
    progress.note(f"{len(made.overlaps):>15,} overlaps")
    for step, counts in made.assembly.counts.items():
        progress.counts(counts, f"{step}:")
    if len(lengths := made.assembly.layout.lengths):
        progress.note(f"{lengths.sum():>15,} bases in unitigs")
        progress.note(f"{lengths[0]:>15,} bases in the longest")
