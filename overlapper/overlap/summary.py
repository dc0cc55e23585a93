"""What a run of `overlap` returns: counts, parameters and times; overlaps."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from overlapper.params.stages import Params
from overlapper.tables import Overlaps
from overlapper.version import __version__


@dataclasses.dataclass(frozen=True)
class Run:
    """What a run found: overlaps, counts, parameters, times and memory.

    Attributes
    ----------
    params : Params
        All parameters, as they were used.
    why : str
        Error rate, k and w that the preset chose, in a line.
    devices : list of str
        What the candidates were extended on.
    funnel : dict of str to int
        Counts of what every stage took in, dropped and kept, in order.
    seconds : dict of str to float
        Wall-clock time of each stage.
    memory : dict of str to int
        Largest resident memory by the end of each stage, in bytes (`Clock`).
    parts : iterable of Overlaps
        In canonical order, numbered as the reads given; those of a run in a memory budget are read from disk.
    """

    params: Params
    why: str
    devices: list[str]
    funnel: dict[str, int]
    seconds: dict[str, float]
    memory: dict[str, int]
    parts: Iterable[Overlaps]

    @functools.cached_property
    def overlaps(self) -> Overlaps:
        """All overlaps."""
        return Overlaps.concat(list(self.parts))

    def to_json(self, run: Mapping[str, Any] | None = None) -> str:
        """Return counts, parameters, times and memory as JSON.

        Parameters
        ----------
        run : mapping, optional
            Command line, inputs and date, to be added as ``run``.
        """
        parts = {
            "version": __version__,
            "funnel": self.funnel,
            "seconds": self.seconds,
            "memory": self.memory,
            "chosen": self.why,
            "devices": self.devices,
            "params": dataclasses.asdict(self.params),
        }
        return json.dumps(parts | ({"run": dict(run)} if run else {}), indent=2) + "\n"

    def emptied(self) -> str:
        """Return why there are no overlaps, and what to try."""
        if self.funnel["reads"] < 2:
            return "no overlaps: there is only one read"
        if not self.funnel["candidates"]:
            counts = self.funnel
            kmers = counts.get("minimizers", 0) + counts.get("k-mers", 0)
            if 2 * sum(n for name, n in counts.items() if name.endswith("occur too often")) > kmers:
                return (
                    "no overlaps: most k-mers occur too often to show where reads overlap. Reads of "
                    "homopolymers and satellites alone have no overlaps; a higher repeat_limit in "
                    "[sketch] lets other repeats seed"
                )
            return (
                "no overlaps: no two reads share enough seeds. If they should overlap, try a shorter "
                "--kmer-length and --window 1"
            )
        step = max((name for name in self.funnel if name.startswith("dropped")), key=lambda n: self.funnel[n])
        advice = {
            "dropped: internal match": "--keep-internal reports them",
            "dropped: too short": "--min-overlap sets the shortest",
        }.get(step, "--config loosens the parameters of that step")
        return f"no overlaps: {self.funnel[step]} candidates were {step}; {advice}"
