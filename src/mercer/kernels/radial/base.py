"""Kernels of the distance: k(x, z) = phi(|x - z| / lengthscale)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision import gaps
from mercer.kernels.precision.mpmath_arrays import precisely

if TYPE_CHECKING:
    from mercer.kernels.waves import FrequencyGrid, WaveWeights


class Radial(Kernel):
    """A function of the distance, in units of the field `lengthscale` where the kernel has one.

    A kernel states its `argument`: "squared distance" (then the profile is called with
    `u = |x - z|^2 / lengthscale^2`) or "distance" (`u = |x - z| / lengthscale`), whichever its formula needs, so that
    no digit is lost by a root that is squared again.

    Cost: n m d operations for n x m pairs of d columns, by products of matrices, and one formula per pair in the same
    pass; memory for the result, or for tiles where only products with vectors are needed (`Gram`).

    Examples
    --------
    >>> from mercer.kernels import Radial
    >>> class Cauchy(Radial):
    ...     lengthscale: float = 1.0
    ...     def profile(self, u):
    ...         return 1 / (1 + u)
    >>> Cauchy(2.0)([[0.0]], [[2.0]])
    array([[0.5]])
    """

    argument: ClassVar[Literal["squared distance", "distance"]] = "squared distance"

    @abstractmethod
    def profile(self, u: NDArray[Any]) -> NDArray[Any]:
        """k as a function of the scaled (squared) distance.

        Parameters
        ----------
        u : array
            At least 0, infinity included.

        Returns
        -------
        array
        """

    def gap(self, u: NDArray[Any]) -> NDArray[Any]:
        """profile(0) - profile(u), to full digits where u is small.

        Without a formula it is found from numbers of 50 digits, some 20 microseconds each; a profile that does not take
        them keeps the digits of a difference.

        Parameters
        ----------
        u : array
            At least 0.

        Returns
        -------
        array
        """
        return gaps.of_profile(self.profile, u)

    def spectrum(self, mp: Any, w: float, d: int) -> Any:
        """The Fourier transform on R^d at a frequency, as a part of the integral of the absolute value of k, in mpmath.

        None where no closed form is known.

        Parameters
        ----------
        mp : mpmath context
            Where to compute.
        w : float
            The length of the frequency times the lengthscale.
        d : int
            The number of columns.

        Returns
        -------
        mpf or None
        """
        return None

    def suspect_frequencies(self, d: int) -> Iterable[float]:
        """Frequencies at which `spectrum` may be negative on R^d, the likeliest first; none where it cannot be.

        Parameters
        ----------
        d : int
            The number of columns.

        Returns
        -------
        iterable of float
        """
        return ()

    def density(self, lengths: NDArray[np.float64], d: int) -> NDArray[np.float64] | None:
        """The density of the kernel's frequencies on R^d, by their lengths: k is its Fourier transform.

        Without a formula of its own that of the spectral law. None where none is known; a kernel that states one falls
        with the distance, and is nowhere negative.

        Parameters
        ----------
        lengths : array
            Lengths of frequencies w.
        d : int
            The number of columns.

        Returns
        -------
        array or None
        """
        law = self.law(d)
        return None if law is None else law.density(lengths)

    def waves(self, grid: FrequencyGrid) -> WaveWeights | None:
        from mercer.kernels.waves import of_density  # few kernels are asked

        d = len(grid.periods)
        if self.max_dimension is not None and d > self.max_dimension:
            return None
        probe = self.density(np.zeros(1), d)
        if probe is None or not np.isfinite(probe).all():
            return None
        return of_density(lambda lengths: np.asarray(self.density(lengths, d)), self._at_distance, grid)

    def _at_distance(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        u = distances / self.scale
        return np.asarray(self.profile(u if self.argument == "distance" else u**2))

    @property
    def scale(self) -> float:
        """The unit of length."""
        return float(getattr(self, "lengthscale", 1.0))

    @property
    def radial(self) -> bool:
        return True

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.radial(self.profile, self.argument, self.scale)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        zeros = np.zeros(points.values.shape[0])
        return self.profile(precisely(zeros) if points.values.dtype == object else zeros)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        u = pairs.squared_distance
        u = np.sqrt(u) / self.scale if self.argument == "distance" else u / self.scale / self.scale
        return FeatureGap.stationary(float(self.profile(np.zeros(1))[0]), self.gap(u))
