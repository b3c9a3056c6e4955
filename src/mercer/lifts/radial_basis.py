"""Bumps around centers: the radial basis functions of least squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.compute.consistency import shapes
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.fields import check_length
from mercer.lifts.base import Lift
from mercer.lifts.centers import choose
from mercer.lifts.randomness import generator


class RadialBasis(Lift):
    """One Gaussian bump per center: `phi_i(x) = exp(-|x - c_i|^2 / (2 lengthscale^2))`.

    Its kernel is its own, k(x, z) = sum_i phi_i(x) phi_i(z): of finite rank, small far from all centers, and not a
    function of x - z. It is NOT the Gaussian kernel, whose features are infinitely many. Only where the centers are
    dense and uniform does the sum become an integral: with a spacing of h in each of d columns, and far from the edge,
    (h / (sqrt(pi) lengthscale))^d k(x, z) tends to a Gaussian of lengthscale sqrt(2) times as long. For the Gaussian
    kernel itself take `Nystrom` or `RandomFourier`. Time O(n D d) and memory O(n D) for D centers; k-means takes the
    same a step.

    Parameters
    ----------
    centers : {"kmeans", "random", "grid"} or table, default="kmeans"
        "kmeans", the means of clusters of the data; "random", some of its rows, no two equal; "grid", regular over the
        range of every column; or a table with one center per row, none of them twice.
    n_components : int or None, default=None
        How many centers, at most the number of distinct rows; None for 100, or as many as there are. For a "grid" the
        most: it has m points per column with m^d <= n_components, and is refused where two are too many.
    lengthscale : float or "median", default="median"
        Positive; "median" takes the median distance of the rows.
    random_state : int, Generator or None, default=None
        The source of "kmeans" and "random".

    Attributes
    ----------
    centers_ : array of shape (D, d)
        The centers.
    lengthscale_ : float
        The width of a bump.

    Examples
    --------
    >>> from mercer.lifts.radial_basis import RadialBasis
    >>> lift = RadialBasis(centers=[[0.0], [2.0]], lengthscale=1.0)
    >>> lift.fit_transform([[0.0], [1.0]]).round(4)
    array([[1.    , 0.1353],
           [0.6065, 0.6065]])
    >>> lift.get_feature_names_out().tolist()
    ['rbf(x, c1)', 'rbf(x, c2)']

    References
    ----------
    Broomhead and Lowe, Multivariable functional interpolation and adaptive networks, Complex Systems 2 (1988).
    """

    def __init__(
        self,
        centers: ArrayLike | str = "kmeans",
        n_components: int | None = None,
        *,
        lengthscale: float | str = "median",
        random_state: Any = None,
    ) -> None:
        self.centers = centers
        self.n_components = n_components
        self.lengthscale = lengthscale
        self.random_state = random_state

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z), once fitted: the sum over the centers of products of bumps."""
        return self.induced

    def learn(self, X: NDArray[Any]) -> None:
        bump = Gaussian(check_length("RadialBasis", "lengthscale", self.lengthscale))
        self.centers_ = choose(self.centers, X, self.n_components, generator(self.random_state))
        resolved = bump.resolve(X)
        self.lengthscale_ = float(resolved.lengthscale)  # type: ignore[attr-defined]  # a Gaussian stays one

    _saved: ClassVar[Mapping[str, Any]] = {"centers_": NDArray[np.floating[Any]], "lengthscale_": float}

    def _inconsistency(self) -> str:
        return shapes((self.centers_, (None, self.n_features_in_)))

    def n_features(self) -> int:
        return len(self.centers_)

    def features(self, X: NDArray[Any]) -> NDArray[Any]:
        # Centers that are no float32 are not rounded to it: far from zero that would move them by a lengthscale.
        centers = self.centers_.astype(X.dtype)
        fits = bool((centers == self.centers_).all())
        values = Gaussian(self.lengthscale_)(X, centers if fits else self.centers_)
        return values.astype(X.dtype, copy=False)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return [f"rbf(x, c{i})" for i in range(1, self.n_features() + 1)]
