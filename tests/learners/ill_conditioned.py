"""Problems of least squares that lose digits, and what becomes of them: right or wrong, warned or not.

A problem is a kernel, a table of a kind that costs accuracy, a penalty, and how it is fitted. Kernels, tables and
penalties are crossed in a fixed order, and the seed of a problem is its place in it. Where it is the two together that
matter (the fused pass, a penalty per output, problems that once were silently wrong), it is written down by hand.
"""

import re
import warnings
from collections.abc import Callable, Iterator
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
from mercer.kernels.evaluation.evaluate import fused_from

Array = NDArray[Any]
LIMITS = {"float64": 1e-6, "float32": 1e-3}
"""The relative error of predictions that may go without a warning, by the dtype of the table."""
ROWS, NEW = 10, 5


@dataclass(frozen=True, eq=False)
class Problem:
    """What is fitted, and where it is to predict.

    label : the kernel's, and the kind of table
    weights : None for one each
    fused : whether the compiled pass evaluates the kernel
    """

    label: str
    kernel: k.Kernel
    X: Array
    y: Array
    new: Array
    alpha: Any
    intercept: bool
    weights: Array | None = None
    fused: bool = False

    @property
    def name(self) -> str:
        """All of it in a line."""
        extra = [self.X.dtype.name]
        extra += ["intercept"] if self.intercept else []
        extra += ["weights"] if self.weights is not None else []
        extra += ["2 outputs"] if self.y.ndim == 2 else []
        return f"{self.label}, alpha {self.alpha}, {', '.join(extra)}"

    @property
    def limit(self) -> float:
        """The error that may go without a warning."""
        return LIMITS[self.X.dtype.name]


# -- kernels ----------------------------------------------------------------------------------------------------------

KERNELS: dict[str, Callable[[Array], k.Kernel]] = {
    "gaussian": lambda X: k.Gaussian("median"),
    "wide gaussian": lambda X: _stretched(k.Gaussian("median"), X, 30.0),
    "laplace": lambda X: k.Laplace("median"),
    "matern 1/2": lambda X: k.Matern(0.5, "median"),
    "matern 3/2": lambda X: k.Matern(1.5, "median"),
    "matern 5/2": lambda X: k.Matern(2.5, "median"),
    "wide matern 5/2": lambda X: _stretched(k.Matern(2.5, "median"), X, 100.0),
    "rational quadratic": lambda X: k.RationalQuadratic(0.7, "median"),
    "sinc": lambda X: k.Sinc("median"),
    "wendland 3, 1": lambda X: k.Wendland(3, 1, "median"),
    "wendland 3, 3": lambda X: _stretched(k.Wendland(3, 3, "median"), X, 20.0),
    "product laplace": lambda X: k.ProductLaplace("median"),
    "product sinc": lambda X: k.ProductSinc("median"),
    "periodic": lambda X: k.Periodic(1.7 * _size(X), 0.8),
    "linear": lambda X: k.Linear(),
    "polynomial 2": lambda X: k.Polynomial(2),
    "polynomial 3": lambda X: k.Polynomial(3, 0.5),
    "homogeneous polynomial 3": lambda X: k.Polynomial(3, 0.0),
    "exponential": lambda X: k.Exponential(_size(X)),
    "parabolic": lambda X: k.Parabolic(),
    "cosine": lambda X: k.Cosine(),
    "arc cosine 0": lambda X: k.ArcCosine(0),
    "arc cosine 1": lambda X: k.ArcCosine(1),
    "geodesic": lambda X: k.Geodesic(),
    "min": lambda X: k.Min(),
    "chi squared": lambda X: k.ChiSquared(),
    "exponential chi squared": lambda X: k.ExponentialChiSquared("median"),
    "monomials": lambda X: k.Monomials(3),
    "powers": lambda X: k.Powers(3),
    "subsets": lambda X: k.Subsets(),
    "subsets of one or two": lambda X: k.Subsets(1, 2),
    "trigonometric": lambda X: k.Trigonometric(2, 2.2 * _size(X)),
    "sum": lambda X: k.Gaussian("median") + 0.5 * k.Linear() + 2.0,
    "product": lambda X: k.Linear() * k.Gaussian("median"),
    "root": lambda X: k.Gaussian("median") ** 0.5,
    "exp": lambda X: k.exp(k.Cosine()),
    "normalized": lambda X: k.Polynomial(2).normalized(),
    "weighted": lambda X: k.Matern(1.5, "median").weighted(_first_column),
    "scaled": lambda X: k.Gaussian(2 * _size(X)).scaled([1.0, 2.0, 3.0][: X.shape[1]]),
    "on a column": lambda X: k.Matern(2.5, "median").on(0),
    "after a matrix": lambda X: k.Gaussian(3 * _size(X)).after([[1.0, 2.0, 3.0][: X.shape[1]], [1.0] * X.shape[1]]),
}
"""Every kernel, for a table: those without a lengthscale "median" get numbers of the size of the table."""

