"""Fourier features on a grid of frequencies: deterministic, with a proven bound of their error."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.consistency import shapes
from mercer.errors import InputError, message, number_of, speaks
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import check_dimension, leaves
from mercer.kernels.points import Points
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate
from mercer.lifts.coerce import stated
from mercer.lifts.fourier import placed
from mercer.lifts.wave_grid import MAX_COLUMNS, MAX_FEATURES, WaveGrid, wave_grid


class FourierGrid(Lift):
    """Waves on an equispaced grid of frequencies, which stand for a stationary kernel on the box of the rows.

    With w_j = 2 pi j / P for whole j and the center c of the rows

        phi(x) = [sqrt(p_0), ..., sqrt(2 p_j) cos(w_j.(x - c)), ..., sqrt(2 p_j) sin(w_j.(x - c)), ...],

    one of j and -j each. Nothing is drawn, and `|phi(x).phi(z) - k(x, z)| <= error_` is proven for all x and z in the
    box of the rows of the fit (2 % wider on each side): `error_` is computed from the images of the kernel one period
    away, and from the weights of frequencies that are left out. Beyond the box the features repeat, and mean nothing.

    For one, two or three columns, and kernels that fall with the distance: Gaussian, Matern, Laplace, rational
    quadratic, Wendland; their sums, products and whole powers; with one lengthscale per column (`scaled`) or on some
    columns (`on`). Smooth kernels take few waves. Cost: fit, those of a table of frequencies; transform, n M d
    operations and n M numbers. `KernelRidge(FourierGrid(...))` makes no table.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian('median')"
        A kernel or its text; a lengthscale of "median", or left out of a text, is found from the data.
    epsilon : float, default=1e-6
        The error, in units of k(x, x), that is kept to.
    n_components : int or None, default=None
        How many features, at most, with whatever error that leaves; None for as many as epsilon needs.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its open numbers found and its columns by position.
    frequencies_ : array of shape (h, d)
        j, integers.
    weights_ : array of shape (1 + h,)
        p_0, and p_j of each frequency.
    periods_, center_, reach_ : array of shape (d,)
        P and c; the box ends at reach / 2 on each side of c.
    error_ : float
        The largest error of a kernel value in the box.
    mass_ : float
        k(x, x).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> lift = FourierGrid("matern(nu=2.5, lengthscale=0.3)", epsilon=1e-4).fit(X)
    >>> Z = lift.transform(X)
    >>> Z.shape, bool(abs(Z @ Z.T - lift.kernel_(X)).max() <= lift.error_)
    ((50, 41), True)
    >>> lift.certificate(X).kind
    'maximum'

    References
    ----------
    Greengard, Rachh and Barnett, Equispaced Fourier representations for efficient Gaussian process regression from a
    billion data points, SIAM/ASA Journal on Uncertainty Quantification 13 (2025).
    """

    exact: ClassVar[bool] = False

    def __init__(
        self, kernel: Kernel | str = "gaussian('median')", epsilon: float = 1e-6, n_components: int | None = None
    ) -> None:
        self.kernel = kernel
        self.epsilon = epsilon
        self.n_components = n_components

    def learn(self, X: Any) -> None:
        epsilon, most = self._numbers()
        if X.shape[1] > MAX_COLUMNS:
            got, remedy = f"got {X.shape[1]}", "Use RandomFourier or Nystrom for more, or choose columns."
            raise InputError(message(f"at most {MAX_COLUMNS} columns", got, remedy))
        rows = np.asarray(X, dtype=np.float64)
        kernel = self._resolved(rows)
        found = wave_grid(kernel, rows.min(axis=0), rows.max(axis=0), epsilon, most or MAX_FEATURES)
        if found is None:
            got = f"{kernel} does not depend on x - z alone, falls too slowly, or its density is not known"
            raise InputError(message("a kernel with a density of frequencies", got, "Use Nystrom, or a Matern kernel."))
        if most is None and found.relative > epsilon:
            many = f"{number_of(found.count, 'feature')} leave an error of {found.relative:.1e}"
            remedy = "Use a larger epsilon or lengthscale, a smoother kernel, or n_components."
            raise InputError(message(f"a grid of at most {MAX_FEATURES:,} features", many, remedy))
        self.keep(kernel, found)

    def keep(self, kernel: Kernel, grid: WaveGrid) -> None:
        """Take a grid that was found for a kernel with its numbers.

        Parameters
        ----------
        kernel : Kernel
            With its numbers.
        grid : WaveGrid
            Its waves.
        """
        self.kernel_ = kernel
        self.frequencies_, self.weights_ = grid.frequencies, grid.weights
        self.periods_, self.center_, self.reach_ = grid.periods, grid.center, grid.reach
        self.error_, self.mass_ = float(grid.error), float(grid.mass)

    def _numbers(self) -> tuple[float, int | None]:
        if not isinstance(self.epsilon, numbers.Real) or not 0 < float(self.epsilon) < 1:
            raise InputError(message("epsilon between 0 and 1", f"got {self.epsilon!r}", "Use 1e-6 if in doubt."))
        most = self.n_components
        if most is not None and (isinstance(most, bool) or not isinstance(most, numbers.Integral) or most < 1):
            raise InputError(message("n_components to be a positive integer, or None", f"got {most!r}", "Use None."))
        return float(self.epsilon), None if most is None else int(most)

    def _resolved(self, X: NDArray[np.float64]) -> Kernel:
        """The kernel with its numbers found, and its columns by position: frequencies know no names."""
        kernel = stated(self.kernel)
        points = Points(X, tuple(getattr(self, "feature_names_in_", ())) or None)
        if kernel.is_open:
            kernel = kernel.resolve_points(points)
        for leaf, seen in leaves(kernel, points.rows(slice(0, 1))):
            check_dimension(leaf, seen)
        return placed(kernel, points.rows(slice(0, 1)))

    _saved: ClassVar[Mapping[str, Any]] = {
        "kernel_": Kernel,
        "frequencies_": NDArray[np.int64],
        "weights_": NDArray[np.float64],
        "periods_": NDArray[np.float64],
        "center_": NDArray[np.float64],
        "reach_": NDArray[np.float64],
        "error_": float,
        "mass_": float,
    }

    def _inconsistency(self) -> str:
        h, d = len(self.frequencies_), self.n_features_in_
        if d > MAX_COLUMNS or (h and np.prod(2.0 * np.abs(self.frequencies_).max(axis=0) + 1) > 64.0 * MAX_FEATURES):
            return "a grid has too many frequencies"
        if not (self.periods_ > 0).all():
            return "a period is not positive"
        each = (self.periods_, (d,)), (self.center_, (d,)), (self.reach_, (d,))
        return shapes((self.frequencies_, (None, d)), (self.weights_, (1 + h,)), *each)

    @property
    def grid(self) -> WaveGrid:
        """The waves, and the box in which they stand for the kernel."""
        return WaveGrid(
            self.periods_, self.center_, self.reach_, self.frequencies_, self.weights_, self.error_, self.mass_
        )

    def n_features(self) -> int:
        return 1 + 2 * len(self.frequencies_)

    def features(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.grid.features(X).astype(X.dtype, copy=False)

    def feature_names(self, inputs: list[str]) -> list[str]:
        waves = [f"w({', '.join(map(str, j))}).(x - c)" for j in self.frequencies_.tolist()]
        return ["1", *(f"cos({wave})" for wave in waves), *(f"sin({wave})" for wave in waves)]

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01) -> Certificate:
        """How far phi(x).phi(z) may be from k(x, z) on the pairs of rows of X: `error_`, proven, in the box of the fit.

        Parameters
        ----------
        X : array or table of shape (n, d)
            The rows whose pairs are bounded.
        delta : float, default=0.01
            Not used: nothing is estimated.

        Returns
        -------
        Certificate
            With an infinite bound where rows lie beyond the box.
        """
        check_is_fitted(self)
        rows = np.asarray(self._read(X, reset=False), dtype=np.float64)
        outside = int(np.count_nonzero(~self.grid.inside(rows)))
        if outside:
            told = f"{number_of(outside, 'row')} of {len(rows):,} beyond the box of the fit, where features repeat."
            return Certificate(np.inf, 1.0, "maximum", told)
        rounding = (self.n_features() + 16) * float(np.finfo(np.float64).eps) * self.mass_
        bound = self.error_ + rounding
        text = f"No kernel value in the box of the fit is off by more than {bound:.2g}: proven, for any two rows."
        return Certificate(bound, 1.0, "maximum", text)
