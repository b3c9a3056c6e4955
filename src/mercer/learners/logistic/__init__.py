"""Kernel logistic regression."""
