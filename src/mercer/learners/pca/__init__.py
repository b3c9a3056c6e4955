"""Kernel principal component analysis."""
