"""What kernels of several families share: packed bases, walks, CIGAR operations, sorting, vectors."""