NONNEGATIVE = ("min", "chi squared", "exponential chi squared")


def _size(X: Array) -> float:
    return float(np.abs(X).max())


def _stretched(kernel: k.Kernel, X: Array, factor: float) -> k.Kernel:
    return kernel.resolve(X).stretched(factor)


def _first_column(rows: Array) -> Array:
    return 1 + rows[:, 0] * rows[:, 0]


# -- tables -----------------------------------------------------------------------------------------------------------

Table = tuple[Array, Array, Array]


def _spread(random: np.random.Generator, d: int) -> Table:
    """Rows, a smooth y with some noise, and new rows: one between two rows, a row itself, and others like them."""
    X, new = random.normal(size=(ROWS, d)), random.normal(size=(NEW, d))
    new[0], new[1] = (X[0] + X[-1]) / 2, X[1]
    return X, np.sin(X.sum(axis=1)) + 0.3 * X[:, 0] + 0.1 * random.normal(size=ROWS), new


def _copies(random: np.random.Generator, d: int, gap: float) -> Table:
    X, y, new = _spread(random, d)
    half = ROWS // 2
    X[half:] = X[:half] + gap * random.normal(size=(half, d))
    return X, y, new


def _moved(random: np.random.Generator, d: int, offset: float) -> Table:
    X, y, new = _spread(random, d)
    return X + offset, y, new + offset


def _scaled(random: np.random.Generator, d: int, scales: list[float]) -> Table:
    X, y, new = _spread(random, d)
    return X * scales[:d], y, new * scales[:d]


def _answers(random: np.random.Generator, d: int, scale: float, offset: float) -> Table:
    X, y, new = _spread(random, d)
    return X, scale * y + offset, new


TABLES: dict[str, Callable[[np.random.Generator, int], Table]] = {
    "well spread": _spread,
    "copies": lambda random, d: _copies(random, d, 0.0),
    "near copies, 1e-4": lambda random, d: _copies(random, d, 1e-4),
    "near copies, 1e-8": lambda random, d: _copies(random, d, 1e-8),
    "near copies, 1e-12": lambda random, d: _copies(random, d, 1e-12),
    "offset 1e3": lambda random, d: _moved(random, d, 1e3),
    "offset 1e6": lambda random, d: _moved(random, d, 1e6),
    "offset 1e9": lambda random, d: _moved(random, d, 1e9),
    "scale 1e-8": lambda random, d: _scaled(random, d, [1e-8] * 3),
    "scale 1e-4": lambda random, d: _scaled(random, d, [1e-4] * 3),
    "scale 1e4": lambda random, d: _scaled(random, d, [1e4] * 3),
    "scale 1e8": lambda random, d: _scaled(random, d, [1e8] * 3),
    "scales 1e-8 to 1e8": lambda random, d: _scaled(random, d, [1e8, 1e-8, 1.0]),
    "y of 1e-8": lambda random, d: _answers(random, d, 1e-8, 0.0),
    "y of 1e8": lambda random, d: _answers(random, d, 1e8, 0.0),
    "y near 1e9": lambda random, d: _answers(random, d, 1.0, 1e9),
}
ALPHAS = (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 0.0, "auto", 1e-14, 1e-9, 1e-6)
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.0, 1e-3, 1.0, 1e3, 1.0])


# -- the suite --------------------------------------------------------------------------------------------------------


@cache
def suite() -> tuple[Problem, ...]:
    """All problems, in a fixed order."""
    crossed = ((i, j) for i in range(len(KERNELS)) for j in range(len(TABLES)) if (i + j) % 2 == 0)
    return (*(_crossed(i, j) for i, j in crossed), *_by_hand())


