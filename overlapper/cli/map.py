"""``overlapper map``: where reads lie on a reference."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Annotated

import typer

from overlapper.cli import options
from overlapper.cli.config import configured
from overlapper.cli.footer import words_called
from overlapper.cli.outputs import OUTPUT, check_files
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import begun, load_compute

if TYPE_CHECKING:
    from overlapper.io.fastx import FastxParts
    from overlapper.io.mappings import MappingOptions
    from overlapper.mapping.mapper import BatchMapper
    from overlapper.params.mapping import MapParams
    from overlapper.runtime.clock import Clock

EXAMPLES = r"""
overlapper map reference.fasta reads.fastq.gz --preset ont -o mappings.paf.gz
overlapper map reference.fasta reads.fastq.gz -p hifi --read-group "ID:x\tSM:y" --sort --index -o o.bam
overlapper map reference.fasta short.fastq.gz -p short --seeder nov-smem --extender local -o out.sam
"""

PART_BASES = 1 << 22
"""Bases of the reads that are read at a time; several times as many are held while they are mapped."""


def _parse_secondary(text: str) -> int | None:
    if text in ("no", "yes"):
        return 0 if text == "no" else None
    if not str(text).isdecimal():
        raise typer.BadParameter(f"{text} is not a number of 0 or more, nor no")
    return int(text)


def map(
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="FASTA, plain or compressed. - is standard input.")
    ],
    reads: options.ReadFiles,
    output: Annotated[
        str, options.output("Mappings: .paf, .paf.gz, .sam, .sam.gz or .bam. - is PAF on standard output.")
    ] = "-",
    preset: Annotated[
        str,
        options.preset(
            "ont, clr, hifi or short (reads of a few hundred bases). The names that minimap2 uses work, too.",
            "-x",
        ),
    ] = "ont",
    min_length: options.MinLength = 0,
    min_quality: options.MinQuality = 0.0,
    no_duplex_parents: options.NoDuplexParents = False,
    seeder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How seeds are found: minimizers, smem or nov-smem.",
        ),
    ] = None,
    extender: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How reads are aligned: edits, global, semi-global, local, blast, xdrop or gact.",
        ),
    ] = None,
    kmer_length: Annotated[
        int | None, typer.Option("--kmer-length", "-k", help="Length of minimizers in bases.")
    ] = None,
    window: Annotated[
        int | None, typer.Option("--window", "-w", help="Window of minimizers, in k-mers.")
    ] = None,
    seed_length: Annotated[
        int | None, options.bases("Shortest exact match that is a seed, with smem and nov-smem.")
    ] = None,
    secondary: Annotated[
        int | None,
        typer.Option(
            parser=_parse_secondary,
            metavar="NUMBER",
            help="Most secondary mappings for a part of a read; no is the same as 0.",
            show_default="5",
        ),
    ] = None,
    sam: Annotated[
        bool,
        typer.Option(
            "--sam", "-a", help="Write SAM instead of PAF to standard output, for example for samtools sort."
        ),
    ] = False,
    eqx: Annotated[bool, typer.Option("--eqx", help="Write = and X instead of M in CIGARs.")] = False,
    read_group: Annotated[
        str, typer.Option(metavar="FIELDS", help=r"Read group of SAM and BAM, such as 'ID:run1\tSM:sample'.")
    ] = "",
    tags: options.Tags = "all",
    sort: Annotated[
        bool, typer.Option("--sort", help="Sort the BAM file by position on the reference.")
    ] = False,
    index: Annotated[bool, typer.Option("--index", help="Index the sorted BAM file.")] = False,
    config: options.Config = None,
    write_config: options.WriteConfig = None,
    stats: options.Stats = None,
    cram_reference: options.Reference = None,
    threads: options.Threads = 0,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Map reads to a reference, with base-level alignments.

    For every read, the best mapping is reported, with a mapping quality. Mappings of other parts of the read
    (supplementary) and other places of the same part (secondary) follow. SAM and BAM also have records of
    unmapped reads, the tags of the reads, and the read groups and programs of their files.
    """
    outputs = {OUTPUT: output, "--write-config": write_config, "--stats": stats, "--log": log}
    inputs = check_files(outputs, (reference, *reads, config, cram_reference))
    threads = load_compute(threads=threads)

    from overlapper.cli.record import Record
    from overlapper.io.fastx import FastxParts
    from overlapper.io.mappings import MappingOptions, check_mappings_format
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.tags import TagChoice
    from overlapper.params.mapping import ALIASES, MapParams
    from overlapper.params.text import to_toml
    from overlapper.runtime.clock import Clock

    writing = MappingOptions(eqx, read_group, sort, index, words_called(), sam)
    check_mappings_format(output, writing)
    settings = {
        "seeder": seeder, "extender": extender,
        "sketch": {"kmer_length": kmer_length, "window": window},
        "seeds": {"length": seed_length},
        "choice": {"most_secondary": secondary},
    }  # fmt: skip
    params = configured(MapParams.preset(preset), config, settings)
    of_sam = writing.as_sam(output)
    kept = TagChoice.of(tags, [b"RG"] if read_group else []) if of_sam else None
    parts = FastxParts(
        *reads, keep_qualities=of_sam, tags=kept, reference=cram_reference, part_bases=PART_BASES,
        read_filter=ReadFilter(min_length, min_quality, no_duplex_parents),
    )  # fmt: skip
    with begun(quiet=quiet, verbose=verbose, log=log) as (progress, files):
        if preset in ALIASES:
            progress.note(f"preset {ALIASES[preset]}, for {preset}")
        files.open(write_config, stats)
        clock = Clock()
        record = Record(inputs, threads, parts.read_filter, digests=stats is not None)
        mapper = _map_all(reference, parts, params, threads, output, writing, progress, clock)
        counts = {**parts.left_out, **mapper.counts}
        facts = {
            "counts": counts, "seconds": clock.seconds, "thread_seconds": mapper.seconds,
            "memory": clock.memory, "devices": ["cpu"], "params": dataclasses.asdict(params),
        }  # fmt: skip
        files.write(stats, lambda: record.to_json(facts))
        files.write(write_config, lambda: to_toml(params))
        files.close()
        progress.counts(counts)
        if not counts["primary mappings"]:
            progress.note("no read is mapped: is it the right reference? Try smaller -k, or another --preset")


def _map_all(
    reference: str,
    parts: FastxParts,
    params: MapParams,
    threads: int,
    output: str,
    writing: MappingOptions,
    progress: Progress,
    clock: Clock,
) -> BatchMapper:
    """Map reads to a reference and write their mappings; return what mapped them, which has counted."""
    from overlapper.io import read_fastx
    from overlapper.io.mappings import open_mappings
    from overlapper.mapping.mapper import BatchMapper
    from overlapper.tables import Reads

    progress.report("reading the reference")
    targets = read_fastx(reference)
    clock.lap("reading the reference")
    progress.report("indexing the reference")
    mapper = BatchMapper.prepare(targets, params, threads)
    clock.lap("index")
    heads = []
    mapped = mapper.map_parts(parts, threads)
    first = next(mapped, None)  # the header of a pipe is known then
    writing = dataclasses.replace(writing, headers=parts.headers() if writing.as_sam(output) else ())
    with open_mappings(output, targets, writing, threads=threads) as writer:
        for block, mappings in itertools.chain([first] if first else [], mapped):
            heads.append(block.heads())
            writer.write(block, mappings)
            progress.report("mapping")
        parts.check(Reads.concat(heads))
        progress.report("writing")
    clock.lap("mapping")
    return mapper
