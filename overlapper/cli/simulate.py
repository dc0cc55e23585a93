"""``overlapper simulate``: reads with known placements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from overlapper.cli import options
from overlapper.cli.outputs import OUTPUT, check_files, check_name
from overlapper.cli.progress import Progress
from overlapper.cli.run_files import RunFiles, begun, load_compute
from overlapper.cli.sizes import parse_size
from overlapper.runtime.messages import counted

if TYPE_CHECKING:
    from overlapper.simulate.reads import SimulatedRead
    from overlapper.tables import Reads

EXAMPLES = """
overlapper simulate --genome-size 200k --coverage 20 --preset ont -o reads.fastq.gz --truth truth.tsv
overlapper simulate --reference ecoli.fasta.gz --circular --preset hifi -o reads.fasta --truth truth.tsv
overlapper simulate --genome-size 500k --coverage 15 --preset real-clr -o real.fasta --truth real.tsv
overlapper simulate --genome-size 1M --repeats 8,6000,0.01 --preset clr -o reads.fasta --reference-out ref.fa
"""

FASTQ_SUFFIXES = (".fastq", ".fq")


def simulate(
    output: Annotated[
        str,
        options.output(
            "Reads: FASTQ if the name ends in .fastq or .fq, else FASTA; compressed if it ends in .gz. - "
            "is FASTA on standard output."
        ),
    ] = "-",
    truth: Annotated[
        str | None, options.file("Write a tab-separated table of where every read comes from.")
    ] = None,
    reference: Annotated[
        str | None, options.file("Take reads from the sequences in this FASTA file.")
    ] = None,
    genome_size: Annotated[
        int | None, options.bases("Take reads from a random genome of this size, such as 200k.")
    ] = None,
    repeats: Annotated[
        str | None,
        typer.Option(
            metavar="COPIES,LENGTH,DIVERGENCE", help="Put diverged copies of a repeat into the random genome."
        ),
    ] = None,
    reference_out: Annotated[str | None, options.file("Write the reference as FASTA.")] = None,
    circular: Annotated[
        bool, typer.Option("--circular", help="All reference sequences are circular.")
    ] = False,
    preset: Annotated[
        str,
        options.preset(
            "real-clr, real-ont or real-hifi: errors as measured on real reads, with bad reads, bad "
            "stretches, bad ends, missed adapters and chimeras. hifi, clr, ont-r7, ont-r9, ont-r10, "
            "ont (the newest of these) or perfect: errors spread evenly."
        ),
    ] = "ont",
    coverage: Annotated[
        float, typer.Option("--coverage", "-c", help="Read bases per reference base.")
    ] = 20.0,
    seed: Annotated[
        int, typer.Option(help="Seed for random numbers. The same seed and options give the same bytes.")
    ] = 1,
    mean_length: Annotated[int | None, options.bases("Mean length of the reads.")] = None,
    length_sd: Annotated[
        int | None, options.bases("Standard deviation of the lengths. 0: all reads have the same length.")
    ] = None,
    min_length: Annotated[int | None, options.bases("Length of the shortest read.")] = None,
    identity: Annotated[
        float | None,
        typer.Option(help="Mean identity of reads to the reference outside bad stretches, such as 0.9."),
    ] = None,
    identity_sd: Annotated[
        float | None,
        typer.Option(help="Standard deviation of the identities. 0: all reads have the same identity."),
    ] = None,
    bad_stretches: Annotated[
        float | None, typer.Option(help="Bad stretches per 10,000 bases; each is a few hundred bases long.")
    ] = None,
    bad_heads: Annotated[
        float | None, typer.Option(help="Share of reads that start with random bases.")
    ] = None,
    bad_tails: Annotated[
        float | None, typer.Option(help="Share of reads that end with random bases.")
    ] = None,
    chimeras: Annotated[
        float | None, typer.Option(help="Share of reads that join two places of the reference.")
    ] = None,
    missed_adapters: Annotated[
        float | None, typer.Option(help="Share of reads that continue on the opposite strand.")
    ] = None,
    junk: Annotated[float | None, typer.Option(help="Share of reads that consist of random bases.")] = None,
    adapters: Annotated[
        float | None, typer.Option(help="Share of reads with adapters at their ends.")
    ] = None,
    quiet: options.Quiet = False,
    log: options.Log = None,
) -> None:
    """Simulate reads whose place on the reference is known.

    Give --reference or --genome-size. Options that are not given are taken from the preset.
    """
    if (reference is None) == (genome_size is None):
        raise typer.BadParameter("give either --reference or --genome-size")
    if repeats is not None and genome_size is None:
        raise typer.BadParameter("--repeats needs --genome-size")
    outputs = {OUTPUT: output, "--truth": truth, "--reference-out": reference_out, "--log": log}
    check_files(outputs, [reference])
    check_name(output, "--output", "FASTA", "FASTQ")
    changes = {
        "mean_length": mean_length,
        "length_sd": length_sd,
        "min_length": min_length,
        "identity": identity,
        "identity_sd": identity_sd,
        "bad_stretches": bad_stretches,
        "bad_heads": bad_heads,
        "bad_tails": bad_tails,
        "chimeras": chimeras,
        "missed_adapters": missed_adapters,
        "junk": junk,
        "adapters": adapters,
    }

    load_compute()

    from overlapper.io.records import fasta_record
    from overlapper.simulate import adapted_model, generate_reads

    model = adapted_model(preset, **{name: value for name, value in changes.items() if value is not None})
    with begun(quiet=quiet, log=log) as (progress, files):
        progress.report("preparing the reference")
        references = _references(reference, genome_size, seed, repeats)
        reads = generate_reads(references, model, coverage=coverage, seed=seed, circular=circular)
        files.open(reference_out, output, truth)
        if reference_out:
            for i, name in enumerate(references.names):
                files[reference_out].write(fasta_record(name, references.codes(i)))
        _write_reads(reads, output, truth, files, progress, int(coverage * references.total_bases))


def _references(path: str | None, genome_size: int | None, seed: int, repeats: str | None) -> Reads:
    """Return what the reads are drawn from: the sequences of a file, or a random genome."""
    from overlapper.io.fastx import read_fastx
    from overlapper.simulate import random_genome

    if path is not None:
        return read_fastx(path)
    return random_genome(genome_size or 0, seed, **_planted(repeats))


def _write_reads(
    reads: Iterable[SimulatedRead],
    output: str,
    truth: str | None,
    files: RunFiles,
    progress: Progress,
    wanted: int,
) -> None:
    """Write reads, of which so many bases are wanted, and where they come from."""
    from overlapper.io.records import fasta_record, fastq_record
    from overlapper.io.truth import header

    as_fastq = output.removesuffix(".gz").endswith(FASTQ_SUFFIXES)
    files.write(truth, header)
    count = bases = 0
    for read in reads:
        if as_fastq:
            files[output].write(fastq_record(read.name, read.codes, read.qualities))
        else:
            files[output].write(fasta_record(read.name, read.codes))
        if truth:
            files[truth].write_text("".join(row.to_line() for row in read.truth))
        count, bases = count + 1, bases + len(read.codes)
        progress.report("simulating reads", min(bases, wanted), wanted)
    progress.note(f"{counted(count, 'read')}, {counted(bases, 'base')}")


def _planted(repeats: str | None) -> dict[str, Any]:
    """Return the arguments of `random_genome` that plant repeats."""
    if repeats is None:
        return {}
    try:
        copies, length, divergence = repeats.split(",")
        return {
            "repeat_copies": int(copies),
            "repeat_length": parse_size(length),
            "repeat_divergence": float(divergence),
        }
    except (ValueError, typer.BadParameter):
        raise typer.BadParameter(
            f"--repeats is {repeats!r}, expected COPIES,LENGTH,DIVERGENCE such as 8,6000,0.01"
        ) from None
