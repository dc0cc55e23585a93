"""Overlap graph: build, reduce, clean, lay out and correct."""
