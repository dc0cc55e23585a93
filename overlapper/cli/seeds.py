"""``overlapper seeds``: exact matches of reads in a text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli.options import GpuMemory, Log, Quiet, ReadFiles, Reference, Stats, Threads, Verbose
from overlapper.cli.outputs import check_outputs
from overlapper.cli.progress import Progress, compile_notice
from overlapper.errors import ParameterError, require

if TYPE_CHECKING:
    import numpy as np

    from overlapper.index import FixedSeeds, Index
    from overlapper.kernels.text.match_formatting import MatchRows
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Matches, Reads

EXAMPLES = """
overlapper seeds reference.fasta reads.fastq.gz --kind smem --min-length 19 -o smems.tsv
overlapper seeds reference.index reads.fastq.gz --kind mem -o mems.parquet
overlapper seeds reference.fasta kmers.fasta --kind fixed --min-length 24 --mismatches 2 -o seeds.paf.gz
"""

COMPILE_SECONDS = 30
KINDS = ("mem", "smem", "nov-smem", "fixed")
HIT_LIMIT = 128
DROPPED_HEAD = b"query\tq_start\tq_end\tmatches\n"
_BASES_AT_ONCE = 1 << 26
"""Bases of the reads that are searched, and their matches written, together."""
_MATCHES_A_BASE, _LEAST_MATCHES = 10, 10_000_000
"""What --max-matches is by default: yeast reads of 10 % errors have .2 a base in their own genome (mem)."""


def seeds(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="What is searched: reads or references, or a file that overlapper index wrote.",
        ),
    ],
    reads: ReadFiles,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Matches: .tsv, .tsv.gz, .paf, .paf.gz or .parquet; - is TSV on standard output.",
        ),
    ] = "-",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="mem: maximal matches; smem: those within no longer one; nov-smem: longest ones end to end; "
            "fixed: all windows of one length.",
        ),
    ] = "smem",
    min_length: Annotated[
        int, typer.Option("--min-length", "-l", help="Shortest match; with fixed, the length of all.")
    ] = 20,
    mismatches: Annotated[int, typer.Option(help="With fixed: most mismatches of a match, 0 to 2.")] = 0,
    hit_limit: Annotated[
        int | None, typer.Option(help="With fixed: drop seeds that have more matches (default 128).")
    ] = None,
    max_matches: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With mem, smem and nov-smem: end with an error if there are more matches, as reads and a "
            "text of the same repeat have (default: 10 for each base of the reads, 10,000,000 at least).",
        ),
    ] = None,
    dropped: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With fixed: write the dropped seeds and their matches, a table."),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Use this index, which must be that of TEXT, instead of building one."
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            metavar="DEVICE",
            help="cpu, cuda (all GPUs), cuda:0,2 (some), or auto: GPUs if there are any. Never changes the "
            "result.",
        ),
    ] = "auto",
    gpu_memory: GpuMemory = 0,
    stats: Stats = None,
    reference: Reference = None,
    threads: Threads = 0,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log: Log = None,
) -> None:
    """Find where reads match a text exactly, on both strands.

    All places of every match are reported. Unknown bases match nothing, and no match crosses the border of a
    sequence.
    """
    _check_kind(kind, min_length, mismatches, hit_limit, max_matches, dropped)
    inputs = [path for path in (text, *reads, index, reference) if path is not None]
    outputs = {
        "--output (standard output by default)": output,
        "--dropped": dropped,
        "--stats": stats,
        "--log": log,
    }
    check_outputs(outputs, inputs)

    from overlapper.runtime.compile.startup import load_numba

    load_numba()

    import numpy as np

    from overlapper.cli.record import Record
    from overlapper.io import read_fastx
    from overlapper.io.matches import check_matches_format, open_matches
    from overlapper.io.outputs import OutputFile, write_text
    from overlapper.kernels.text.paf_formatting import Names
    from overlapper.runtime.gpu.devices import select_devices
    from overlapper.runtime.threads import available_threads, cut_evenly

    check_matches_format(output)
    devices = select_devices(device)
    threads = threads or available_threads()
    with (
        Progress(quiet, verbose=verbose, log=log) as progress,
        compile_notice(progress, COMPILE_SECONDS),
        ExitStack() as files,
    ):
        record = Record(inputs, threads) if stats else None
        dropped_file = files.enter_context(OutputFile(dropped)) if dropped else None
        if dropped_file:
            dropped_file.write(DROPPED_HEAD)
        progress.report("preparing the index")
        searched = _index_of(text, index, threads)
        search = _searches(searched, devices, gpu_memory, threads)[kind]
        progress.report("reading")
        table = read_fastx(*reads, reference=reference, threads=threads)
        names = Names(table.name_bytes, table.name_offsets, table.lengths)
        label = searched.text
        targets = Names(label.name_bytes, label.name_offsets, label.lengths)
        writer = files.enter_context(open_matches(output, names, targets, threads=threads))
        most = max_matches or max(_LEAST_MATCHES, _MATCHES_A_BASE * int(table.lengths.sum()))
        found = dropped_count = 0
        bounds = cut_evenly(table.lengths, _BASES_AT_ONCE).tolist()
        for first, last in pairwise(bounds):
            progress.report("searching", first, len(table))
            block = table if (first, last) == (0, len(table)) else table.take(np.arange(first, last))
            if kind == "fixed":
                fixed = search(block, min_length, mismatches=mismatches, hit_limit=hit_limit or HIT_LIMIT)
                writer.write(_placed(searched, fixed.matches, first, fixed.mismatches))
                if dropped_file:
                    dropped_file.write(_dropped_lines(fixed, block, min_length))
                found += len(fixed.matches)
                dropped_count += len(fixed.dropped_query)
            else:
                matches = _limited(search, block, min_length, most, found)
                writer.write(_placed(searched, matches, first))
                found += len(matches)
        files.close()
        counts = {"reads": len(table)}
        if kind == "fixed":
            counts["seeds dropped: more matches than --hit-limit"] = dropped_count
        counts["matches"] = found
        if stats and record:
            params = {"kind": kind, "min_length": min_length, "mismatches": mismatches}
            facts = {"counts": counts, "devices": [device.name for device in devices], "params": params}
            write_text(stats, record.to_json(facts))
        progress.counts(counts)
        if not found:
            progress.note("no match: try a lower --min-length" + " or more --mismatches" * (kind == "fixed"))


def _check_kind(
    kind: str,
    min_length: int,
    mismatches: int,
    hit_limit: int | None,
    max_matches: int | None,
    dropped: str | None,
) -> None:
    """Refuse options that the kind does not take, before any file is read."""
    if kind not in KINDS:
        raise ParameterError(f"kind is {kind!r}, expected one of {', '.join(KINDS)}")
    require(min_length >= 1, "min-length", min_length, "1 or more")
    if not 0 <= mismatches <= 2:
        raise ParameterError(f"mismatches is {mismatches}, expected 0 to 2")
    for name, limit in (("hit-limit", hit_limit), ("max-matches", max_matches)):
        require(limit is None or limit >= 1, name, limit, "1 or more")
    if kind != "fixed" and (mismatches or hit_limit is not None or dropped):
        raise typer.BadParameter("--mismatches, --hit-limit and --dropped need --kind fixed")
    if kind == "fixed" and max_matches is not None:
        raise typer.BadParameter("--max-matches needs --kind mem, smem or nov-smem: --hit-limit bounds fixed")


def _index_of(text: str, index: str | None, threads: int) -> Index:
    """Load the index that was named, or build that of a text."""
    from overlapper.index import Index
    from overlapper.index.store import is_index
    from overlapper.io import read_fastx

    if is_index(text):
        if index:
            raise typer.BadParameter(f"{text} is an index itself: name the text, or leave out --index")
        return Index.load(text, threads=threads)
    table = read_fastx(text)
    if index:
        return Index.load(index, text=table, threads=threads)
    return Index.build(table, threads=threads)


def _searches(
    searched: Index, devices: list[Device], gpu_memory: int, threads: int
) -> dict[str, Callable[..., Any]]:
    """Return the searches by kind, on the CPU or on GPUs."""
    numbers = [device.number for device in devices if device.name != "cpu"]
    asked: Any = searched
    options: dict[str, Any] = {"threads": threads}
    if numbers:
        from overlapper.index.gpu import GpuIndex

        asked, options = GpuIndex(searched, numbers, memory=gpu_memory), {}
    kinds = (asked.mems, asked.smems, asked.nov_smems, asked.fixed_seeds)
    return {kind: partial(search, **options) for kind, search in zip(KINDS, kinds, strict=True)}


def _limited(
    search: Callable[..., Matches], block: Reads, min_length: int, most: int, before: int
) -> Matches:
    """Search some reads, and refuse more matches than are allowed, with those of the reads before."""
    from overlapper.index.limits import TooManyMatchesError

    try:
        return search(block, min_length, most=most - before)
    except TooManyMatchesError:
        raise ParameterError(
            f"there are more than {most:,} matches, expected at most so many: the reads repeat what the text "
            "repeats. Give a higher --min-length or --max-matches, or --kind fixed, which drops frequent "
            "seeds"
        ) from None


def _placed(searched: Index, matches: Matches, first: int, mismatches: np.ndarray | None = None) -> MatchRows:
    """Return matches with places in sequences; their queries are numbered from ``first`` on."""
    import numpy as np

    from overlapper.kernels.text.match_formatting import MatchRows

    target, t_start = searched.place(matches.t_start)
    if mismatches is None:
        mismatches = np.zeros(len(matches), np.uint8)
    return MatchRows(
        query=(matches.query + np.int32(first)),
        q_start=matches.q_start,
        target=target.astype(np.int32),
        t_start=t_start,
        length=matches.length,
        reverse=matches.reverse,
        mismatches=mismatches,
    )


def _dropped_lines(fixed: FixedSeeds, block: Reads, length: int) -> bytes:
    rows = zip(fixed.dropped_query, fixed.dropped_start, fixed.dropped_hits, strict=True)
    return "".join(
        f"{block.name(query)}\t{start}\t{start + length}\t{hits}\n" for query, start, hits in rows
    ).encode()
