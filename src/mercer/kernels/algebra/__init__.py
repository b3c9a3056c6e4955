"""The rules that keep a kernel a kernel, one node per rule."""

from mercer.kernels.algebra.after import After
from mercer.kernels.algebra.exp import Exp, exp
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.on import On
from mercer.kernels.algebra.operations import add, divide, multiply, raise_to, refuse_difference
from mercer.kernels.algebra.power import Power
from mercer.kernels.algebra.product import Product
from mercer.kernels.algebra.scaled import Scaled
from mercer.kernels.algebra.sum import Sum
from mercer.kernels.algebra.weighted import Weighted

__all__ = [
    "After",
    "Exp",
    "Normalized",
    "On",
    "Power",
    "Product",
    "Scaled",
    "Sum",
    "Weighted",
    "add",
    "divide",
    "exp",
    "multiply",
    "raise_to",
    "refuse_difference",
]
