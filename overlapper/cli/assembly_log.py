"""What ``overlapper assemble`` says of itself: the phases of a run, and its result in a few lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from overlapper.cli.progress import Progress
from overlapper.cli.tables import aligned
from overlapper.runtime.messages import counted

if TYPE_CHECKING:
    from overlapper.assembly.contigs import Assembled

PHASES = (
    "reading", "overlaps", "correction", "overlaps of corrected reads", "layout", "polishing", "haplotypes",
    "writing",
)  # fmt: skip
_PHASE_OF_STAGE = {
    "adapters": "reading", "depth": "reading", "overlaps": "overlaps", "correct": "correction",
    "leaders": "correction", "corrected-reads": "correction", "exact-overlaps": PHASES[3],
    "corrected-overlaps": PHASES[3], "polish": "polishing",
}  # fmt: skip
"""Of stages by their names, or the first part of these; all others belong to the layout."""
_MOST_SHOWN = 20


def tell_assembly(
    progress: Progress, made: Assembled, table: list[str], output: str, written: list[str], verbose: bool
) -> None:
    """Log how long the phases took, what was decided, the first contigs, and where the files are.

    Parameters
    ----------
    table : list of str
        Lines of ``contigs.tsv``.
    output : str
        Folder of the results.
    written : list of str
        Names of its files.
    verbose : bool
        Tell what every stage took and found, too.
    """
    from overlapper.assembly.disagreeing import told

    progress.note("seconds: " + ", ".join(f"{phase} {spent:.1f}" for phase, spent in _seconds(made).items()))
    for stage in made.stages if verbose else []:
        progress.note(f"{stage.seconds:>12.1f} s {stage.name}{', done before' if stage.kept else ''}")
        progress.counts({name: n for name, n in stage.facts.items() if isinstance(n, int)})
    progress.note(made.decision(), *made.without_adapters(), *made.set_aside())
    if made.ultra_long:
        progress.note(made.ultra_long.told())
    if made.haplotypes:
        progress.note(made.haplotypes.decision())
    if wrong := made.cut_off:
        progress.note(
            f"{wrong:,} bases were cut off ends of contigs, because too few reads cover them, the reads "
            "disagree (--end-errors 1 keeps both), or they repeat the other strand of what is before them"
        )
    if len(made.left_out):
        progress.note(
            f"{counted(made.left_out.group.max(), 'contig')} left out, because others cover the places of "
            "their bad reads, or by --min-relative-depth: see contigs.left_out.tsv"
        )
    progress.note(*told(made.disagreeing, made.motifs))
    rows = [line.split("\t") for line in table[: 1 + _MOST_SHOWN]]
    progress.note(*aligned(rows).splitlines())
    if len(table) > 1 + _MOST_SHOWN:
        progress.note(f"and {len(table) - 1 - _MOST_SHOWN} more in {os.path.join(output, 'contigs.tsv')}")
    files = f"files in {output}: {', '.join(written)}"
    progress.note(made.told(), made.held.sentence(), files, *made.warnings)


def _seconds(made: Assembled) -> dict[str, float]:
    """Return the seconds that each phase of the stages took, in order."""
    seconds = dict.fromkeys(PHASES, 0.0)
    for stage in made.stages:
        of_name = _PHASE_OF_STAGE.get(stage.name)
        phase = of_name or _PHASE_OF_STAGE.get(stage.name.partition("-")[0], "layout")
        seconds[phase] += stage.seconds
    return {phase: spent for phase, spent in seconds.items() if spent}
