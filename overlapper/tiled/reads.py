"""The reads of a run in a work folder: packed once, and known again by a later run."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from pathlib import Path

from overlapper.io.artifacts import Artifact, finished, finished_artifact, writing
from overlapper.io.fastx import FastxParts
from overlapper.io.identity import Input, QualitiesDigest, ReadsDigest, states_of
from overlapper.io.read_store import ReadStore
from overlapper.tables import Reads
from overlapper.tiled.workdir import Workdir


class _GivenReads:
    """Reads that are given; what they hold is digested as they pass.

    Parameters
    ----------
    parts : iterable of Reads

    Attributes
    ----------
    files : FastxParts or None
        The parts, if they are files.
    with_qualities, with_tags : bool
        Whether their qualities and their tags are stored.
    unread : Input
        The reads as an input, without a digest.
    passing : iterator of Reads
        The parts, to be gone through once.
    """

    def __init__(self, parts: Iterable[Reads]) -> None:
        self.files = files = parts if isinstance(parts, FastxParts) else None
        self.with_qualities = files is not None and files.keep_qualities
        self.with_tags = files is not None and files.tags is not None
        self.unread = (
            files.as_input("reads", "", states_of(files.sources)) if files else Input("reads", [], "")
        )
        self._content, self._qualities = ReadsDigest(), QualitiesDigest()
        self.passing = self._qualities.of_each(self._content.of_each(parts))

    def as_input(self) -> Input:
        """Return the reads as an input, once all of them have passed."""
        left_out = self.files.left_out if self.files else {}
        return dataclasses.replace(self.unread, digest=self._content.hexdigest(), left_out=left_out)

    def digest_of_qualities(self) -> str:
        """Return the digest of the qualities, once all reads have passed."""
        return self._qualities.hexdigest()


def store_reads(workdir: Workdir, parts: Iterable[Reads]) -> ReadStore:
    """Return the packed reads of a folder; they are written if they are not there.

    Parameters
    ----------
    workdir : Workdir
    parts : iterable of Reads
        Gone through once at most: files (`FastxParts`) not at all when the packed reads are theirs, and they
        were not touched since.

    Raises
    ------
    InputError
        When the work in the folder was begun on other reads, and these are not among those given.
    """
    given = _GivenReads(parts)
    name = "reads-with-qualities" if given.with_qualities else "reads"
    path = workdir.folder / (f"{name}-and-tags" if given.with_tags else name)
    kept = finished(path, verify=True)
    if kept is None or workdir.added(given.unread):
        _write_reads(workdir, path, given)
    else:
        workdir.begin([_same_reads(workdir, kept, given)])
    return ReadStore.open(finished_artifact(path))


def _write_reads(workdir: Workdir, path: Path, given: _GivenReads) -> None:
    """Pack reads to disk, and begin the work on them."""
    with writing(path) as artifact:
        heads = ReadStore.write(artifact, given.passing)
        if given.files:
            given.files.check(heads)
        this = given.as_input()
        artifact.facts |= {"content": this.digest, "qualities as read": given.digest_of_qualities()}
        workdir.begin([this])


def _same_reads(workdir: Workdir, kept: Artifact, given: _GivenReads) -> Input:
    """Return reads as an input, after checking that they are those which were packed.

    They are read only if their files were touched since, or are none.
    """
    known = workdir.untouched(given.unread)
    if given.with_qualities and not workdir.untouched(dataclasses.replace(given.unread, what="qualities")):
        known = None
    if known is None:
        collections.deque(given.passing, maxlen=0)
    elif given.files:
        given.files.left_out = known.left_out
    this = known or given.as_input()
    if kept.facts["content"] != this.digest:
        raise workdir.other_input(this)
    if not known and given.with_qualities and kept.facts["qualities as read"] != given.digest_of_qualities():
        raise workdir.other_input(dataclasses.replace(this, what="qualities"))
    return this
