"""The reads of a run in a work folder: packed once, and known again by a later run."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable

from overlapper.io.artifacts import finished, finished_artifact, writing
from overlapper.io.fastx import FastxParts
from overlapper.io.identity import DIGESTS, Input, states_of
from overlapper.io.read_store import ReadStore
from overlapper.tables import Reads
from overlapper.tiled.workdir import Workdir


def store_reads(workdir: Workdir, parts: Iterable[Reads]) -> ReadStore:
    """Return the packed reads of a folder, written if they are not there, and begin the work on them.

    Parameters
    ----------
    parts : iterable of Reads
        Gone through once at most: files (`FastxParts`) not at all when the packed reads are theirs, and they
        were not touched since.

    Raises
    ------
    InputError
        When the work in the folder was begun on other reads, and these are not among those given.
    """
    files = parts if isinstance(parts, FastxParts) else None
    given = files.as_input("reads", "", states_of(files.sources)) if files else Input("reads", [], "")
    with_qualities, with_tags = files and files.keep_qualities, files and files.tags is not None
    name = "reads" + ("-with-qualities" if with_qualities else "") + ("-and-tags" if with_tags else "")
    digests = {what: kind() for what, kind in DIGESTS.items()}
    kinds = len(digests) if with_qualities else 1
    for digest in digests.values():
        parts = digest.of_each(parts)

    def passed() -> list[Input]:
        """Return the reads as inputs, once all of them have passed."""
        left_out = files.left_out if files else {}
        return [
            dataclasses.replace(given, what=what, digest=digest.hexdigest(), left_out=left_out)
            for what, digest in digests.items()
        ]

    path = workdir.folder / name
    kept = finished(path, verify=True)
    if kept is None or workdir.added(given):
        with writing(path) as artifact:
            heads = ReadStore.write(artifact, parts)
            if files:
                files.check(heads)
            artifact.facts |= {one.what: one.digest for one in passed()}
            workdir.begin(passed()[:kinds])
        return ReadStore.open(finished_artifact(path))
    known = [workdir.untouched(dataclasses.replace(given, what=what)) for what in [*digests][:kinds]]
    inputs = [one for one in known if one]
    if len(inputs) < len(known):
        collections.deque(parts, maxlen=0)
        inputs = passed()[:kinds]
    elif files:
        files.left_out = inputs[0].left_out
    for one in inputs:
        if kept.facts[one.what] != one.digest:
            raise workdir.other_input(one)
    workdir.begin(inputs)
    return ReadStore.open(kept)
