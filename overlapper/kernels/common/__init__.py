"""Parts that several families of kernels share: packed bases, walks, CIGARs, sorting, vectors."""
