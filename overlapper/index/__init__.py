"""Exact matches: suffix array, FM-index and their queries."""

from overlapper.index.index import Index

__all__ = ["Index"]
