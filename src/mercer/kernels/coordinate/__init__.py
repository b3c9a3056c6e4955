"""Kernels that are a sum or product over the coordinates."""
