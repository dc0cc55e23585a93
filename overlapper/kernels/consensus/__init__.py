"""Kernels of the consensus: anchors, paths, pileups, votes."""
