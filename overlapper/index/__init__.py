"""Exact matches: suffix array, FM-index and their queries."""
