"""Regularised likelihoods of classes."""
