"""k(x, z) = exp(-(number of columns in which x and z differ) / lengthscale^2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.categories.items import Label
from mercer.kernels.categories.labelled import Labelled, one_of, shares
from mercer.kernels.categories.one_hot import EQUAL, RARITY, by_means, one_hot, rarely
from mercer.kernels.categories.shares import Shares
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import MEDIAN, length
from mercer.kernels.latex import exponential, over
from mercer.kernels.median import median_length
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.objects.domains import CATEGORIES
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision import gaps
from mercer.kernels.proof.judgement import Fact


class Hamming(Labelled):
    """The Gaussian kernel of labels: each column in which two rows differ divides k by the same number.

    `k(x, z) = exp(-|phi(x) - phi(z)|^2 / (2 lengthscale^2))` with a feature per label, so that `|phi(x) - phi(z)|^2` is
    twice the number of columns that differ. Its lengthscale is that of a Gaussian kernel of columns of mean square 1:
    two random rows of such a column are as far apart, squared, as two different labels. A product of both with one
    lengthscale is the Gaussian kernel of all columns. Cost: as for `Match`.

    Parameters
    ----------
    lengthscale : float or "median", default=1.0
        Positive scale; "median" takes the median distance of the data.
    weights : {"equal", "rarity"}, default="equal"
        With "rarity" a difference counts (w(x_k) + w(z_k)) / 2, with the w of `Match`.
    missing : {"category", "marginalised", "refuse"}, default="category"
        As in `Match`.
    seen : tuple, default=()
        For each column the labels and their shares; found by `resolve`.

    Examples
    --------
    >>> from mercer.kernels import Hamming
    >>> Hamming(2.0)([["red", "S"], ["red", "M"], ["blue", "L"]]).round(4)
    array([[1.    , 0.7788, 0.6065],
           [0.7788, 1.    , 0.6065],
           [0.6065, 0.6065, 1.    ]])

    References
    ----------
    Kondor and Lafferty, Diffusion kernels on graphs and other discrete input spaces (2002), section 4.
    """

    formula = "exp(-(number of columns with x_k != z_k) / lengthscale^2)"

    lengthscale: float | str = length(default=1.0)
    weights: str = one_of(EQUAL, RARITY)
    missing: str = one_of("category", "marginalised", "refuse")
    seen: Shares = shares()

    @property
    def needs_shares(self) -> bool:
        return super().needs_shares or self.weights == RARITY

    @property
    def divisible(self) -> bool:
        return True

    def lifted(self, labels: Sequence[Label], seen: dict[Label, float], where: str) -> Any:
        return one_hot(labels, self.weights, seen)

    def evaluate(self, pairs: Pairs) -> Block:
        # The same features for every lengthscale: sweeps over lengthscales lift labels once.
        key = self.with_parameters({"lengthscale": 1.0})
        lifted = pairs.jointly((type(self), key), key.encoded)
        return lifted.radial(profile, "squared distance", float(self.lengthscale))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.ones(points.values.shape[0])

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        key = self.with_parameters({"lengthscale": 1.0})
        u = pairs.jointly(key.encoded).squared_distance / float(self.lengthscale) ** 2
        return FeatureGap.stationary(1.0, gaps.decay(u / 2))

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        counted = self.counted(points, weights)
        if self.lengthscale != MEDIAN:
            return counted
        rows, _ = counted.with_parameters({"lengthscale": 1.0}).encoded(points, points)
        found = median_length(type(self).__name__, rows, weights, self.distances)
        return counted.with_parameters({"lengthscale": stretch * found})

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the Gaussian kernel after the labels of each column became features, 1 where the row holds the "
            f"label, else 0{rarely(self.weights)} (rule of the map){by_means(self.missing)}"
        )
        return (Fact(CATEGORIES, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        differ = rf"{{{x}}}_k \ne {{{z}}}_k"
        rare = rf"\sum_k \frac{{w({{{x}}}_k) + w({{{z}}}_k)}}{{2}} [{differ}]"
        count = rf"\#\{{k : {differ}\}}" if self.weights == EQUAL else rare
        return exponential("-" + over(count, self.lengthscale, power=2))


def profile(u: NDArray[Any]) -> NDArray[Any]:
    """The Gaussian of a squared distance in units of the squared lengthscale."""
    return np.asarray(np.exp(-u / 2))
