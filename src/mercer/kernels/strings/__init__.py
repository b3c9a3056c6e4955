"""Kernels of strings: what they share, in runs of symbols, in subsequences or in words."""
