"""Solvers of symmetric systems with a ridge."""
