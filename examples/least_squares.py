"""The lecture's first fits: polynomials through exp(1.5 x - 1) + noise, by least squares.

python examples/least_squares.py [--picture FILE.png]

The same model is found in the weights of the features (the primal), in one coefficient per point (the dual), and by the
lecture's gradient descent, which never leaves the dual coefficients.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import KernelRidge
from mercer.errors import message
from mercer.kernels import Polynomial
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers import GradientDescent

Array = NDArray[np.float64]
ORDERS = (1, 2, 3, 4, 5, 6)
ALPHA = 0.01
STEPPED, STEPPED_ALPHA = 2, 1.0
"""What gradient descent fits: its steps are as many as the condition number is large."""


def g(x: Array) -> Array:
    """The lecture's function."""
    return np.asarray(np.exp(1.5 * x - 1))


def points() -> tuple[Array, Array]:
    """100 points, uniform on [-2, 2] (the lecture does not say where), and g with noise of the variance 0.64."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, size=(100, 1))
    return X, g(X[:, 0]) + rng.normal(scale=0.8, size=100)


GRID = np.linspace(-2, 2, 201)[:, None]
"""Where models are compared with g, and with each other."""


@dataclass(frozen=True)
class Errors:
    """Roots of mean squares: on the points, on each point by a model that did not see it, and of g on the grid."""

    fitted: float
    left_out: float
    truth: float


def errors(model: Any, X: Array, y: Array) -> Errors:
    """Those of a fitted model. To leave a point out divides its residual by 1 - leverage: nothing is fitted again."""
    residuals = y - model.predict(X)
    left_out = residuals / (1 - model.leverage_)
    return Errors(_root(residuals), _root(left_out), _root(g(GRID[:, 0]) - model.predict(GRID)))


def primal(order: int, alpha: float | str, X: Array, y: Array) -> KernelRidge:
    """A weight for each of the order + 1 monomials."""
    return KernelRidge(PolynomialLift(order), alpha=alpha).fit(X, y)


def dual(order: int, alpha: float, X: Array, y: Array) -> tuple[KernelRidge, Array]:
    """A coefficient for each of the points, from kernel values alone, and the predictions on the grid."""
    kernel = Polynomial(order)
    model = KernelRidge("precomputed", alpha=alpha).fit(kernel(X), y)
    return model, model.predict(kernel(GRID, X))


def apart(order: int, alpha: float, X: Array, y: Array) -> float:
    """The largest difference of the two sides' predictions on the grid."""
    return _largest(primal(order, alpha, X, y).predict(GRID) - dual(order, alpha, X, y)[1])


def descended(X: Array, y: Array) -> tuple[KernelRidge, list[tuple[int, float]]]:
    """Gradient descent in dual coefficients, and its distance from the solution on the grid after some steps."""
    kernel, solver = Polynomial(STEPPED), GradientDescent(max_iter=20_000, tol=1e-10)
    model = KernelRidge("precomputed", alpha=STEPPED_ALPHA, solver=solver).fit(kernel(X), y)
    aim, K, across = dual(STEPPED, STEPPED_ALPHA, X, y)[1], kernel(X), kernel(GRID, X)
    assert model.outcome_.history is not None
    taken = model.outcome_.history.coefficients[:, :, 0]
    steps = [*(t for t in (1, 3, 10, 30, 100) if t < len(taken)), len(taken) - 1]
    # The coefficients sum to zero, so the intercept is what the kernel's part leaves of the mean of y.
    paths = [across @ taken[t] + (y - K @ taken[t]).mean() for t in steps]
    return model, [(t, _largest(path - aim)) for t, path in zip(steps, paths, strict=True)]


def _root(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


# -- the report ----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="draw the fits into this file")
    options = parser.parse_args(arguments)
    X, y = points()
    print(f"y = exp(1.5 x - 1) + noise, {len(y)} points. Errors are roots of mean squares; the noise alone has 0.8.\n")
    _print_orders(X, y)
    _print_tuned(X, y)
    _print_descent(X, y)
    if options.picture is not None:
        draw(options.picture, X, y)
        print(f"\nThe picture is in {options.picture}.")


def _print_orders(X: Array, y: Array) -> None:
    print(f"Polynomials with alpha = {ALPHA:g}, by weights (primal) and by coefficients of points (dual):")
    print("order  on the points  left out  against g  primal - dual")
    for order in ORDERS:
        found, difference = errors(primal(order, ALPHA, X, y), X, y), apart(order, ALPHA, X, y)
        print(f"{order:5}{found.fitted:15.3f}{found.left_out:10.3f}{found.truth:11.3f}{difference:15.1e}")
    print(f"\n{primal(2, ALPHA, X, y).plan_}\n")


def _print_tuned(X: Array, y: Array) -> None:
    print('Polynomials with alpha = "auto", the penalty of least leave-one-out error:')
    print("order    alpha  on the points  left out  against g")
    for order in ORDERS:
        model = primal(order, "auto", X, y)
        found = errors(model, X, y)
        print(f"{order:5}{model.alpha_:9.2g}{found.fitted:15.3f}{found.left_out:10.3f}{found.truth:11.3f}")


def _print_descent(X: Array, y: Array) -> None:
    model, path = descended(X, y)
    print(f"\nGradient descent in dual coefficients, order {STEPPED}, alpha = {STEPPED_ALPHA:g}:")
    print("steps  largest distance of predictions from the solution's")
    for step, distance in path:
        print(f"{step:5}{distance:9.1e}")
    print(model.outcome_.reason)
    print("Long before, all that moves are coefficients that no prediction sees: the centred kernel matrix has rank 2.")


# -- the picture ---------------------------------------------------------------------------------------------------


def draw(file: Path, X: Array, y: Array) -> None:
    """The fits of four orders, and the leave-one-out error along alpha."""
    figure = _figure()
    fits, curve = figure.subplots(1, 2)
    fits.plot(X[:, 0], y, ".", color="0.6", label="points")
    fits.plot(GRID[:, 0], g(GRID[:, 0]), color="black", label="exp(1.5 x - 1)")
    for order in (1, 2, 3, 6):
        fits.plot(GRID[:, 0], primal(order, ALPHA, X, y).predict(GRID), label=f"order {order}")
        path = primal(order, "auto", X, y).loo_
        assert path is not None
        curve.semilogx(path.alphas, np.sqrt(np.ravel(path.errors)), label=f"order {order}")
    fits.set(title=f"Polynomials, alpha = {ALPHA:g}", xlabel="x", ylabel="y")
    curve.set(title="Leave-one-out error", xlabel="alpha", ylabel="root of mean square")
    for axes in (fits, curve):
        axes.legend()
    figure.savefig(file)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[examples]".'
        raise SystemExit(message("matplotlib", "it is not installed", remedy, subject="--picture")) from missing
    return Figure(figsize=(11, 4.5), layout="constrained")


if __name__ == "__main__":
    main(sys.argv[1:])
