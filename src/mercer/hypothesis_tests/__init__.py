"""Kernel tests of whether two samples have one distribution (MMD), and of independence (HSIC)."""

from mercer.hypothesis_tests.independence import hsic
from mercer.hypothesis_tests.result import Comparison
from mercer.hypothesis_tests.two_sample import mmd

__all__ = ["Comparison", "hsic", "mmd"]
