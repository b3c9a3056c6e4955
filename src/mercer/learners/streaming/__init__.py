"""Rows in pieces, and the functions whose combinations are a model."""
