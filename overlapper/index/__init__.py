"""Exact matches: suffix array, FM-index and their queries."""

from overlapper.index.index import FixedSeeds, Index

__all__ = ["FixedSeeds", "Index"]
