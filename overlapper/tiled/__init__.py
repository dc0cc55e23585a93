"""Overlaps in a memory budget, tile by tile, on one machine or a cluster."""
