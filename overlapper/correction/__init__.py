"""Correction of reads and polishing of contigs by the consensus of overlapping reads."""
