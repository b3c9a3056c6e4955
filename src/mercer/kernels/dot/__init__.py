"""Kernels of the inner product."""
