"""Worked examples of the lecture "Kernel methods"."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.displays import BoundaryDisplay, DescentDisplay
from mercer.errors import InputError, NumericalWarning
from mercer.kernels import Gaussian
from mercer.learners import KernelRidge, KernelSVC
from mercer.lectures.example_record import Example
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict, agreement
from mercer.lifts import Powers, Subsets
from mercer.solvers import GradientDescent

LECTURE = "Kernel methods"


# -- all subsets ----------------------------------------------------------------------------------------------------


def subsets() -> dict[str, Any]:
    """Six columns, a target of two interactions and noise; least squares on the columns, and on all their subsets."""
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(400, 6)), 0.3 * rng.normal(size=400)
    y = 2 * X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3] * X[:, 4] + noise
    return {"X": X, "y": y, "linear": KernelRidge("linear").fit(X, y), "model": KernelRidge(Subsets()).fit(X, y)}


def _product(found: Found) -> Verdict:
    X = found["X"][:50]
    phi = found["model"].lift_.transform(X)
    product = np.prod(1 + X[:, None] * X, axis=2)
    return agreement(phi @ phi.T, product, 1e-12 * np.abs(product).max(), "sum and product")


def _terms(found: Found) -> Verdict:
    count, d = len(found["model"].lift_.get_feature_names_out()), found["X"].shape[1]
    return Verdict(count == 2**d, f"d = {d}: {count} features, so that the inner product has as many terms.", count)


def _interactions(found: Found) -> Verdict:
    names, weights = found["model"].lift_.get_feature_names_out(), np.ravel(found["model"].coef_)
    largest = sorted(names[np.argsort(-np.abs(weights))[:2]].tolist())
    return Verdict(
        largest == ["x1 x2", "x3 x4 x5"], f"the largest weights are those of {' and '.join(largest)}.", largest
    )


def _draw_subsets(picture: Picture, found: Found) -> None:
    names, weights = found["model"].lift_.get_feature_names_out(), np.ravel(found["model"].coef_)
    (axes,) = picture.panels()
    axes.bar(range(len(weights)), weights)
    for place in np.argsort(-np.abs(weights))[:2]:
        side = "bottom" if weights[place] > 0 else "top"
        axes.annotate(names[place], (place, weights[place]), ha="center", va=side)
    axes.margins(y=0.15)
    picture.finish(axes, f"{len(weights)} features, of which two matter", "subsets, small ones first", "weight")


# -- descent in alpha -------------------------------------------------------------------------------------------------


def descent() -> dict[str, Any]:
    """The lecture's two loops on the features x, x^2, x^3; Mercer's descent in alpha; and one with the Gaussian."""
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.sin(3 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=30)
    phi = Powers(3).fit_transform(X)
    K = phi @ phi.T
    s = 0.5 / np.linalg.eigvalsh(K)[-1]
    w, ws, alphas = np.zeros(3), [np.zeros(3)], [np.zeros(30)]
    for _ in range(200):
        w = w - s * 2 * phi.T @ (phi @ w - y)
        ws.append(w)
        alphas.append(alphas[-1] - s * 2 * (K @ alphas[-1] - y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # a descent that is stopped on purpose says so
        fixed, steps = GradientDescent(step=s, max_iter=200, tol=0.0), GradientDescent(max_iter=500, tol=0.0)
        dual = KernelRidge(Powers(3), side="dual", alpha=0.0, fit_intercept=False, solver=fixed).fit(X, y)
        model = KernelRidge(Gaussian(0.3), alpha=0.01, fit_intercept=False, solver=steps).fit(X, y)
    return {"X": X, "y": y, "phi": phi, "ws": np.array(ws), "alphas": np.array(alphas), "dual": dual, "model": model}


def _same_w(found: Found) -> Verdict:
    return agreement(found["ws"], found["alphas"] @ found["phi"], 1e-12, "w and sum_i alpha_i x_i, over 200 steps,")


def _same_alpha(found: Found) -> Verdict:
    return agreement(found["dual"].history_.alphas, found["alphas"], 1e-12, "the alphas of all steps")


def _same_loss(found: Found) -> Verdict:
    losses = ((found["alphas"] @ found["phi"] @ found["phi"].T - found["y"]) ** 2).sum(axis=1)
    return agreement(found["dual"].history_.losses, losses, 1e-10, "the losses of all steps")


def _draw_descent(picture: Picture, found: Found) -> None:
    first, second = picture.panels(2)
    DescentDisplay.from_estimator(found["model"], pair=(3, 20), ax=[first, second], style=picture.style)


# -- margins ----------------------------------------------------------------------------------------------------------


def margins() -> dict[str, Any]:
    """Two clouds and a row that strays, by a hard and a soft margin; and two rings, by three kernels."""
    rng = np.random.default_rng(0)
    clouds = np.vstack([rng.normal([-1.5, 0], 0.5, (30, 2)), rng.normal([1.5, 0], 0.5, (30, 2))])
    X, y = np.vstack([clouds, [[0.15, 0.0]]]), np.array(["left"] * 30 + ["right"] * 30 + ["left"])
    turn, ring = rng.uniform(0, 2 * np.pi, 120), np.arange(120) % 2
    radius = 0.8 + 1.2 * ring + 0.15 * rng.normal(size=120)
    rings, kind = radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), np.where(ring == 0, "inner", "outer")
    models = {
        "hard": KernelSVC("linear", C=np.inf).fit(X, y),
        "soft, C = 0.1": KernelSVC("linear", C=0.1, tol=1e-8).fit(X, y),
    }
    kernels = ("parabolic", "polynomial(degree=2)", "gaussian(1)")
    return {
        "X": X,
        "y": y,
        "models": models,
        "rings": rings,
        "kind": kind,
        "curved": {kernel: KernelSVC(kernel, C=np.inf).fit(rings, kind) for kernel in kernels},
    }


def _margin(model: KernelSVC, X: Any) -> float:
    """1 / |w|, with |w|^2 = a'Ka."""
    a, rows = model.dual_coef_.ravel(), X[model.support_]
    return float(1 / np.sqrt(a @ (rows @ rows.T) @ a))


