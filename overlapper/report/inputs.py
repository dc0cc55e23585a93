"""The files that a report is made from, told apart by the ending of their names."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from overlapper.correction.changes import Changes
from overlapper.errors import FormatError, InputError, ParameterError
from overlapper.graph.gfa import Gfa, read_gfa
from overlapper.io.fastx import read_fastx
from overlapper.io.read_filter import ReadFilter
from overlapper.io.writers import FORMATS, read_overlaps, reads_named
from overlapper.report.assembly import AssemblyFolder, read_assembly
from overlapper.report.correction import read_changes
from overlapper.report.stats import LAYOUT, RUN, Each, Maybe, misfit, read_json
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.output_stats import size_of, stats_beside
from overlapper.tables import Overlaps, Reads

_GFA = (".gfa", ".gfa.gz")
_JSON = ".json"
_TSV = (".tsv", ".tsv.gz")
_FILTERS: dict[str, Any] = {"min_length": int, "min_quality": float, "no_duplex_parents": bool}
_OF_ALL = {
    "version": str, "params": dict, "seconds": Each(float), "memory": Maybe(Each(float)), "run": Maybe(RUN),
}  # fmt: skip
_OWN: dict[str, dict[str, Any]] = {
    "overlap": {"funnel": Each(float), "chosen": str, "devices": Maybe(list)},
    "layout": {**LAYOUT, "unitigs": dict},
}
"""What the files of commands hold: what all have, and by command what is its own."""


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The content of the files of a report; None for those that were not given.

    Attributes
    ----------
    files : sequence of str
    reads : Reads, optional
        With their qualities.
    overlaps : Overlaps, optional
    named : Reads, optional
        The reads that the overlaps number: those above (of assemblies, without adapters), or else names
        and lengths from the overlaps.
    gfa : Gfa, optional
    runs : mapping of str to mapping
        Version, parameters and seconds of commands, by their name.
    funnel : mapping, optional
        What the filters of ``overlap`` took.
    layout : mapping, optional
        Counts of ``layout``, and sizes of the graph.
    assembly : AssemblyFolder, optional
    changes : Changes, optional
        What correction made of each read.
    """

    files: Sequence[str]
    reads: Reads | None = None
    overlaps: Overlaps | None = None
    named: Reads | None = None
    gfa: Gfa | None = None
    runs: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    funnel: Mapping[str, Any] | None = None
    layout: Mapping[str, Any] | None = None
    assembly: AssemblyFolder | None = None
    changes: Changes | None = None


def read_inputs(
    files: Sequence[str],
    *,
    reference: str | None = None,
    threads: int = 1,
    report: Report = unreported,
) -> Inputs:
    """Read files: overlaps, GFA, JSON and tables by the ending of the name, all others as reads.

    A folder is read as one of ``overlapper assemble``; ``reference`` is that of CRAM files of reads. What
    ``overlap`` and ``layout`` kept next to their output is read with it, unless other statistics are given.

    Raises
    ------
    ParameterError
        When a kind of file is there twice that can be there once.
    InputError
        When a file cannot be read, or is not what its name says.
    """
    kinds: dict[str, list[str]] = {
        "reads": [], "overlaps": [], "GFA": [], "JSON": [], "changes": [], "assemblies": []
    }  # fmt: skip
    for path in files:
        kinds[_kind_of(path)].append(path)
    for kind in ("overlaps", "changes"):
        _check_one(kinds[kind], f"files of {kind}")
    _check_one(kinds["assemblies"], "folders of assemblies")
    assembly = read_assembly(kinds["assemblies"][0]) if kinds["assemblies"] else None
    runs: dict[str, Mapping[str, Any]] = {"assemble": assembly.run} if assembly else {}
    for path in kinds["JSON"]:
        command, run = read_stats(path)
        if command in runs:
            raise ParameterError(f"{path} is a second file of overlapper {command} --stats: give one")
        runs[command] = run
    beside = []
    for command, written in (("overlap", kinds["overlaps"]), ("layout", kinds["GFA"])):
        if written and command not in runs and (kept := _kept_beside(written[0], command)):
            path, runs[command] = kept
            beside.append(path)
    report("reading reads", 0, 0)
    left_out = _filter_of(runs.get("overlap") or runs.get("assemble") or {})
    asked: dict[str, Any] = {"keep_qualities": True, "reference": reference, "threads": threads, **left_out}
    reads = read_fastx(*kinds["reads"], **asked) if kinds["reads"] else None
    named, overlaps = reads, None
    for path in kinds["overlaps"]:
        report("reading overlaps", 0, 0)
        named = reads_named(path) if named is None else named
        # Files may have both sides of each overlap, which is one overlap.
        overlaps = read_overlaps(path, named, threads=threads).distinct()
    if assembly and reads and overlaps is None:
        named, overlaps = assembly.overlaps(reads)
    graphs = kinds["GFA"] + (assembly.graphs if assembly else [])
    _check_one(graphs, "files of GFA")
    return Inputs(
        [*files, *beside], reads, overlaps, named,
        gfa=read_gfa(graphs[0]) if graphs else None,
        runs=runs,
        funnel=runs.get("overlap") or (assembly.funnel if assembly else None),
        layout=runs.get("layout") or (assembly.layout if assembly else None),
        assembly=assembly,
        changes=read_changes(kinds["changes"][0]) if kinds["changes"] else None,
    )  # fmt: skip


def _kept_beside(output: str, command: str) -> tuple[str, Mapping[str, Any]] | None:
    """Return path and content of the statistics beside an output, if they are of the run that wrote it.

    They were not asked for: what is there in their place, or damaged, is left alone.
    """
    path = stats_beside(output)
    if not path or not os.path.isfile(path):
        return None
    with contextlib.suppress(InputError):
        of_command, run = read_stats(path)
        written = run.get("run", {}).get("output", {}).get("bytes")
        if (of_command, written) == (command, size_of(output)):
            return path, run
    return None


def _filter_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return which reads a run left out, as `read_fastx` takes it: what is reported is what the run saw."""
    given = run.get("run", {}).get("read_filter", {})
    known = {name: kind(given.get(name, 0)) for name, kind in _FILTERS.items()}
    return dataclasses.asdict(ReadFilter(**known))


def _check_one(paths: Sequence[str], what: str) -> None:
    if len(paths) > 1:
        raise ParameterError(f"{' and '.join(paths)} are both {what}: give one, and make a report of each")


def read_stats(path: str) -> tuple[str, Mapping[str, Any]]:
    """Return which command wrote a file, ``overlap`` or ``layout``, and what it holds.

    Raises
    ------
    FormatError
        When the file is from neither.
    """
    remedy = "Give a file that overlapper overlap --stats or layout --stats wrote."
    stats = read_json(path, remedy)
    marks = {"chosen": "overlap", "unitigs": "layout"}
    command = next((marks[name] for name in marks if isinstance(stats, dict) and name in stats), None)
    if command is None:
        raise FormatError("holds no counts of a run", file=path, remedy=remedy)
    if problem := misfit(stats, _OF_ALL | _OWN[command]):
        raise FormatError(f"is damaged: {problem}", file=path, remedy=remedy)
    return command, stats


def _kind_of(path: str) -> str:
    if path.endswith(tuple(FORMATS)):
        return "overlaps"
    if os.path.isdir(path):
        return "assemblies"
    if path.endswith(_GFA):
        return "GFA"
    if path.endswith(_TSV):
        return "changes"
    return "JSON" if path.endswith(_JSON) else "reads"
