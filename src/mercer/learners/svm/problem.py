"""The problem of an SVM: one subproblem for each function, and the rows as the kernel sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.views import View
from mercer.learners.svm.settings import SVMSettings
from mercer.learners.svm.subproblem import Subproblem

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SVMProblem:
    """What is to be learned.

    rows : all rows, as they were read
    view : those of positive weight, as the kernel sees them
    kept : their positions
    subproblems : one function or more; their rows are positions in `kept`
    """

    settings: SVMSettings
    rows: Any
    view: View
    kept: Rows
    subproblems: list[Subproblem]

    @property
    def data(self) -> Any:
        """The rows as an array: a later fit compares its own with them."""
        return getattr(self.rows, "values", self.rows)


@dataclass(frozen=True, eq=False)
class SVCProblem(SVMProblem):
    """What is to be learned of classes.

    classes : the labels, sorted
    codes : (kept,), the class of each row, as its position in `classes`
    """

    classes: NDArray[Any]
    codes: Rows
