"""The tables: struct-of-arrays dataclasses that every stage reads and writes."""

from overlapper.tables.alignments import Alignments, Pairs
from overlapper.tables.candidates import Candidates
from overlapper.tables.mappings import MappingKind, Mappings
from overlapper.tables.matches import Matches
from overlapper.tables.overlaps import Intervals, OverlapClass, Overlaps
from overlapper.tables.reads import Reads
from overlapper.tables.seeding import Seeding

__all__ = [
    "Alignments",
    "Candidates",
    "Intervals",
    "MappingKind",
    "Mappings",
    "Matches",
    "OverlapClass",
    "Overlaps",
    "Pairs",
    "Reads",
    "Seeding",
]
