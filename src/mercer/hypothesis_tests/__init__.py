"""Tests by kernels, of whether two samples are of one law, and of whether two tables know of each other."""

from mercer.hypothesis_tests.independence import hsic
from mercer.hypothesis_tests.result import Comparison
from mercer.hypothesis_tests.two_sample import mmd

__all__ = ["Comparison", "hsic", "mmd"]
