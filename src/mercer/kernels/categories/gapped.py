"""The Gaussian kernel of numbers some of which are missing."""

from __future__ import annotations

import math
from dataclasses import field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.categories.features import KIND, encoded
from mercer.kernels.categories.hamming import profile
from mercer.kernels.categories.items import MISSING, Label
from mercer.kernels.categories.shares import text_of
from mercer.kernels.domain import Domain
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import MEDIAN, check_number, check_positive, length
from mercer.kernels.latex import exponential, gap, over
from mercer.kernels.median import median_length
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.objects.domains import CATEGORIES
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision import gaps
from mercer.kernels.proof.judgement import Fact


def check_moments(owner: str, name: str, value: Any) -> tuple[tuple[float, float], ...]:
    """A mean and a positive deviation of each column; empty where they are to be found."""
    try:
        pairs = [(mean, deviation) for mean, deviation in value]
    except (TypeError, ValueError) as error:
        needs = f"pairs of a mean and a deviation for {name}, one per column"
        raise KernelError(message(needs, f"got {value!r:.60}", "Leave it to resolve().", subject=owner)) from error
    return tuple((check_number(owner, name, mean), check_positive(owner, name, deviation)) for mean, deviation in pairs)


class Gapped(ObjectKernel):
    """The Gaussian kernel of columns of numbers with missing entries, each column standardised.

    `k(x, z) = exp(-|g(x) - g(z)|^2 / (2 lengthscale^2))`. A number has the features ((x_k - mean_k) / deviation_k, 0),
    a missing one (0, 1): it is taken for the mean, and one deviation away from everything that is known. Means and
    deviations are those of the entries that are there. Cost: as for a Gaussian kernel of twice as many columns.

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive, in deviations; "median" takes the median distance of the data.
    moments : tuple of (float, float), default=()
        The mean and the deviation of each column; found by `resolve`.

    Examples
    --------
    >>> from mercer.kernels.categories.gapped import Gapped
    >>> Gapped(1.0, moments=[[10.0, 2.0]])([10.0, 12.0, None]).round(4)
    array([[1.    , 0.6065, 0.6065],
           [0.6065, 1.    , 0.3679],
           [0.6065, 0.3679, 1.    ]])
    """

    formula = "exp(-|g(x) - g(z)|^2 / (2 lengthscale^2)), g(x)_k = ((x_k - mean_k) / deviation_k, 0); (0, 1) if missing"

    lengthscale: float | str = length(default=1.0)
    moments: tuple[tuple[float, float], ...] = field(default=(), metadata={"check": check_moments})

    @property
    def domain(self) -> Domain:
        return CATEGORIES

    @property
    def is_open(self) -> bool:
        return super().is_open or not self.moments

    @property
    def divisible(self) -> bool:
        return True

    @property
    def width(self) -> int | None:
        return len(self.moments) or None

    def evaluate(self, pairs: Pairs) -> Block:
        key = self.with_parameters({"lengthscale": 1.0})
        lifted = pairs.jointly((type(self), key), key.encoded)
        return lifted.radial(profile, "squared distance", float(self.lengthscale))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.ones(points.values.shape[0])

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        key = self.with_parameters({"lengthscale": 1.0})
        u = pairs.jointly(key.encoded).squared_distance / float(self.lengthscale) ** 2
        return FeatureGap.stationary(1.0, gaps.decay(u / 2))

    def encoded(self, left: Points, right: Points) -> tuple[Points, Points]:
        """g of the rows of two tables.

        Parameters
        ----------
        left, right : Points
            The rows of both tables.

        Returns
        -------
        (Points, Points)
        """
        width = left.values.shape[1]
        if width != len(self.moments):
            needs, got = f"the {len(self.moments)} columns whose means are known", f"got {width}"
            raise InputError(message(needs, got, "Choose the same ones with on().", subject="Gapped"))
        return encoded(self, left, right, self._lift)

    def _lift(self, labels: tuple[Label, ...], column: int, where: str) -> NDArray[np.float64]:
        mean, deviation = self.moments[column]
        known = np.array([label is not MISSING for label in labels])
        found = np.zeros((len(labels), 2))
        found[known, 0] = (_numbers(labels, where)[known] - mean) / deviation
        found[~known, 1] = 1.0
        return found

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        found = self if self.moments else self.with_parameters({"moments": _moments(points, weights)})
        if self.lengthscale != MEDIAN:
            return found
        rows, _ = found.with_parameters({"lengthscale": 1.0}).encoded(points, points)
        middle = median_length("Gapped", rows, weights, self.distances)
        return found.with_parameters({"lengthscale": stretch * middle})

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the Gaussian kernel after each entry became two features, (x_k - mean_k) / deviation_k and 0 for a "
            "number, 0 and 1 for a missing one (rule of the map)"
        )
        return (Fact(CATEGORIES, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        inside = ", ".join(f"{item.name}={text_of(getattr(self, item.name))}" for item in fields(self))
        return f"{type(self).__name__ if python else self.name}({inside})", ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        return exponential("-" + over(f"{gap(f'g({x})', f'g({z})')}^2", self.lengthscale, power=2, factor=2))


def _numbers(labels: tuple[Label, ...], where: str) -> NDArray[np.float64]:
    """Labels that are texts of finite numbers; NaN for missing ones."""
    found = np.empty(len(labels))
    for i, label in enumerate(labels):
        try:
            found[i] = math.nan if label is None else float(label)
        except ValueError:
            found[i] = math.inf
        if label is not None and not math.isfinite(found[i]):
            got, remedy = f"{where} holds {label!r}", "Convert the column to numbers, or use Match()."
            raise InputError(message("finite numbers, or missing entries", got, remedy, subject="Gapped"))
    return found


def _moments(points: Points, weights: NDArray[Any]) -> tuple[tuple[float, float], ...]:
    """The weighted mean and deviation of each column; a column without spread has the deviation 1."""
    found = []
    for c in range(points.values.shape[1]):
        column = points.things(c, KIND, subject="Gapped")
        numbers = _numbers(column.store.items, points.label(c))[column.codes]
        known = np.isfinite(numbers)
        found.append(_moment(numbers[known], weights[known]))
    return tuple(found)


def _moment(numbers: NDArray[Any], weights: NDArray[Any]) -> tuple[float, float]:
    """Sums without rounding, so that the order of rows changes no digit."""
    whole = math.fsum(weights)
    if whole == 0:
        return 0.0, 1.0
    mean = math.fsum(weights * numbers) / whole
    spread = math.sqrt(math.fsum(weights * (numbers - mean) ** 2) / whole)
    return mean, spread if spread > 0 else 1.0
