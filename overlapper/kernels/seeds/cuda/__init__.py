"""CUDA kernels of seeding."""
