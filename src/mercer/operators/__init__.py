"""Matrices that need not be stored: of a kernel on data, dense, low rank, diagonal, and their sums."""

from mercer.operators.base import Operator
from mercer.operators.centering import Centered, Centering
from mercer.operators.dense import Dense
from mercer.operators.diagonal import Diagonal
from mercer.operators.diagonal_plus_low_rank import DiagonalPlusLowRank
from mercer.operators.gram import Gram
from mercer.operators.low_rank import LowRank
from mercer.operators.sum import Sum

__all__ = ["Centered", "Centering", "Dense", "Diagonal", "DiagonalPlusLowRank", "Gram", "LowRank", "Operator", "Sum"]
