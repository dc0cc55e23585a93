"""What a run stands on: threads, memory, clock, digests, compiled kernels, GPUs."""
