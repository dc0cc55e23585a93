"""``overlapper seeds``: exact matches of reads in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_files
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, begun, load_compute
from overlapper.errors import ParameterError, require

if TYPE_CHECKING:
    import numpy as np

    from overlapper.index import FixedSeeds, Index
    from overlapper.kernels.text.match_formatting import MatchRows
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Matches, Reads

    Search = Callable[..., Any]
    Write = Callable[[Matches, int, np.ndarray | None], None]

EXAMPLES = """
overlapper seeds reference.fasta reads.fastq.gz --kind smem --min-length 19 -o smems.tsv
overlapper seeds reference.index reads.fastq.gz --kind mem -o mems.parquet
overlapper seeds reference.fasta kmers.fasta --kind fixed --min-length 24 --mismatches 2 -o seeds.paf.gz
"""

KINDS = ("mem", "smem", "nov-smem", "fixed")
HIT_LIMIT = 128
DROPPED_HEAD = "query\tq_start\tq_end\tmatches\n"
_BASES_AT_ONCE = 1 << 26
"""Bases of the reads that are searched, and their matches written, together."""
_MATCHES_A_BASE, _LEAST_MATCHES = 10, 10_000_000
"""What --max-matches is by default: yeast reads of 10 % errors have .2 a base in their own genome (mem)."""


def seeds(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="Sequences to search in: reads or references, or an index that overlapper index wrote.",
        ),
    ],
    reads: options.ReadFiles,
    output: Annotated[
        str, options.output("Matches: .tsv, .tsv.gz, .paf, .paf.gz or .parquet. - is TSV on standard output.")
    ] = "-",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="mem: maximal exact matches. smem: those that lie within no longer one on the read. "
            "nov-smem: longest matches one after another. fixed: all windows of one length.",
        ),
    ] = "smem",
    min_length: Annotated[
        int,
        options.bases(
            "Length of the shortest match. With fixed: length of every match.", "--min-length", "-l"
        ),
    ] = 20,
    mismatches: Annotated[
        int, typer.Option(help="With fixed: largest number of mismatches in a match, 0 to 2.")
    ] = 0,
    hit_limit: Annotated[
        int | None, typer.Option(help="With fixed: drop seeds that have more matches (default 128).")
    ] = None,
    max_matches: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With mem, smem and nov-smem: stop with an error if there are more matches than this. "
            "Repeats in both reads and text cause very many (default: 10 per base of the reads, at "
            "least 10,000,000).",
        ),
    ] = None,
    dropped: Annotated[
        str | None,
        options.file("With fixed: write a table of the dropped seeds and how many matches each has."),
    ] = None,
    index: Annotated[str | None, options.file("Use this index of TEXT instead of building one.")] = None,
    device: Annotated[
        str,
        options.device(
            "cpu, cuda (all GPUs), cuda:0,2 (some GPUs), or auto, which takes GPUs if there are any. Never "
            "changes the result."
        ),
    ] = "auto",
    gpu_memory: options.GpuMemory = 0,
    stats: options.Stats = None,
    reference: options.Reference = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Find where reads match a text exactly, on both strands.

    All places of every match are reported. Unknown bases match nothing, and no match crosses the end of a
    sequence.
    """
    _check_kind(kind, min_length, mismatches, hit_limit, max_matches, dropped)
    outputs = {OUTPUT: output, "--dropped": dropped, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (text, *reads, index, reference))
    load_compute(device)

    from overlapper.cli.record import Record
    from overlapper.io import read_fastx
    from overlapper.io.matches import ENDINGS
    from overlapper.io.outputs import check_format
    from overlapper.runtime.gpu.devices import select_devices
    from overlapper.runtime.threads import available_threads

    check_format(output, ENDINGS)
    devices = select_devices(device)
    threads = threads or available_threads()
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        record = Record(inputs, threads, digests=stats is not None)
        files.open(dropped, stats)
        progress.report("preparing the index")
        searched = _index_of(text, index, threads)
        search = _searches(searched, devices, gpu_memory, threads)[kind]
        progress.report("reading")
        table = read_fastx(*reads, reference=reference, threads=threads)
        writer = files.enter_context(_open_placed(output, table, searched, threads))
        blocks = _blocks(table, progress)
        if kind == "fixed":
            search = partial(search, mismatches=mismatches, hit_limit=hit_limit or HIT_LIMIT)
            counts = _write_seeds(search, blocks, min_length, writer, files, dropped)
        else:
            most = max_matches or max(_LEAST_MATCHES, _MATCHES_A_BASE * table.total_bases)
            counts = _write_matches(search, blocks, min_length, most, writer)
        counts = {"reads": len(table), **counts}
        facts = {
            "counts": counts, "devices": [device.name for device in devices],
            "params": {"kind": kind, "min_length": min_length, "mismatches": mismatches},
        }  # fmt: skip
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts(counts)
        if not counts["matches"]:
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
    how: dict[str, Any] = {"threads": threads}
    if numbers:
        from overlapper.index.gpu import GpuIndex

        asked, how = GpuIndex(searched, numbers, memory=gpu_memory), {}
    kinds = (asked.mems, asked.smems, asked.nov_smems, asked.fixed_seeds)
    return {kind: partial(search, **how) for kind, search in zip(KINDS, kinds, strict=True)}


