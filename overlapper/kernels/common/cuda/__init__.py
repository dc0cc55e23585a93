"""What CUDA kernels of several families share."""
