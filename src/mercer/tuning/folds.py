"""k-fold cross-validation of a whole path of penalties, from one decomposition."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.tuning.path import Path
from mercer.tuning.problem import posed


@speaks
def kfold_path(
    kernel: Kernel | PythonFunction | str,
    X: ArrayLike,
    y: ArrayLike,
    folds: int | ArrayLike = 5,
    alphas: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = True,
) -> Path:
    """The exact k-fold error of kernel ridge regression for each of many penalties.

    sum_i s_i e_i^2 / N, with e_i = y_i less its prediction by the model that was fitted without the rows of its fold F,
    in closed form: e_F = G_FF^-1 c_F for weights of one (see `mercer.tuning.side`). Numbers of the kernel that are
    open ("median") come from all rows, not from those of the other folds: the rows that are left out are seen as far
    as that. A warning says where penalties are so small that rounding shows.

    Cost: one eigendecomposition, about 9 n^3 operations, and n^3 / k per penalty for k equal folds; 3 n^2 numbers.

    Parameters
    ----------
    kernel : Kernel, str or "precomputed"
        For "precomputed" X is the (n, n) matrix of similarities.
    X : array or table of shape (n, d)
        The rows.
    y : array of shape (n,) or (n, outputs)
        The targets.
    folds : int or array of shape (n,), default=5
        How many folds of successive rows, of equal sizes or one row more, 2 to n; or n integers: rows of the same
        number are left out together.
    alphas : array or None, default=None
        Penalties, each at least 0; None for 45 from 1e-10 to 10 times the largest eigenvalue.
    sample_weight : array of shape (n,) or None, default=None
        At least 0: row i counts so many times, and all its copies are in one fold.
    fit_intercept : bool, default=True
        Whether the model has an intercept without penalty.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.tuning import kfold_path
    >>> x = np.linspace(0, 6, 30)[:, None]
    >>> y = np.sin(x[:, 0]) + np.random.default_rng(0).normal(scale=0.5, size=30)
    >>> print(kfold_path("gaussian(lengthscale=1)", x, y, np.arange(30) % 5, [0.001, 0.1, 10.0]))
    3 alphas from 0.001 to 10: least error 0.158 at alpha 0.1

    References
    ----------
    An, Liu, Venkatesh, Fast cross-validation algorithms for least squares support vector machine and kernel ridge
    regression, Pattern Recognition 40 (2007).
    """
    problem = posed(kernel, X, y, sample_weight, fit_intercept)
    chosen = folds_of(folds, len(np.asarray(y)))[problem.rows]
    if len(np.unique(chosen)) < 2:
        needs, got = "rows of weight above 0 in at least two folds", "all are in one"
        raise InputError(message(needs, got, "Without that fold nothing is left: use more folds."))
    given = problem.penalties(alphas)
    return Path(given, problem.side.fold_errors(given, chosen))


def folds_of(given: int | ArrayLike, count: int) -> NDArray[np.intp]:
    """(n,): the number of each row's fold.

    given : how many folds of successive rows, as scikit-learn's KFold makes them; or the numbers themselves

    >>> folds_of(3, 8)
    array([0, 0, 0, 1, 1, 1, 2, 2])
    """
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        return _successive(int(given), count)
    numbered = np.asarray(given)
    if numbered.shape != (count,) or numbered.dtype.kind not in "iu":
        needs = f"a number of folds, or one integer per row, {count} in all"
        got = f"got folds of shape {numbered.shape} and dtype {numbered.dtype}"
        raise InputError(message(needs, got, "Use 5, or an array of fold numbers."))
    return np.unique(numbered, return_inverse=True)[1].reshape(-1)


def _successive(folds: int, count: int) -> NDArray[np.intp]:
    if not 2 <= folds <= count:
        got = f"got {folds}"
        raise InputError(message(f"2 folds to {count}, one per row", got, "Use 5, or fewer for few rows."))
    sizes = np.full(folds, count // folds)
    sizes[: count % folds] += 1
    return np.repeat(np.arange(folds), sizes)
