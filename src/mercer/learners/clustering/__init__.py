"""Kernel k-means and spectral clustering."""
