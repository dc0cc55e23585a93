"""The tables: struct-of-arrays dataclasses that every stage reads and writes."""

from overlapper.tables.candidates import Candidates
from overlapper.tables.matches import Matches
from overlapper.tables.overlaps import OverlapClass, Overlaps
from overlapper.tables.reads import Reads
from overlapper.tables.seeding import Seeding

__all__ = ["Candidates", "Matches", "OverlapClass", "Overlaps", "Reads", "Seeding"]