@contextmanager
def _open_placed(output: str, reads: Reads, searched: Index, threads: int) -> Iterator[Write]:
    """Open the output for matches in a text, whose queries are numbered from a given one on."""
    from overlapper.io.matches import open_matches
    from overlapper.kernels.text.paf_formatting import Names

    names, targets = (
        Names(table.name_bytes, table.name_offsets, table.lengths) for table in (reads, searched.text)
    )
    with open_matches(output, names, targets, threads=threads) as writer:
        yield lambda matches, first, mismatches: writer.write(_placed(searched, matches, first, mismatches))


def _blocks(table: Reads, progress: Progress) -> Iterator[tuple[int, Reads]]:
    """Yield the reads that are searched together, and the number of the first of them."""
    import numpy as np

    from overlapper.runtime.threads import even_ranges

    for first, last in even_ranges(table.lengths, _BASES_AT_ONCE):
        progress.report("searching", first, len(table))
        yield first, table if (first, last) == (0, len(table)) else table.take(np.arange(first, last))


def _write_matches(
    search: Search, blocks: Iterable[tuple[int, Reads]], min_length: int, most: int, write: Write
) -> dict[str, int]:
    """Write the matches of all reads; return how many there are, of which more than ``most`` are refused."""
    from overlapper.index.limits import TooManyMatchesError

    found = 0
    for first, block in blocks:
        try:
            matches = search(block, min_length, most=most - found)
        except TooManyMatchesError:
            raise ParameterError(
                f"there are more than {most:,} matches, expected at most so many: the reads repeat what the "
                "text repeats. Give a higher --min-length or --max-matches, or --kind fixed, which drops "
                "frequent seeds"
            ) from None
        write(matches, first, None)
        found += len(matches)
    return {"matches": found}


def _write_seeds(
    search: Search,
    blocks: Iterable[tuple[int, Reads]],
    length: int,
    write: Write,
    files: RunFiles,
    dropped: str | None,
) -> dict[str, int]:
    """Write the matches of seeds of one length, and the seeds that are dropped; return how many there are."""
    found = dropped_count = 0
    files.write(dropped, lambda: DROPPED_HEAD)
    for first, block in blocks:
        seeds = search(block, length)
        write(seeds.matches, first, seeds.mismatches)
        files.write(dropped, partial(_dropped_lines, seeds, block, length))
        found += len(seeds.matches)
        dropped_count += len(seeds.dropped_query)
    return {"seeds dropped: more matches than --hit-limit": dropped_count, "matches": found}


def _placed(searched: Index, matches: Matches, first: int, mismatches: np.ndarray | None) -> MatchRows:
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


def _dropped_lines(fixed: FixedSeeds, block: Reads, length: int) -> str:
    rows = zip(fixed.dropped_query, fixed.dropped_start, fixed.dropped_hits, strict=True)
    return "".join(f"{block.name(query)}\t{start}\t{start + length}\t{hits}\n" for query, start, hits in rows)
