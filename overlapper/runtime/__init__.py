"""What every command needs: threads, memory, clock, digests, compiled kernels, GPUs."""
