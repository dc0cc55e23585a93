"""Kernels that judge contigs and corrected reads."""
