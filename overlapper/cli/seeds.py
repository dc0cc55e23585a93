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
from overlapper.cli.run_files import begun, load_compute
from overlapper.errors import ParameterError, require

if TYPE_CHECKING:
    from overlapper.index import Index
    from overlapper.kernels.text.match_formatting import MatchRows
    from overlapper.runtime.gpu.devices import Device
    from overlapper.tables import Matches, Reads

    Search = Callable[..., Any]
    Write = Callable[[Matches, int], None]

EXAMPLES = """
overlapper seeds reference.fasta reads.fastq.gz --kind smem --min-length 19 -o smems.tsv
overlapper seeds reference.index reads.fastq.gz --kind mem -o mems.tsv.gz
"""

KINDS = ("mem", "smem", "nov-smem")
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
        str, options.output("Matches: .tsv, .tsv.gz, .paf or .paf.gz. - is TSV on standard output.")
    ] = "-",
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            metavar="KIND",
            help="mem: maximal exact matches. smem: those that lie within no longer one on the read. "
            "nov-smem: longest matches one after another.",
        ),
    ] = "smem",
    min_length: Annotated[int, options.bases("Length of the shortest match.", "--min-length", "-l")] = 20,
    max_matches: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Stop with an error if there are more matches than this. "
            "Repeats in both reads and text cause very many (default: 10 per base of the reads, at "
            "least 10,000,000).",
        ),
    ] = None,
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
    _check_kind(kind, min_length, max_matches)
    outputs = {OUTPUT: output, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (text, *reads, reference))
    threads = load_compute(device, threads)

    from overlapper.cli.record import Record
    from overlapper.io import read_fastx
    from overlapper.io.matches import ENDINGS
    from overlapper.io.outputs import check_format
    from overlapper.runtime.gpu.devices import select_devices

    check_format(output, ENDINGS)
    devices = select_devices(device)
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        record = Record(inputs, threads, digests=stats is not None)
        files.open(stats)
        progress.report("preparing the index")
        searched = _index_of(text, threads)
        search = _searches(searched, devices, gpu_memory, threads)[kind]
        progress.report("reading")
        table = read_fastx(*reads, reference=reference, threads=threads)
        writer = files.enter_context(_open_placed(output, table, searched, threads))
        most = max_matches or max(_LEAST_MATCHES, _MATCHES_A_BASE * table.total_bases)
        found = _write_matches(search, _blocks(table, progress), min_length, most, writer)
        counts = {"reads": len(table), "matches": found}
        facts = {
            "counts": counts, "devices": [device.name for device in devices],
            "params": {"kind": kind, "min_length": min_length},
        }  # fmt: skip
        files.write(stats, lambda: record.to_json(facts))
        files.close()
        progress.counts(counts)
        if not counts["matches"]:
            progress.note("no match: try a lower --min-length")


def _check_kind(kind: str, min_length: int, max_matches: int | None) -> None:
    """Refuse values that are out of range before any file is read."""
    if kind not in KINDS:
        raise ParameterError(f"kind is {kind!r}, expected one of {', '.join(KINDS)}")
    require(min_length >= 1, "min-length", min_length, "1 or more")
    require(max_matches is None or max_matches >= 1, "max-matches", max_matches, "1 or more")


def _index_of(text: str, threads: int) -> Index:
    """Load an index, or build that of a text."""
    from overlapper.index import Index
    from overlapper.index.store import is_index
    from overlapper.io import read_fastx

    if is_index(text):
        return Index.load(text, threads=threads)
    return Index.build(read_fastx(text), threads=threads)


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
    kinds = (asked.mems, asked.smems, asked.nov_smems)
    return {kind: partial(search, **how) for kind, search in zip(KINDS, kinds, strict=True)}


@contextmanager
def _open_placed(output: str, reads: Reads, searched: Index, threads: int) -> Iterator[Write]:
    """Open the output for matches in a text, whose queries are numbered from a given one on."""
    from overlapper.io.matches import open_matches
    from overlapper.kernels.text.paf_formatting import Names

    names, targets = (
        Names(table.name_bytes, table.name_offsets, table.lengths) for table in (reads, searched.text)
    )
    with open_matches(output, names, targets, threads=threads) as write:
        yield lambda matches, first: write(_placed(searched, matches, first))


def _blocks(table: Reads, progress: Progress) -> Iterator[tuple[int, Reads]]:
    """Yield the reads that are searched together, and the number of the first of them."""
    import numpy as np

    from overlapper.runtime.threads import even_ranges

    for first, last in even_ranges(table.lengths, _BASES_AT_ONCE):
        progress.report("searching", first, len(table))
        yield first, table if (first, last) == (0, len(table)) else table.take(np.arange(first, last))


def _write_matches(
    search: Search, blocks: Iterable[tuple[int, Reads]], min_length: int, most: int, write: Write
) -> int:
    """Write the matches of all reads; return how many there are, of which more than ``most`` are refused."""
    from overlapper.index.limits import TooManyMatchesError

    found = 0
    for first, block in blocks:
        try:
            matches = search(block, min_length, most=most - found)
        except TooManyMatchesError:
            raise ParameterError(
                f"there are more than {most:,} matches, expected at most so many: the reads repeat what the "
                "text repeats. Give a higher --min-length or --max-matches"
            ) from None
        write(matches, first)
        found += len(matches)
    return found


def _placed(searched: Index, matches: Matches, first: int) -> MatchRows:
    """Return matches with places in sequences; their queries are numbered from ``first`` on."""
    import numpy as np

    from overlapper.kernels.text.match_formatting import MatchRows

    target, t_start = searched.place(matches.t_start)
    return MatchRows(
        query=(matches.query + np.int32(first)),
        q_start=matches.q_start,
        target=target.astype(np.int32),
        t_start=t_start,
        length=matches.length,
        reverse=matches.reverse,
    )
