"""What ``overlapper overlap`` was asked for, checked before any read is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from overlapper.cli.config import read_config

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from overlapper.io.fastx import FastxParts
    from overlapper.io.read_filter import ReadFilter
    from overlapper.io.writers import OverlapWriter
    from overlapper.tables import Reads


@dataclasses.dataclass(frozen=True)
class OverlapRequest:
    """Reads, parameters, devices and output of a run of ``overlapper overlap``.

    Attributes
    ----------
    parts : FastxParts
        The reads.
    output, preset : str
    sides : mapping
        How overlaps are written, as `overlapper.io.sided.open_sided` takes it.
    changes : mapping
        Parameters that differ from the preset.
    extender : str
        Its name, of these or by default.
    threads : int
        Of all processes together.
    device : str
        What candidates are extended on, as the user asked for it.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    """

    parts: FastxParts
    output: str
    sides: Mapping[str, bool]
    preset: str
    changes: Mapping[str, Any]
    extender: str
    threads: int
    device: str
    gpu_memory: int

    @classmethod
    def checked(
        cls,
        reads: Sequence[str],
        output: str,
        preset: str,
        config: str | None,
        given: Mapping[str, Any],
        *,
        read_filter: ReadFilter,
        reference: str | None,
        both_sides: bool,
        group_by: str | None,
        threads: int,
        device: str,
        gpu_memory: int,
    ) -> Self:
        """Check what the command was asked for; ``given`` are options that go before those of ``config``."""
        from overlapper.cli.options import checked_sides
        from overlapper.io.fastx import FastxParts
        from overlapper.io.writers import check_format
        from overlapper.overlap.presets import check_preset
        from overlapper.params.stages import Params

        changes = _changes(config, given)
        parts = FastxParts(*reads, read_filter=read_filter, reference=reference, threads=threads)
        check_preset(preset)
        check_format(output)
        sides = checked_sides(both_sides, group_by, output)
        extender = changes.get("extender", Params().extender)
        return cls(parts, output, sides, preset, changes, extender, threads, device, gpu_memory)

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


def _changes(config: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a file and of options as one, the options above."""
    from overlapper.candidates.registry import finder
    from overlapper.extend.registry import extender
    from overlapper.params.shortcuts import merged, nested
    from overlapper.params.stages import Params

    of_file, of_options = read_config(config), nested(given)
    params = Params().changed(of_file, where=f"file {config}").changed(of_options, where="options")
    finder(params.finder)
    extender(params.extender)
    return merged(of_file, of_options)
