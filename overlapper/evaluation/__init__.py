"""Contigs and corrected reads judged by the sequences they come from (``docs/algorithms/evaluation.md``)."""
