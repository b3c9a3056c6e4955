"""Problems of least squares that lose digits, and what becomes of them: wrong or right, warned or not.

A problem is a kernel, a table of a kind that costs accuracy, a penalty, and how they are fitted. All seeds are fixed.
"""

import itertools
import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from many_digits import predictions
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer import kernels as k
from mercer.errors import NumericalWarning
from mercer.kernels.evaluate import fused_from

LIMITS = {"float64": 1e-6, "float32": 1e-3}
"""The relative error of predictions that may go without a warning, by the dtype of the table."""
ROWS, NEW = 11, 5


@dataclass(frozen=True, eq=False)
class Problem:
    """What is fitted, and where it is to predict.

    table : the kind of table, in words
    weights : None for one each
    fused : whether the compiled pass evaluates the kernel
    """

    table: str
    kernel: k.Kernel
    X: NDArray[Any]
    y: NDArray[Any]
    new: NDArray[Any]
    alpha: Any
    intercept: bool
    weights: NDArray[np.float64] | None = None
    fused: bool = False

    @property
    def name(self) -> str:
        dtype, weights = self.X.dtype.name, "" if self.weights is None else ", weights"
        outputs = "" if self.y.ndim == 1 else f", {self.y.shape[1]} outputs"
        ridge = self.alpha if isinstance(self.alpha, str) else f"{self.alpha:g}"
        return f"{self.kernel}, {self.table}, alpha {ridge}, b {int(self.intercept)}, {dtype}{weights}{outputs}"

    @property
    def limit(self) -> float:
        return LIMITS[self.X.dtype.name]


@dataclass(frozen=True, eq=False)
class Report:
    """What became of a problem.

    error : the relative error of predictions in the 2-norm, at the rows or at new ones, whichever is larger
    warned : the messages of all warnings of numbers, in `fit`
    told : the condition number as a message gives it; None where none does
    """

    problem: Problem
    error: float
    unrounded: float
    warned: tuple[str, ...]
    told: str | None
    condition: float
    rounding: float
    converged: bool
    side: str
    at_rows: float = 0.0

    @property
    def missed(self) -> bool:
        return not self.error <= self.problem.limit

    @property
    def silent(self) -> bool:
        return self.missed and self.told is None

    @property
    def false_alarm(self) -> bool:
        """Warned, although the error is a hundredth of what would have been allowed."""
        return bool(self.warned) and self.error <= self.problem.limit / 100


def examine(problem: Problem) -> Report:
    """Fit, predict, and compare with many digits."""
    model = KernelRidge(problem.kernel, alpha=problem.alpha, fit_intercept=problem.intercept)
    with fused_from(0) if problem.fused else nullcontext(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(problem.X, problem.y, sample_weight=problem.weights)
    warned = tuple(str(each.message) for each in caught if issubclass(each.category, NumericalWarning))
    told = [found[1] for text in warned if (found := re.search(r"the condition number is (\S+?)[,)]", text))]
    with fused_from(0) if problem.fused else nullcontext():
        rows = np.concatenate([problem.X, problem.new])
        found, wide = model.predict(rows), model.predict(rows.astype(float))
    truth = truth_of(problem, model.kernel_, model.alpha_)
    at_rows, at_new = errors(truth, found, len(problem.X))
    return Report(
        problem, max(at_rows, at_new), max(errors(truth, wide, len(problem.X))), warned, told[0] if told else None,
        model.condition_, model.rounding_, model.converged_, model.plan_.side,
        at_rows=at_rows
    )  # fmt: skip


def truth_of(problem: Problem, kernel: k.Kernel, alpha: Any) -> NDArray[np.float64]:
    """What is to be predicted at the rows and then at the new ones, (rows, outputs)."""
    Y = problem.y.reshape(len(problem.y), -1).astype(float)
    alphas, rows = np.broadcast_to(alpha, Y.shape[1:]), np.concatenate([problem.X, problem.new])
    return predictions(kernel, problem.X, Y, rows, alphas, problem.weights, problem.intercept)


def errors(truth: NDArray[np.float64], found: NDArray[Any], count: int) -> tuple[float, float]:
    """|p - t| / |t| at the rows, of which there are so many, and at the new ones; zero where both p and t are."""
    p = np.asarray(found, dtype=float).reshape(truth.shape)
    return _relative(p[:count], truth[:count]), _relative(p[count:], truth[count:])


def _relative(found: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """The largest over the outputs."""
    off, size = np.linalg.norm(found - truth, axis=0), np.linalg.norm(truth, axis=0)
    return float(np.divide(off, size, out=np.where(off > 0, np.inf, 0.0), where=size > 0).max())
