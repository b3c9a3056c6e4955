"""Perceptrons, of features and of kernels."""
