"""Compiled kernels: kept on disk and shipped in wheels, loaded quickly."""