def _widths(found: Found) -> Verdict:
    hard, soft = (_margin(model, found["X"]) for model in found["models"].values())
    return Verdict(hard < soft, f"margins {hard:.3f} and {soft:.3f}.", (hard, soft))


def _hard(found: Found) -> Verdict:
    model = found["models"]["hard"]
    score, least = model.score(found["X"], found["y"]), np.abs(model.decision_function(found["X"])).min()
    return Verdict(
        score == 1 and least > 1 - 1e-6, f"all {len(found['X'])} rows: {score == 1}; least |f(x_i)|: {least:.6f}."
    )


def _no_line(found: Found) -> Verdict:
    try:
        KernelSVC("linear", C=np.inf).fit(found["rings"], found["kind"])
    except InputError as error:
        return Verdict(True, str(error), error)
    return Verdict(False, "a line separates them.")


def _made_linear(found: Found) -> Verdict:
    right = {name: bool(model.score(found["rings"], found["kind"]) == 1) for name, model in found["curved"].items()}
    return Verdict(all(right.values()), f"every row is on its side: {right}.", right)


def _draw_margins(picture: Picture, found: Found) -> None:
    panels = picture.panels(4, rows=2)
    for (name, model), axes in zip(found["models"].items(), panels, strict=False):
        BoundaryDisplay.from_estimator(model, found["X"], found["y"], ax=axes, style=picture.style)
        picture.name(axes, f"{name}: margin {_margin(model, found['X']):.2f}")
    for kernel, axes in zip(("parabolic", "gaussian(1)"), panels[2:], strict=True):
        model = found["curved"][kernel]
        BoundaryDisplay.from_estimator(model, found["rings"], found["kind"], ax=axes, style=picture.style)
        picture.name(axes, f"{kernel}: {len(model.support_)} rows decide")
    for axes in panels:
        axes.set_aspect("equal")  # a margin is a distance, and a ring is round
        axes.get_legend().remove()  # the rings are support vectors; titles say the rest


EXAMPLES = (
    Example(
        "subsets",
        LECTURE,
        "all interactions, for the price of a product",
        "Add the product of the columns of every subset as a feature: 2^d of them, the 1 included. Their inner product "
        "is prod_k (1 + x_k z_k), with d factors.",
        subsets,
        (
            Claim("phi(x).phi(z) = prod_k (1 + x_k z_k)", _product),
            Claim("there are 2^d features, and as many terms in the sum", _terms),
            Claim("least squares finds the interactions that are there", _interactions),
        ),
        _draw_subsets,
    ),
    Example(
        "descent",
        LECTURE,
        "gradient descent in alpha",
        "From w = 0 every step of gradient descent for the squared loss adds a sum of rows, so w = sum_i alpha_i x_i, "
        "and "
        "alpha_i <- alpha_i - s gamma_i with gamma_i = 2 (sum_j alpha_j K_ij - y_i): only inner products are needed.",
        descent,
        (
            Claim("w_t = sum_i alpha_i x_i at every step", _same_w),
            Claim("Mercer's descent is that of the lecture", _same_alpha),
            Claim("l(alpha) = sum_i (sum_j alpha_j x_j.x_i - y_i)^2", _same_loss),
        ),
        _draw_descent,
    ),
    Example(
        "margins",
        LECTURE,
        "hard and soft margins, and a boundary that is no line",
        "A hard margin wants every row on its side, a soft one lets rows be wrong at a price; both draw lines. With "
        "new features, or a kernel, the same classifier draws circles.",
        margins,
        (
            Claim("the hard margin has every row on its side, at a distance of the margin or more", _hard),
            Claim("one stray row makes the hard margin narrow; the soft one keeps it wide", _widths),
            Claim("no line separates two rings", _no_line),
            Claim("with the feature x1^2 + x2^2, all squares, or the Gaussian, it does", _made_linear),
        ),
        _draw_margins,
    ),
)
