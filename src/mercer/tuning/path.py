"""The curve of leave-one-out errors over penalties, and which penalty it recommends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mercer.operators import Centering
from mercer.solvers.ridge.spectrum import Spectrum

Array = NDArray[np.float64]

MIN_ALPHA = 1e-10
"""The least default penalty, in units of the largest eigenvalue: below it rounding takes over."""
MAX_ALPHA = 10.0
"""The largest one, in the same units."""
DEFAULT_ALPHAS = 45
"""How many there are."""
EQUAL_ERRORS_TOLERANCE = 1e-9
"""Errors that differ by less than this part of themselves are equal."""
ROUNDING_ERROR_SHARE = 1e-28
"""Errors below this part of the largest are rounding: the square of some units in the last place."""
MAX_SHOWN_OUTPUTS = 3
"""Outputs that a line of text names."""


@dataclass(frozen=True, eq=False)
class Path:
    """The leave-one-out (or k-fold) error for each penalty.

    Parameters
    ----------
    alphas : array of shape (m,)
        The penalties, each at least 0.
    errors : array of shape (m, outputs)
        The mean squared leave-one-out error, copies counted; inf where a row has no prediction.
    wrong : array of shape (m,) or None, default=None
        The share of rows that, left out, got a wrong label, copies counted; None for regression.

    Examples
    --------
    >>> path = Path(np.array([0.1, 1.0, 10.0]), np.array([[0.5], [0.2], [0.9]]))
    >>> path.best, path.alpha
    (array([1]), array([1.]))
    >>> print(path)
    3 alphas from 0.1 to 10: least error 0.2 at alpha 1
    """

    alphas: Array
    errors: Array
    wrong: Array | None = None

    _nan: ClassVar[tuple[str, ...]] = ("errors", "wrong")
    """Fields that may hold NaN."""

    @classmethod
    def joined(cls, parts: list[Path]) -> Path:
        """Several paths, one after the other.

        Parameters
        ----------
        parts : list of Path
            At least one, all of the same targets.

        Returns
        -------
        Path
        """
        wrong = [part.wrong for part in parts if part.wrong is not None]
        return cls(
            np.concatenate([part.alphas for part in parts]),
            np.concatenate([part.errors for part in parts]),
            np.concatenate(wrong) if wrong else None,
        )

    @cached_property
    def best(self) -> NDArray[np.intp]:
        """(outputs,): the position of the least error, of equal ones that of the largest alpha.

        Labels have one for all outputs: that of the fewest wrong labels, and of the least sum of squared errors.
        """
        outputs = self.errors.shape[1]
        if self.wrong is None:
            return np.array([self._largest_of(_least(column)) for column in self.errors.T], dtype=np.intp)
        fewest = np.flatnonzero(_least(self.wrong))
        equal = fewest[_least(self.errors[fewest].sum(axis=1))]
        chosen = equal[np.argmax(self.alphas[equal])]
        return np.full(outputs, chosen, dtype=np.intp)

    @property
    def alpha(self) -> Array:
        """(outputs,): the penalty that is recommended for each output."""
        return self.alphas[self.best]

    def _largest_of(self, candidates: NDArray[np.bool_]) -> int:
        positions = np.flatnonzero(candidates)
        return int(positions[np.argmax(self.alphas[positions])])

    def table(self) -> str:
        """One line per penalty, with a star at the best of each output.

        Returns
        -------
        str
        """
        outputs = range(self.errors.shape[1])
        heads = ["alpha", *(["wrong"] if self.wrong is not None else []), *_heads(len(outputs))]
        lines = [" ".join(f"{head:>11} " for head in heads).rstrip()]
        for i, alpha in enumerate(self.alphas):
            shares = [] if self.wrong is None else [f"{self.wrong[i]:>11.4g} "]
            marked = [f"{self.errors[i, t]:>11.4g}{'*' if self.best[t] == i else ' '}" for t in outputs]
            lines.append(" ".join([f"{alpha:>11.4g} ", *shares, *marked]).rstrip())
        return "\n".join(lines)

    def __str__(self) -> str:
        m, outputs = self.errors.shape
        plural, low, high = "s" * (m != 1), self.alphas.min(), self.alphas.max()
        what, found = "least error", self.errors[self.best, np.arange(outputs)]
        if self.wrong is not None:
            what, found = "fewest wrong labels", self.wrong[self.best[:1]]
        at = self.alpha if self.wrong is None else self.alpha[:1]
        return f"{m} alpha{plural} from {low:.3g} to {high:.3g}: {what} {_few(found)} at alpha {_few(at)}"


def default_alphas(largest: float, count: int = DEFAULT_ALPHAS) -> Array:
    """Penalties in equal ratios, from 1e-10 to 10 times the largest eigenvalue of the matrix.

    largest : that eigenvalue; where it is not above 0 the matrix is zero, and 1 stands for it
    count : how many, at least 1

    >>> default_alphas(2.0, 3)
    array([2.00000000e-10, 6.32455532e-05, 2.00000000e+01])
    """
    scale = float(largest) if largest > 0 else 1.0
    return np.asarray(scale * np.geomspace(MIN_ALPHA, MAX_ALPHA, count))


def scale_of(spectrum: Spectrum, centering: Centering, sizes: Array) -> float:
    """The largest eigenvalue; where all are rounding, as of a constant K that was centred, the size of K instead.

    sizes : sqrt(k(x_i, x_i))
    """
    size = float((centering.weights * sizes**2).max())
    telling = spectrum.values[-1 - (centering.intercept and len(sizes) > 1)]  # tau is one of the two largest
    rounding = 10 * len(sizes) * float(np.finfo(np.float64).eps) * size
    return float(spectrum.values[-1]) if telling > rounding else size


def _least(values: Array) -> NDArray[np.bool_]:
    """Which values are the least, to rounding; all of them where none is finite."""
    known = values[np.isfinite(values)]
    if not known.size:
        return np.ones(len(values), dtype=bool)
    limit = known.min() * (1 + EQUAL_ERRORS_TOLERANCE) + ROUNDING_ERROR_SHARE * known.max()
    return np.asarray(values <= limit)


def _heads(outputs: int) -> list[str]:
    return ["error"] if outputs == 1 else [f"error {t}" for t in range(outputs)]


def _few(values: Array) -> str:
    shown = ", ".join(f"{value:.3g}" for value in values[:MAX_SHOWN_OUTPUTS])
    return f"{shown}, ..." if len(values) > MAX_SHOWN_OUTPUTS else shown
