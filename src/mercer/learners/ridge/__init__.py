"""Kernel ridge regression and its classifier."""
