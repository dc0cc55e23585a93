"""Extenders of candidates to overlaps, and their registry."""
