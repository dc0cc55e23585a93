"""What ``overlapper overlap`` was asked for, checked before any read is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overlapper.cli.config import read_config
from overlapper.cli.run_request import RunRequest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from overlapper.io.writers import OverlapWriter
    from overlapper.tables import Reads


@dataclasses.dataclass(frozen=True)
class OverlapRequest(RunRequest):
    """A run of ``overlapper overlap``; see `RunRequest` for the other attributes."""

    sides: Mapping[str, bool]
    """How overlaps are written, as `overlapper.io.sided.open_sided` takes it."""
    changes: Mapping[str, Any]
    """Parameters that differ from the preset."""
    plan: bool
    """Only say what a run would take."""

    @property
    def extender(self) -> str:
        """Name of the extender, of the changes or by default."""
        from overlapper.params.stages import Params

        return self.changes.get("extender", Params().extender)

    @property
    def tiled(self) -> bool:
        """Whether a limit is given, or workers or a folder, which ask for tiles."""
        limits = (self.memory, self.plan, self.workers, self.scheduler)
        return self.workdir is not None or any(limits)

    def open_output(self, reads: Reads) -> AbstractContextManager[OverlapWriter]:
        """Open the file of overlaps; ``reads`` are their names and lengths."""
        from overlapper.io.sided import open_sided

        return open_sided(self.output, reads, **self.sides, threads=self.threads)

    def hints(self, reads: Reads) -> list[str]:
        """Return a line about how many overlaps are to be expected, if they are many."""
        from overlapper.params.stages import Params
        from overlapper.sketch.depth import MANY_OVERLAPS, expected_overlaps

        if Params().changed(self.changes).classes.best:
            return []
        expected = expected_overlaps(reads, self.threads)
        if expected <= MANY_OVERLAPS * len(reads):
            return []
        return [
            f"about {expected:,} overlaps are expected, {expected // len(reads):,} per read; --best N "
            "reports only the best overlaps of each read end"
        ]


def checked_changes(config: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a file and of options as one, the options above, all checked."""
    from overlapper.candidates.registry import finder
    from overlapper.extend.registry import extender
    from overlapper.params.shortcuts import merged, nested
    from overlapper.params.stages import Params

    of_file, of_options = read_config(config), nested(given)
    params = Params().changed(of_file, where=f"file {config}").changed(of_options, where="options")
    finder(params.finder)
    extender(params.extender)
    return merged(of_file, of_options)
