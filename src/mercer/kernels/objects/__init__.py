"""Kernels of things that are no rows of numbers: how such things are kept, and two families of kernels of them."""