def _crossed(i: int, j: int) -> Problem:
    """Kernel i on table j: the rest follows from both, in periods that do not share a divisor."""
    kernel, table = list(KERNELS)[i], list(TABLES)[j]
    X, y, new = TABLES[table](np.random.default_rng([i, j]), 1 + (i + j // 2) % 3)
    if kernel in NONNEGATIVE:
        X, new = np.abs(X), np.abs(new)
    if (i + 3 * j) % 5 == 0 and table != "offset 1e9":  # there float32 has one number for all rows
        X, y, new = (part.astype(np.float32) for part in (X, y, new))
    y = np.column_stack([y, 1e-3 * y[::-1]]) if (i + j) % 7 == 0 else y
    weights = WEIGHTS if (2 * i + j) % 11 == 0 else None
    alpha = ALPHAS[(5 * i + j) % len(ALPHAS)]
    return Problem(f"{kernel}, {table}", KERNELS[kernel](X), X, y, new, alpha, (i + j // 2) % 3 > 0, weights)


def _by_hand() -> Iterator[Problem]:
    yield from _larger()
    yield from _compiled()
    yield from _found()
    X, y, new = (1e4 * part for part in _spread(np.random.default_rng(4), 2))
    for name in ("gaussian", "laplace", "matern 5/2", "linear", "polynomial 2", "product laplace", "cosine", "sum"):
        rows, answers, others = (part.astype(np.float32) for part in (X + 1e9, y, new + 1e9))
        yield Problem(f"{name}, scale 1e4, offset 1e9", KERNELS[name](rows), rows, answers, others, 1e-10, True)
    table = TABLES["near copies, 1e-8"](np.random.default_rng(1), 2)
    yield Problem("matern 0.8, near copies, 1e-8", k.Matern(0.8, 1.3), *table, 1e-10, True)
    X, y, new = TABLES["copies"](np.random.default_rng(2), 2)
    for name in ("gaussian", "polynomial 3", "min"):
        rows, other = (np.abs(X), np.abs(new)) if name in NONNEGATIVE else (X, new)
        both = np.column_stack([y, y[::-1]])
        yield Problem(f"{name}, an alpha an output", KERNELS[name](X), rows, both, other, [1e-12, 1e-2], True)


def _larger() -> Iterator[Problem]:
    """Forty rows."""
    random = np.random.default_rng(40)
    X, new = np.sort(random.uniform(0, 3, size=(40, 1)), axis=0), random.uniform(0, 3, size=(NEW, 1))
    y = np.exp(1.5 * X[:, 0] - 1) + 0.1 * random.normal(size=40)
    for kernel in (k.Gaussian("median"), k.Matern(1.5, "median"), k.Polynomial(6), k.Periodic(4.0)):
        yield Problem(f"{kernel}, 40 rows", kernel, X, y, new, 1e-12, True)
        yield Problem(f"{kernel}, 40 rows, offset 1e6", kernel, X + 1e6, y, new + 1e6, 1e-8, True)


def _compiled() -> Iterator[Problem]:
    """Kernels that the fused pass evaluates, in `fit` and in `predict`."""
    table = TABLES["near copies, 1e-4"](np.random.default_rng(3), 2)
    for kernel in (k.Gaussian("median"), k.Matern(1.5, "median")):
        problem = Problem(f"{kernel}, fused, near copies, 1e-4", kernel, *table, 1e-10, True, fused=True)
        yield problem
        yield replace(problem, label=f"{kernel}, fused, offset 1e9", X=problem.X + 1e9, new=problem.new + 1e9)


def _found() -> Iterator[Problem]:
    """What once was silently wrong, or far beyond its estimate."""
    # Z'Z loses directions in which no row lies, and new rows do.
    for seed in (0, 1):
        X, y, new = _copies(np.random.default_rng([seed, 0]), 2, 0.0)
        yield Problem(f"powers, directions without rows {seed}", k.Powers(3), X, y, new, 1e-10, False)
        X, y, new = _moved(np.random.default_rng([seed, 1]), 3, 1e3)
        copies = np.repeat(X[:5], 2, axis=0)
        yield Problem(f"trigonometric, directions without rows {seed}", k.Trigonometric(1), copies, y, new, 1e-14, True)
        X, y, new = _spread(np.random.default_rng([seed, 2]), 3)
        yield Problem(f"subsets, directions without rows {seed}", k.Subsets(), X[:7], y[:7], new, 1e-10, False)
    # An error along the vector of ones, where a K far from the origin is large.
    X, y, new = _moved(np.random.default_rng(6), 3, 1e6)
    yield Problem("polynomial 3, off balance", k.Polynomial(3), X, y + 1e3, new, 1e26, True)
    yield Problem("polynomial 3, less off balance", k.Polynomial(3), X, y + 1e3, new, 1e28, True)
    # Rows of little weight are predictions too.
    heavy = np.where(np.arange(ROWS) == 3, 1e6, np.where(np.arange(ROWS) == 5, 1e-6, 1.0))
    for seed in range(8):
        X, y, new = _spread(np.random.default_rng([seed, 3]), 1)
        yield Problem(f"matern 5/2, unequal weights {seed}", k.Matern(2.5, "median"), X, y, new, 1e-12, True, heavy)
    # Between near copies a model may be steep.
    for seed in range(4):
        X, _, new = (1e8 * part for part in _copies(np.random.default_rng([seed, 4]), 1, 1e-8))
        kernel = 0.5 * k.Matern(1.5, "median") + 2.0
        yield Problem(f"matern 3/2 and a constant, steep {seed}", kernel, X, np.sin(X[:, 0] / 1e8), new, 1e-14, False)


# -- what becomes of them ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Report:
    """What became of a problem.

    error : the relative error of predictions in the 2-norm, at the rows or at the new ones, whichever is larger
    unrounded : the same before predictions are rounded to the dtype of the table
    warned : the messages of the warnings of `fit`
    condition, rounding, converged, side : what the model says
    """

    problem: Problem
    error: float
    unrounded: float
    warned: tuple[str, ...]
    condition: float
    rounding: float
    converged: bool
    side: str

    @property
    def told(self) -> list[str]:
        """The condition numbers that warnings name."""
        return [found for text in self.warned for found in re.findall(r"the condition number is (\S+?)(?:[,)])", text)]

    @property
    def missed(self) -> bool:
        """Whether the predictions are wrong."""
        return not self.error <= self.problem.limit

    @property
    def silent(self) -> bool:
        """Wrong, and nobody said so."""
        return self.missed and not self.told

    @property
    def false_alarm(self) -> bool:
        """Told, although the error is less than a hundredth of what would have been allowed without a word."""
        return bool(self.told) and self.error <= self.problem.limit / 100


@cache
def report(index: int) -> Report:
    """What becomes of a problem of the suite; it is solved once."""
    return examine(suite()[index])


def examine(problem: Problem) -> Report:
    """Fit, predict, and compare with many digits."""
    model = KernelRidge(problem.kernel, alpha=problem.alpha, fit_intercept=problem.intercept)
    with fused_from(0) if problem.fused else nullcontext():
        warned = warnings_of(lambda: model.fit(problem.X, problem.y, sample_weight=problem.weights), NumericalWarning)
        rows = np.concatenate([problem.X, problem.new])
        found, wide = model.predict(rows), model.predict(rows.astype(float))
    truth = truth_of(problem, model.kernel_, model.alpha_)
    said = model.condition_, model.rounding_, model.converged_, model.plan_.details.side
    return Report(problem, error_of(problem, found, truth), error_of(problem, wide, truth), warned, *said)


def warnings_of(action: Callable[[], Any], kind: type[Warning]) -> tuple[str, ...]:
    """The messages of all warnings of a kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return tuple(str(each.message) for each in caught if issubclass(each.category, kind))


def truth_of(problem: Problem, kernel: k.Kernel, alpha: Any) -> Array:
    """What is to be predicted at the rows and then at the new ones, (rows, outputs)."""
    Y = problem.y.reshape(len(problem.y), -1).astype(float)
    alphas = np.broadcast_to(alpha, Y.shape[1:])
    return predictions(kernel, problem.X, Y, problem.new, alphas, problem.weights, problem.intercept)


def error_of(problem: Problem, found: Array, truth: Array) -> float:
    """|p - t| / |t| for predictions p and the truth t: the largest over outputs, at the rows and at the new ones."""
    p, n = np.asarray(found, dtype=float).reshape(truth.shape), len(problem.X)
    return max(_relative(p[:n], truth[:n]), _relative(p[n:], truth[n:]))


def _relative(found: Array, truth: Array) -> float:
    off, size = np.linalg.norm(found - truth, axis=0), np.linalg.norm(truth, axis=0)
    return float(np.divide(off, size, out=np.where(off > 0, np.inf, 0.0), where=size > 0).max())
