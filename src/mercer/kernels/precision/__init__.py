"""Formulas to the last digits: pairs of floats, and numbers of 50 digits."""
