"""Kernels that read and write text: FASTA, FASTQ, PAF, SAM; for the CPU only."""
