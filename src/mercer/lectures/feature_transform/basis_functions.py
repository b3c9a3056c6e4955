"""Worked examples of the lecture "Feature transform": functions as sums of basis functions."""

from __future__ import annotations

from itertools import pairwise
from math import gamma, pi
from typing import Any

import numpy as np

from mercer.displays import BasisDisplay, CurveDisplay
from mercer.kernels import Gaussian
from mercer.learners import KernelRidge
from mercer.lectures.example_record import Example
from mercer.lectures.picture import Picture
from mercer.lectures.prices import prices
from mercer.lectures.verdict import Claim, Found, Verdict, agreement
from mercer.lifts import Powers, RadialBasis, Trigonometric

LECTURE = "Feature transform"


def left_out(model: KernelRidge, X: Any, y: Any) -> float:
    """The root of the mean square of the leave-one-out errors: residuals over 1 - leverage."""
    return float(np.sqrt(np.mean(((y - model.predict(X)) / (1 - model.leverage_)) ** 2)))


# -- polynomials ------------------------------------------------------------------------------------------------------

ORDERS = (1, 2, 3, 5, 10)


def polynomial() -> dict[str, Any]:
    """y = exp(1.5 x - 1) + noise of the variance 0.64, and polynomials of growing order, without a penalty."""
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(-1, 2, size=30))[:, None]
    y = np.exp(1.5 * X[:, 0] - 1) + 0.8 * rng.normal(size=30)
    models = {b: KernelRidge(Powers(b), alpha=0.0).fit(X, y) for b in ORDERS}
    seen = [float(np.sqrt(np.mean((y - model.predict(X)) ** 2))) for model in models.values()]
    held_out = [left_out(model, X, y) for model in models.values()]
    return {"X": X, "y": y, "models": models, "seen": seen, "left_out": held_out}


def _least_squares(found: Found) -> Verdict:
    X, y = found["X"], found["y"]
    gaps = {}
    for b, model in found["models"].items():
        features = np.vander((X[:, 0] - 0.5) / 1.5, b + 1)
        gaps[b] = float(np.abs(model.predict(X) - features @ np.linalg.lstsq(features, y)[0]).max())
    return Verdict(max(gaps.values()) < 1e-5, f"from the orthogonal projection at most {max(gaps.values()):.1e}.", gaps)


def _falls(found: Found) -> Verdict:
    seen = found["seen"]
    why = ", ".join(f"b = {b}: {error:.2f}" for b, error in zip(ORDERS, seen, strict=True))
    return Verdict(seen == sorted(seen, reverse=True), f"{why}.", seen)


def _rises(found: Found) -> Verdict:
    errors = found["left_out"]
    best = ORDERS[int(np.argmin(errors))]
    why = f"left out, b = {best} is best ({min(errors):.2f}), and b = {ORDERS[-1]} is off by {errors[-1]:.3g}."
    return Verdict(1 < best < ORDERS[-1] and errors[-1] > 2 * min(errors), why, errors)


def _draw_polynomial(picture: Picture, found: Found) -> None:
    grid = np.linspace(-1, 2, 300)
    for b, axes in zip((1, 2, 5, 10), picture.panels(4, share=True), strict=True):
        curve = CurveDisplay(grid, found["models"][b].predict(grid[:, None]), X=found["X"], y=found["y"])
        curve.plot(axes, style=picture.style)
        picture.name(axes, "", "x", "y")
        axes.plot(grid, np.exp(1.5 * grid - 1), "--", color="tab:red", label="truth")
        axes.set_ylim(-3, 9)
        picture.finish(axes, f"b = {b}")
    picture.one_legend()


# -- Fourier series ---------------------------------------------------------------------------------------------------


def fourier() -> dict[str, Any]:
    """The lecture's sum of four waves, and least squares on sines and cosines."""
    x = np.linspace(0, 4 * np.pi, 100)[:, None]
    y = (np.sin(x) + np.cos(x) + np.sin(2 * x) + np.cos(2 * x))[:, 0]
    return {"X": x, "y": y, "model": KernelRidge(Trigonometric(order=2), alpha=0.0, fit_intercept=False).fit(x, y)}


def _weights(found: Found) -> Verdict:
    names = ", ".join(found["model"].lift_.get_feature_names_out())
    return agreement(found["model"].coef_, 1.0, 1e-9, f"1 and the weights of {names}")


