"""scikit-learn's GaussianProcessRegressor on Mercer's KernelRidge.

The scale of the process is found in Mercer (`variance_`), and a `ConstantKernel` in scikit-learn: deviations, draws and
the likelihood are translated to the scale 1 of the kernel that was given. Hyperparameters stay as they are given.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from adapter import Adapter
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.gaussian_process import kernels as gp

import mercer
from mercer.kernels import Constant, Function, Gaussian, Linear, Matern, Periodic, RationalQuadratic


def translated(kernel: Any, kind: str | None = None) -> tuple[Any, float]:
    """Mercer's kernel for one of scikit-learn's second family, on points of a kind, and its variance of white noise."""
    if type(kernel) is gp.Sum:
        (left, noise), (right, more) = translated(kernel.k1, kind), translated(kernel.k2, kind)
        return left + right, noise + more
    if type(kernel) is gp.Product:
        (left, noise), (right, more) = translated(kernel.k1, kind), translated(kernel.k2, kind)
        if noise or more:
            raise NotImplementedError("a product with white noise")
        return left * right, 0.0
    if type(kernel) is gp.WhiteKernel:
        return Constant(0.0), float(kernel.noise_level)
    return _atom(kernel, kind), 0.0


def _atom(kernel: Any, kind: str | None) -> Any:
    """Mercer's kernel for one that is made of no others; any other class is a function of two tables."""
    if type(kernel) is gp.ConstantKernel:
        return Constant(kernel.constant_value)
    if type(kernel) is gp.DotProduct:
        return Linear() + kernel.sigma_0**2
    if type(kernel) is gp.ExpSineSquared:
        return Periodic(kernel.periodicity, kernel.length_scale)
    scale = getattr(kernel, "length_scale", 1.0)
    unit, stretch = (1.0, np.ravel(scale)) if np.ndim(scale) else (scale, None)
    if type(kernel) is gp.RBF:
        found: Any = Gaussian(unit)
    elif type(kernel) is gp.Matern:
        found = Matern(kernel.nu, unit)
    elif type(kernel) is gp.RationalQuadratic:
        found = RationalQuadratic(shape=kernel.alpha, lengthscale=unit)
    else:
        return Function(lambda A, B: kernel(A, B), kind)
    return found if stretch is None else found.scaled(stretch)


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, Adapter):  # type: ignore[misc]  # no types there
    def __init__(
        self,
        kernel: Any = None,
        *,
        alpha: Any = 1e-10,
        optimizer: Any = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state

    def _model(self, X: Any) -> tuple[mercer.KernelRidge, float]:
        kind = "strings" if np.asarray(X).dtype.kind == "U" else None
        kernel, noise = translated(gp.RBF(1.0) if self.kernel is None else self.kernel, kind)
        return mercer.KernelRidge(kernel, alpha=self.alpha + noise, fit_intercept=False), noise

    def fit(self, X: Any, y: Any) -> Self:
        self.reached()
        model, self.noise_ = self._model(X)
        y = np.squeeze(y) if np.shape(y)[1:] == (1,) else np.asarray(y, dtype=float)
        self.center_, self.spread_ = np.zeros(y.shape[1:]), np.ones(y.shape[1:])
        if self.normalize_y:
            spread = np.std(y, axis=0)
            self.center_, self.spread_ = np.mean(y, axis=0), np.where(spread > 0, spread, 1.0)
        self.model_ = model.fit(X, (y - self.center_) / self.spread_)
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        self.reached()
        if "model_" not in vars(self):
            return self._model(X)[0].predict(X, return_std, return_cov)
        found = self.model_.predict(X, return_std, return_cov)
        if not (return_std or return_cov):
            return self.center_ + self.spread_ * found
        mean, own = found[0], np.asarray(found[1])
        variance = np.asarray(self.model_.variance_)
        if return_std:
            own = np.sqrt(own**2 / variance + self.noise_)
        else:
            own = own / variance + self.noise_ * np.eye(len(own)).reshape(own.shape[:2] + (1,) * (own.ndim - 2))
        return self.center_ + self.spread_ * mean, own * (self.spread_ if return_std else self.spread_**2)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Any:
        self.reached()
        if "model_" not in vars(self):
            return self._model(X)[0].sample_y(X, n_samples, random_state)
        if self.noise_:
            raise NotImplementedError("draws with white noise")
        mean, drawn = self.model_.predict(X)[..., None], self.model_.sample_y(X, n_samples, random_state)
        drawn = mean + (drawn - mean) / np.sqrt(self.model_.variance_)[..., None]
        return self.center_[..., None] + self.spread_[..., None] * drawn

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        if theta is not None or eval_gradient:
            raise NotImplementedError("a likelihood as a function of theta")
        excess, count = np.asarray(self.model_.variance_), len(self.model_.X_fit_)
        found = self.model_.log_marginal_likelihood() + count / 2 * (np.log(excess) + 1 - excess)
        return float(np.sum(found))

    @property
    def log_marginal_likelihood_value_(self) -> Any:
        return self.log_marginal_likelihood()

    @property
    def _y_train_std(self) -> Any:
        return self.spread_


FILES = {
    "sklearn.gaussian_process.tests.test_gpr": {
        "sklearn.gaussian_process:GaussianProcessRegressor": GaussianProcessRegressor
    }
}
