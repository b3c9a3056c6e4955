"""Leave-one-out errors of a whole path of penalties, from one decomposition."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.tuning.path import Path
from mercer.tuning.problem import posed


@speaks
def loo_path(
    kernel: Kernel | PythonFunction | str,
    X: ArrayLike,
    y: ArrayLike,
    alphas: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Path:
    """The exact leave-one-out error of kernel ridge regression for each of many penalties.

    sum_i s_i e_i^2 / N, with e_i = y_i less its prediction by the model that was fitted without (one copy of) row i, in
    closed form: e_i = c_i / G_ii for weights of one (see `mercer.tuning.side`). Numbers of the kernel that are
    open ("median") are found once, from all rows. A warning says where penalties are so small that rounding shows.

    Cost: one eigendecomposition, about 9 n^3 operations, and 4 n^2 per penalty; 3 n^2 numbers.

    Parameters
    ----------
    kernel : Kernel, str or "precomputed"
        For "precomputed" X is the (n, n) matrix of similarities.
    X : array or table of shape (n, d)
        The rows.
    y : array of shape (n,) or (n, outputs)
        The targets.
    alphas : array or None, default=None
        Penalties, each at least 0; None for 45 from 1e-10 to 10 times the largest eigenvalue.
    sample_weight : array of shape (n,) or None, default=None
        At least 0: row i counts so many times; None for once each.
    fit_intercept : bool, default=True
        Whether the model has an intercept without penalty.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.tuning import loo_path
    >>> x = np.linspace(0, 6, 30)[:, None]
    >>> noise = np.random.default_rng(0).normal(scale=0.5, size=30)
    >>> print(loo_path("gaussian(lengthscale=1)", x, np.sin(x[:, 0]) + noise, [0.001, 0.1, 10.0]))
    3 alphas from 0.001 to 10: least error 0.161 at alpha 0.1

    References
    ----------
    Allen, The relationship between variable selection and data augmentation and a method for prediction, Technometrics
    16 (1974). Rifkin, Lippert, Notes on regularized least squares, MIT (2007).
    """
    problem = posed(kernel, X, y, sample_weight, fit_intercept)
    weights = problem.side.centering.weights
    if len(weights) == 1 and weights[0] <= 1:
        got, remedy = "got one row of weight above 0", "Without it nothing is left: give more rows."
        raise InputError(message("at least two rows", got, remedy))
    return problem.side.path(problem.penalties(alphas))
