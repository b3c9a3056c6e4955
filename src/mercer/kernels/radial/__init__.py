"""Kernels of the distance."""
