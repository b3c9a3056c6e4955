"""Tests by kernels, of whether two samples are of one law, and of whether two tables know of each other."""

from mercer.comparing.independence import hsic
from mercer.comparing.result import Comparison
from mercer.comparing.two_samples import mmd

__all__ = ["Comparison", "hsic", "mmd"]
