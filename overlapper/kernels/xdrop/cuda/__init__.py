"""CUDA kernels of the X-drop extender."""
