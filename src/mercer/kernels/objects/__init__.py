"""Kernels of structured data: how objects are stored, and two families of kernels of them."""
