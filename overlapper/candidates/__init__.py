"""Finders of candidate pairs, and their registry."""
