"""Matrices that need not be stored: of a kernel on data, dense, low rank, diagonal, and their sums."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.operators.base import Operator as Operator
    from mercer.operators.centering import Centered as Centered
    from mercer.operators.centering import Centering as Centering
    from mercer.operators.dense import Dense as Dense
    from mercer.operators.diagonal import Diagonal as Diagonal
    from mercer.operators.diagonal_plus_low_rank import DiagonalPlusLowRank as DiagonalPlusLowRank
    from mercer.operators.gram import Gram as Gram
    from mercer.operators.low_rank import LowRank as LowRank
    from mercer.operators.sum import Sum as Sum
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Centered": "centering",
            "Centering": "centering",
            "Dense": "dense",
            "Diagonal": "diagonal",
            "DiagonalPlusLowRank": "diagonal_plus_low_rank",
            "Gram": "gram",
            "LowRank": "low_rank",
            "Operator": "base",
            "Sum": "sum",
        },
    )
