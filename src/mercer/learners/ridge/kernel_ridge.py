"""Kernel ridge regression."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer.backends.base import Backend
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import InputError, message, speaker, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.fields import check_integer
from mercer.learners.data.validation import AUTO
from mercer.learners.ridge.least_squares import LeastSquares
from mercer.learners.streaming.source_stream import SourceStream, regression_stream
from mercer.lifts.base import Lift
from mercer.lifts.randomness import generator
from mercer.solvers import Solver
from mercer.sources import Source


class KernelRidge(MultiOutputMixin, RegressorMixin, LeastSquares):  # type: ignore[misc]  # scikit-learn has no types
    """Kernel ridge regression, with the penalty and the lengthscale chosen by exact leave-one-out errors.

    f minimises `sum_i s_i (y_i - f(x_i) - b)^2 + alpha |f|^2`. Both sides of the Woodbury identity are one model. In
    the dual `f(x) = sum_i a_i k(x, x_i)` with `(K + alpha I) a = y - b`; in the primal, where a finite lift has p
    features, `f(x) = w.phi(x)` with `(Phi'Phi + alpha I) w = Phi'(y - b)`. The cheaper one is solved, and `plan_` says
    which and why.

    Where n^2 numbers are too many, or n^3 operations too long, the same model is found by conjugate gradients on a
    matrix that is not stored; where that takes too long, the kernel is approximated by landmarks. `plan(X, y)` says
    beforehand which method is chosen, what it costs and what it gives up; `certificate_` bounds the distance of the
    model from the exact one.

    Cost of the direct method in the dual: n^3 / 3 operations and n^2 numbers for a given alpha; about 9 n^3 operations
    and 3 n^2 numbers where alpha is chosen, for all candidates together. In the primal n p^2 operations and n p
    numbers. Stored matrices are solved to the digits of float64; predictions for float32 rows are float32.

    Parameters
    ----------
    kernel : Kernel, str, callable, Lift, "precomputed" or "auto", default="auto"
        "auto" is `matern(nu=2.5, lengthscale="median")`; of more than 20,000 rows in memory of at most three columns of
        numbers it is the Matern kernel whose smoothness (1/2, 3/2 or 5/2) and lengthscale are the likeliest. Else a
        kernel, its text, a Python function, a lift (its kernel, by its features where that is cheaper), or
        "precomputed": X is then the matrix of all pairs of training rows, and new rows are given as their similarities
        with these. A lengthscale that a text leaves out ("rbf", "2*matern(nu=1.5) + linear") is open, as if it were
        "median".
    alpha : float, array or "auto", default="auto"
        The penalty, at least 0; one per output if y is two-dimensional with as many columns; or candidates. "auto" has
        45 candidates from 1e-10 to 10 times the largest eigenvalue. Candidates are compared by exact leave-one-out
        errors, for each output alone; where rounding makes a candidate of "auto" doubtful the next larger one is taken.
    lengthscale : float, "median" or "loo", default="median"
        The value of open lengthscales. "median" takes the median distance of the rows; "loo" the best of 7 multiples of
        it (of the given lengthscales where none is open) by leave-one-out, with all alphas at each.
    fit_intercept : bool, default=True
        Whether there is a constant b without penalty.
    solver : "auto" or Solver, default="auto"
        A solver of `mercer.solvers`: Cholesky(), Eigen(), ConjugateGradient() or GradientDescent().
    side : {"auto", "dual", "primal"}, default="auto"
        "dual" solves for one coefficient per row, also of a linear kernel or a lift; "primal" for one weight per
        feature, where the kernel has a finite lift. Both are exact. "auto" takes the cheaper one.
    method : {"auto", "exact", "landmarks", "state_space", "fourier_grid"}, default="auto"
        "exact" uses the kernel itself, or the features of a given lift, also where that takes long; it is refused where
        it does not fit the memory. "landmarks" approximates the kernel. "state_space" is exact for one column and sums
        of half-integer Matern kernels, with a trend or waves of finitely many features beside them, in time and memory
        that grow as the number of rows. "fourier_grid" takes waves on a grid of frequencies, for stationary kernels of
        up to three columns, with a proven error (see `FourierGrid`). "auto" is exact where that is quick enough.
    n_landmarks : int or None, default=None
        How many landmarks where they are taken, not used by "exact"; None for the most within memory and time, up to
        half of the rows.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "4 GB", that the fit may hold beyond the data; None for 80 % of the free memory.
    time_limit : float or None, default=None
        Seconds. A fit that cannot keep to it stops with the model so far; None plans for about a minute.
    backend : str or Backend, default="auto"
        What computes: "cpu", "cuda" (or "cuda:1"), a graphics card, or a member of `mercer.backends`. "auto" takes the
        card where there is one and it is clearly faster.
    checkpoint : str, Path or None, default=None
        A file from which a fit that was cut off goes on.
    on_interrupt : {"raise", "keep"}, default="raise"
        With "keep", Ctrl-C ends the fit with the model so far.
    verbose : bool or "auto", default=False
        True shows a bar on a terminal, lines elsewhere; "auto" a bar on a terminal, for fits of more than two seconds.
    random_state : int, Generator or None, default=None
        The source of landmarks, and of samples of rows.

    Attributes
    ----------
    kernel_ : Kernel or None
        The kernel with its numbers.
    lift_ : Lift or None
        The finite lift, where one was used or given.
    alpha_, intercept_ : float or array of shape (outputs,)
        The penalty and the intercept.
    dual_coef_ : array of shape (n,) or (n, outputs)
        The coefficients of the rows.
    coef_ : array of shape (p,) or (outputs, p)
        The weights of the features, where a finite lift exists.
    plan_ : Plan
        The method, and its predicted time and memory.
    outcome_ : Outcome
        The solver's report.
    history_ : Descent
        The path of `solver=GradientDescent()`: `losses`, `alphas` of the rows (`side="dual"`) or `weights` of the
        features after each step, and `step`; there for no other solver.
    certificate_ : Certificate
        A bound of the distance of predictions from those of the exact solution.
    loo_ : Path or None
        The leave-one-out errors of all candidates, where alpha was chosen; of a sample of rows where `plan_` says so.
    converged_ : bool
        Whether the solver reached its goal.
    residual_ : float
        `|b - A x| / |b|`.
    condition_ : float
        The condition number, estimated.
    rounding_ : float
        An estimate of the relative error of predictions that is due to rounding. Both are found when they are read,
        with n^3 / 3 operations, where a bound said that rounding does not matter.
    leverage_ : array of shape (n,)
        How much each prediction follows its own y.
    degrees_of_freedom_ : float
        The sum of the leverages.
    variance_, noise_ : float or array of shape (outputs,)
        The Gaussian process of the same mean has the kernel `variance_ * kernel_`, and noise of the variance `noise_`
        on each observation.
    X_fit_ : array or table
        The training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> y = np.exp(1.5 * X[:, 0] - 1)
    >>> model = KernelRidge().fit(X, y)
    >>> model.predict([[1.0], [2.0]]).round(2)
    array([1.65, 7.39])
    >>> KernelRidge("polynomial(degree=2)", alpha=0.1).fit(X, y).plan_.details.side
    'primal'

    References
    ----------
    Saunders, Gammerman and Vovk, Ridge regression learning algorithm in dual variables, ICML 1998. Rasmussen and
    Williams, Gaussian Processes for Machine Learning (2006), chapters 2 and 5.
    """

    def __init__(
        self,
        kernel: Kernel | Lift | PythonFunction | str = AUTO,
        *,
        alpha: float | ArrayLike | str = "auto",
        lengthscale: float | str = "median",
        fit_intercept: bool = True,
        solver: Solver | str = "auto",
        side: str = "auto",
        method: str = "auto",
        n_landmarks: int | None = None,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
        backend: Backend | str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        on_interrupt: str = "raise",
        verbose: bool | str = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.lengthscale = lengthscale
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.side = side
        self.method = method
        self.n_landmarks = n_landmarks
        self.memory_limit = memory_limit
        self.time_limit = time_limit
        self.backend = backend
        self.checkpoint = checkpoint
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state

    def _streamed_rows(self, source: Source) -> SourceStream:
        return regression_stream(source)

    def _answers(self, values: NDArray[Any]) -> NDArray[Any]:
        return values[:, 0] if self._result.is_flat else values

    @speaks
    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict f(x) + b of each row, with its standard deviation or covariance on request.

        Both are those of the Gaussian process with the kernel `variance_ * kernel_`, without noise: a new observation
        has the variance std^2 + `noise_`. Cost: n d operations per row; with deviations n^3 / 3 once, and 2 n^2 per
        row. A covariance of m rows takes 2 n m^2 more, and is refused where memory does not suffice.

        Parameters
        ----------
        X : array, sparse array, table, path or Source
            The rows. A path to Parquet (a file or a folder), a memory map or a source of `mercer.sources` is read in
            pieces where it does not fit the memory.
        return_std : bool, default=False
            Whether standard deviations are returned.
        return_cov : bool, default=False
            Whether the covariance of all pairs of rows is returned.

        Returns
        -------
        array of shape (m,) or (m, outputs)
            The predictions; with `return_std` or `return_cov` a tuple of these and the deviations, or the covariance of
            shape (m, m) or (m, m, outputs).
        """
        if return_std and return_cov:
            needs, given = "at most one of return_std and return_cov", "both are True"
            raise InputError(message(needs, given, "The deviations are the roots of the covariance's diagonal."))
        source = self._source_of(X)
        if source is not None and return_cov:
            needs, given = "a table of rows for a covariance", "a source was given"
            raise InputError(message(needs, given, "Read the rows that you need into an array."))
        if source is not None:
            return self._of_source(source, return_std)
        if return_std and self.plan_.method == "state space":
            return self._swept(self._read(X, reset=False))
        values, rows = self._predict(X)
        if return_cov:
            return self._answers(values), self._covariance(rows, values)
        return (self._answers(values), self._deviations(rows, values)) if return_std else self._answers(values)

    @speaks
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = None) -> NDArray[Any]:
        """Draw functions from the Gaussian process at some rows: f(x) + b, without noise.

        Cost: that of `predict(X, return_cov=True)`, and 9 m^3 operations for m rows.

        Parameters
        ----------
        X : array, sparse array or table of shape (m, d)
            The rows.
        n_samples : int, default=1
            How many functions.
        random_state : int, Generator or None, default=None
            The source of the draws; the same functions for the same number.

        Returns
        -------
        array of shape (m, n_samples) or (m, outputs, n_samples)
        """
        count = check_integer(speaker(), "n_samples", n_samples, 1, None)
        means, covariances = self.predict(X, return_cov=True)
        random, rows = generator(random_state), len(means)
        pairs = zip(means.reshape(rows, -1).T, covariances.reshape(rows, rows, -1).transpose(2, 0, 1), strict=True)
        from mercer.learners.ridge.posterior import drawn_from

        drawn = [drawn_from(mean, covariance, count, random) for mean, covariance in pairs]
        return drawn[0] if self._result.is_flat else np.stack(drawn, axis=1)

    def _swept(self, rows: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predictions and deviations of a fit by states: one sweep finds both."""
        from mercer.learners.ridge.state_space import by_states

        predictor = by_states(self._result)
        with self._computing():
            found, shares = predictor.found(rows)
        values = self._within(found, rows)
        deviations = np.sqrt(self._result.fit.variance * shares[:, predictor.which]).astype(values.dtype, copy=False)
        return self._answers(values), self._answers(deviations)

    def _of_source(self, source: Source, return_std: bool) -> Any:
        if not return_std:
            return np.concatenate(list(self._batches(source)))
        parts = [(self._values(rows), rows) for rows in self._new_rows(source)]
        deviations = [self._deviations(rows, values) for values, rows in parts]
        return self._answers(np.concatenate([values for values, _ in parts])), np.concatenate(deviations)

    def _deviations(self, rows: Any, values: NDArray[Any]) -> NDArray[Any]:
        found = np.column_stack([self._deviation(rows, t, len(values)) for t in range(values.shape[1])])
        return self._answers(found.astype(values.dtype, copy=False))

    def _deviation(self, rows: Any, output: int, count: int) -> NDArray[np.float64]:
        fit, pieces = self._result.fit, self._pieces
        alpha, variance, noise = float(fit.alphas[output]), fit.variance[output], fit.noise[output]
        if pieces is not None:
            return np.asarray(np.sqrt(noise * pieces.shares(rows, alpha)))
        with self._as_fitted():
            return np.asarray(np.sqrt(self._posterior(alpha).variances(rows, count, variance, noise)))

    def _covariance(self, rows: Any, values: NDArray[Any]) -> NDArray[Any]:
        fit, pieces, (count, outputs) = self._result.fit, self._pieces, values.shape
        held = 0 if self._result.view is None else self._result.count
        needed = 8 * count * ((outputs + 4) * count + 3 * held)
        if needed > MAX_UNASKED_BYTES:
            remedy = "Give fewer rows, or use return_std, which needs none of the size of pairs."
            Budget.of(self.memory_limit).require(needed, f"a covariance of {count} rows", remedy)
        found = np.empty((count, count, outputs), values.dtype)
        for t, (alpha, variance, noise) in enumerate(zip(fit.alphas, fit.variance, fit.noise, strict=True)):
            if pieces is not None:
                found[:, :, t] = noise * pieces.products(rows, float(alpha))
            else:
                with self._as_fitted():
                    found[:, :, t] = self._posterior(float(alpha)).covariance(rows, count, variance, noise)
        return found[:, :, 0] if self._result.is_flat else found

    @property
    def variance_(self) -> Any:
        """The factor of the kernel in the equivalent Gaussian process: that of largest marginal likelihood."""
        return self._shaped(self._found().fit.variance)

    @property
    def noise_(self) -> Any:
        """The variance of the noise in the equivalent Gaussian process: `alpha_ * variance_`."""
        return self._shaped(self._found().fit.noise)

    @speaks
    def log_marginal_likelihood(self) -> Any:
        """log p(y) of the equivalent Gaussian process; with an intercept the restricted likelihood.

        -(m log(2 pi v) + log det(K + alpha I) + m) / 2 for m observations, copies counted, and v = `variance_`; an
        intercept takes one of them, and its flat prior adds log(1'(K + alpha I)^-1 1) to the determinant.

        Returns
        -------
        float or array of shape (outputs,)
        """
        result = self._found()
        m, variance = result.total - result.centering.intercept, result.fit.variance
        determinants = self._kept("_determinants", self._log_determinants)
        with np.errstate(divide="ignore", invalid="ignore"):  # of a y that never varies nothing is left
            found = -(m * np.log(2 * np.pi * variance) + determinants + m) / 2
        return self._shaped(np.where(np.isinf(variance), -np.inf, found))  # without a penalty all y are alike

    def _log_determinants(self) -> NDArray[np.float64]:
        fit = self._result.fit
        if fit.log_determinants is not None:
            return fit.log_determinants
        return np.array([self._posterior(alpha).log_determinant() for alpha in fit.alphas])
