"""What a comparison of methods found, as a table, TSV and JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from overlapper.version import __version__

COSTS = ("wall_s", "cpu_s", "peak_mb")


@dataclasses.dataclass(frozen=True)
class Costs:
    """Time and memory of a run of a method."""

    wall_s: float
    cpu_s: float
    """`wall_s`, `cpu_s`: seconds, start-up, reading and writing included."""
    peak_mb: float
    """Most memory, in 10^6 bytes."""
    stages: dict[str, float]
    """Seconds by stage."""


@dataclasses.dataclass(frozen=True)
class Method:
    """A method, what it took and how well it did."""

    finder: str
    extender: str
    costs: Costs
    scores: dict[str, float | None]
    """By the names of `Comparison.measures`; None where undefined."""

    @property
    def name(self) -> str:
        """Names of both parts of the method."""
        return f"{self.finder} + {self.extender}"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Methods beside each other."""

    judged_by: str
    """``placements`` or ``consensus``."""
    files: list[str]
    options: dict[str, Any]
    """What all methods were given."""
    measures: dict[str, str]
    """What each score means."""
    methods: list[Method]

    def to_json(self) -> str:
        """Return all scores and costs as JSON."""
        document = {"version": __version__, **dataclasses.asdict(self)}
        return json.dumps(document, indent=2) + "\n"

    def to_tsv(self) -> str:
        """Write a line a method; what is undefined is empty."""
        stages = list(dict.fromkeys(stage for method in self.methods for stage in method.costs.stages))
        head = [
            "finder",
            "extender",
            *self.measures,
            *COSTS,
            *(f"{stage.replace(' ', '_')}_s" for stage in stages),
        ]
        lines = [head]
        for method in self.methods:
            numbers = [method.scores[measure] for measure in self.measures]
            numbers += [getattr(method.costs, name) for name in COSTS]
            numbers += [method.costs.stages.get(stage) for stage in stages]
            lines.append(
                [method.finder, method.extender, *("" if n is None else f"{n:.6g}" for n in numbers)]
            )
        return "".join("\t".join(line) + "\n" for line in lines)