def _draw_fourier(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    BasisDisplay.from_estimator(found["model"], found["X"], ax=axes, style=picture.style)
    picture.name(axes, "sin(x) + cos(x) + sin(2x) + cos(2x)", "x")


# -- prices by waves --------------------------------------------------------------------------------------------------

CASES = {"b = 2, period 1": (2, 1.0), "b = 2, period 2": (2, 2.0), "b = 4, period 2": (4, 2.0)}


def aapl_waves() -> dict[str, Any]:
    """The prices of 65 days by sines and cosines: of the period of these days, and of twice that."""
    _, X, y = prices()
    models = {name: KernelRidge(Trigonometric(b, period), alpha=0.0).fit(X, y) for name, (b, period) in CASES.items()}
    seen = {name: float(np.sqrt(np.mean((y - model.predict(X)) ** 2))) for name, model in models.items()}
    return {
        "X": X,
        "y": y,
        "models": models,
        "seen": seen,
        "left_out": {name: left_out(m, X, y) for name, m in models.items()},
    }


def _closer(found: Found) -> Verdict:
    errors = found["seen"]
    return Verdict(errors["b = 4, period 2"] < errors["b = 2, period 2"], f"{_dollars(errors)}.", errors)


def _no_better(found: Found) -> Verdict:
    errors = found["left_out"]
    return Verdict(errors["b = 4, period 2"] > errors["b = 2, period 2"], f"left out, {_dollars(errors)}.", errors)


def _dollars(errors: dict[str, float]) -> str:
    return "; ".join(f"{name}: {error:.2f} dollars" for name, error in errors.items())


def _tied(found: Found) -> Verdict:
    start, end = found["models"]["b = 2, period 1"].predict([[0.0], [1.0]])
    y = found["y"]
    return Verdict(abs(start - end) < 1e-6, f"it goes from {start:.2f} to {end:.2f}, the price from {y[0]} to {y[-1]}.")


def _draw_waves(picture: Picture, found: Found) -> None:
    grid = np.linspace(0, 1, 300)
    panels = picture.panels(3, share=True)
    for (name, model), axes in zip(found["models"].items(), panels, strict=True):
        CurveDisplay(grid, model.predict(grid[:, None]), X=found["X"], y=found["y"]).plot(axes, style=picture.style)
        picture.name(axes, name, "1 July to 1 October 2019", "dollars")
    for axes in panels[::2]:
        axes.set_xlabel("")  # it is wider than a panel of a slide
    picture.one_legend()


# -- bumps ------------------------------------------------------------------------------------------------------------


def bumps() -> dict[str, Any]:
    """Seven bumps on random rows of a hundred, as in the lecture's picture, and a wave with noise."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 1, size=(100, 1))
    y = np.sin(2 * np.pi * X[:, 0]) + 0.15 * rng.normal(size=100)
    basis = RadialBasis("random", n_components=7, lengthscale=0.1, random_state=3)
    return {"X": X, "y": y, "model": KernelRidge(basis, alpha=0.03, fit_intercept=False).fit(X, y)}


def _sum_of_bumps(found: Found) -> Verdict:
    X, model = found["X"], found["model"]
    features = np.exp(-((X - model.lift_.centers_.T) ** 2) / (2 * 0.1**2))
    return agreement(model.predict(X), features @ np.ravel(model.coef_), 1e-12, "the prediction and the sum of bumps")


def _among_the_rows(found: Found) -> Verdict:
    inside = np.isin(found["model"].lift_.centers_, found["X"])
    return Verdict(
        bool(inside.all()), f"{inside.sum()} of {inside.size} centroids are rows.", found["model"].lift_.centers_
    )


def _ranks(found: Found) -> Verdict:
    X = found["X"]
    basis, kernel = (int(np.linalg.matrix_rank(k(X))) for k in (found["model"].lift_.kernel, Gaussian(0.001)))
    return Verdict(basis == 7 and kernel == len(X), f"ranks of the matrices of {len(X)} rows: {basis}, and {kernel}.")


def _draw_bumps(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    BasisDisplay.from_estimator(found["model"], found["X"], found["y"], ax=axes, style=picture.style)
    picture.name(axes, "seven bumps times their weights, and their sum", "x")


# -- packing ----------------------------------------------------------------------------------------------------------

RADIUS = 0.25


def packing() -> dict[str, Any]:
    """4,000 points of the unit cube: those that are farther than 1/4 from all that were taken before them."""
    counts = {}
    for d in range(1, 6):
        rows = np.random.default_rng(d).uniform(size=(4000, d))
        taken = rows[:1]
        for row in rows:
            if ((taken - row) ** 2).sum(axis=1).min() > RADIUS**2:
                taken = np.vstack([taken, row])
        counts[d] = len(taken)
    return {"counts": counts, "volumes": {d: pi ** (d / 2) / gamma(d / 2 + 1) * RADIUS**d for d in counts}}


def _grows(found: Found) -> Verdict:
    counts = list(found["counts"].values())
    factors = [after / before for before, after in pairwise(counts)]
    why = f"{', '.join(map(str, counts))} balls: factors of {', '.join(f'{each:.1f}' for each in factors)}."
    return Verdict(min(factors) > 2, why, factors)


def _within(found: Found) -> Verdict:
    bounds = {d: (1 + RADIUS) ** d / (v / 2**d) for d, v in found["volumes"].items()}
    inside = all(found["counts"][d] <= bound for d, bound in bounds.items())
    return Verdict(inside, f"by volume at most {', '.join(f'{bound:,.0f}' for bound in bounds.values())}.", bounds)


def _draw_packing(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    columns = list(found["counts"])
    axes.semilogy(columns, list(found["counts"].values()), "o-", label="counted")
    least = [1 / found["volumes"][d] for d in columns]
    most = [(1 + RADIUS) ** d * 2**d / found["volumes"][d] for d in columns]
    axes.fill_between(columns, least, most, alpha=0.2, label="by volume: to cover, to pack")
    axes.set_xticks(columns)
    picture.finish(axes, "balls of radius 1/4 in the unit cube", "columns d", "balls")


EXAMPLES = (
    Example(
        "polynomial",
        LECTURE,
        "polynomials of order 1 to 10",
        "Least squares on [x, x^2, ..., x^b] fits y = exp(1.5 x - 1) + noise of the variance 0.64, with b = 1 and b = "
        "2; a larger b makes f more flexible.",
        polynomial,
        (
            Claim("w is the solution of least squares, for every b", _least_squares),
            Claim("on the rows themselves the error falls with b", _falls),
            Claim("on rows that are left out it falls and rises again", _rises),
        ),
        _draw_polynomial,
    ),
    Example(
        "fourier",
        LECTURE,
        "a Fourier series",
        "A periodic signal is a sum of waves; the lecture shows sin(x) + cos(x) + sin(2x) + cos(2x).",
        fourier,
        (Claim("least squares on sin(x), cos(x), sin(2x), cos(2x) finds the weights 1, 1, 1, 1", _weights),),
        _draw_fourier,
    ),
    Example(
        "aapl_waves",
        LECTURE,
        "the price of AAPL by waves, b = 2 and b = 4",
        "The trigonometric transform of time fits a stock price. Which unit time has the lecture does not say: the "
        "period is ours. Of the period of the data a curve must end where it begins.",
        aapl_waves,
        (
            Claim("b = 4 follows the prices more closely than b = 2", _closer),
            Claim("on days that are left out it is no better", _no_better),
            Claim("with a period of 1 the curve ends where it began", _tied),
        ),
        _draw_waves,
    ),
    Example(
        "bumps",
        LECTURE,
        "bumps that lift and push",
        "A Gaussian bump on each of some rows, the centroids: a positive weight lifts f there, a negative one pushes "
        "it.",
        bumps,
        (
            Claim("f(x) = sum_i w_i exp(-|x - x_i|^2 / (2 sigma^2))", _sum_of_bumps),
            Claim("the centroids are rows, drawn at random", _among_the_rows),
            Claim("the RBF kernel and RBF basis functions are not the same", _ranks),
        ),
        _draw_bumps,
    ),
    Example(
        "packing",
        LECTURE,
        "the packing number, and the curse of dimension",
        "To be supported everywhere f needs centroids everywhere, and their number grows exponentially with d.",
        packing,
        (
            Claim("each further column multiplies the number of balls", _grows),
            Claim("no more balls of half the radius fit than their volumes allow", _within),
        ),
        _draw_packing,
    ),
)
