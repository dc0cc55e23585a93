"""Kernels that judge contigs and corrected reads, for the CPU only."""
