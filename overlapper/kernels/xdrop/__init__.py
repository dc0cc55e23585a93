"""Kernels of the X-drop extender."""
