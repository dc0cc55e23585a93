"""The tables: struct-of-arrays dataclasses that every stage reads and writes."""

from overlapper.tables.candidates import Candidates
from overlapper.tables.matches import Matches
from overlapper.tables.overlaps import Intervals, OverlapClass, Overlaps
from overlapper.tables.reads import Reads
from overlapper.tables.seeding import Seeding

__all__ = ["Candidates", "Intervals", "Matches", "OverlapClass", "Overlaps", "Reads", "Seeding"]
