"""Worked examples of the lecture "Nonlinear classifier"."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.displays import GramDisplay, StepsDisplay
from mercer.kernels import Min
from mercer.kernels.proof.prove import prove
from mercer.learners import KernelPerceptron, Perceptron
from mercer.lectures.example_record import Example
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict, agreement
from mercer.lifts import Polynomial

LECTURE = "Nonlinear classifier"


# -- the perceptron, twice --------------------------------------------------------------------------------------------


def perceptron() -> dict[str, Any]:
    """Points in and out of an ellipse; a perceptron on features, one on their kernel, and the lecture's loop."""
    X = np.random.default_rng(2).normal(size=(120, 2))
    height = X[:, 0] ** 2 + 2 * X[:, 1] ** 2 - 1.5
    X, y = X[np.abs(height) > 0.2], np.where(height[np.abs(height) > 0.2] < 0, "inside", "outside")
    lifted = Perceptron(Polynomial(2), fit_intercept=False, max_iter=2000).fit(X, y)
    kernel = KernelPerceptron("polynomial(degree=2)", max_iter=2000).fit(X, y)
    alpha, sign, K = np.zeros(len(X)), np.where(y == "outside", 1.0, -1.0), (1 + X @ X.T) ** 2
    mistakes = 1
    while mistakes:
        mistakes = 0
        for i in range(len(X)):
            if sign[i] * (alpha * sign) @ K[:, i] <= 0:
                alpha[i], mistakes = alpha[i] + 1, mistakes + 1
    return {"X": X, "y": y, "lifted": lifted, "kernel": kernel, "alpha": alpha, "sign": sign}


def _passes(found: Found) -> Verdict:
    first, second = found["lifted"].history_, found["kernel"].history_
    same = np.array_equal(first, second)
    return Verdict(same, f"{first.sum()} and {second.sum()} mistakes in {len(first)} and {len(second)} passes.", second)


def _alphas(found: Found) -> Verdict:
    alphas = np.zeros(len(found["X"]))
    alphas[found["kernel"].support_] = np.abs(found["kernel"].dual_coef_.ravel())
    return agreement(alphas, found["alpha"], 0.0, "the alphas of the model and of the lecture's loop")


def _theta(found: Found) -> Verdict:
    phi = found["lifted"].lift_.transform(found["X"])
    theta = (found["alpha"] * found["sign"]) @ phi
    return agreement(found["lifted"].coef_.ravel(), theta, 1e-9 * np.abs(theta).max(), "theta and the sum")


def _draw_perceptron(picture: Picture, found: Found) -> None:
    titles = {"lifted": "theta, on features", "kernel": "alphas, by the kernel"}
    for (name, title), axes in zip(titles.items(), picture.panels(2, share=True), strict=True):
        StepsDisplay.from_estimator(found[name], found["X"], found["y"], ax=axes, style=picture.style)
        picture.name(axes, f"{title}: {found[name].history_.sum()} mistakes")
    picture.one_legend()


# -- min ------------------------------------------------------------------------------------------------------------


def minimum() -> dict[str, Any]:
    """min(x, z) by the indicators of [0, x], on a grid of steps of 1/8 to 4; and two proofs."""
    step, X = 0.125, np.arange(0.0, 4.125, 0.125)[:, None]
    phi = np.sqrt(step) * (np.arange(0.0, 4.0, step) < X)  # phi(x) is 1 on [0, x): each column is a piece of it
    proofs = {"nonnegative": prove(Min()), "integers": prove(Min(), domain="integers")}
    return {"X": X, "phi": phi, "K": Min()(X), **proofs}


def _indicators(found: Found) -> Verdict:
    return agreement(found["phi"] @ found["phi"].T, found["K"], 1e-12, "the inner products of indicators and min")


def _proven(name: str, expected: str) -> Any:
    def decide(found: Found) -> Verdict:
        proof = found[name]
        return Verdict(proof.status == expected, proof.claim, proof)

    return decide


def _draw_minimum(picture: Picture, found: Found) -> None:
    first, second = picture.panels(2)
    ends = np.linspace(0, 4, 801)
    for x, height in ((3.0, 1.0), (1.5, 0.5)):
        first.fill_between(
            ends, 0, np.where(ends <= x, height, 0.0), alpha=0.35, label=f"phi({x:g}), drawn {height:g} high"
        )
    picture.finish(first, "both are 1 on [0, 1.5]", "t")
    GramDisplay.from_kernel(Min(), found["X"], ax=second, style=picture.style)
    picture.name(second, "min(x, z)")


EXAMPLES = (
    Example(
        "perceptron",
        LECTURE,
        "the perceptron and the kernel perceptron are one algorithm",
        "Where y_i (theta.phi(x_i)) <= 0, add y_i phi(x_i) to theta; or, since theta = sum_j alpha_j y_j phi(x_j), "
        "where y_i sum_j alpha_j y_j K(x_j, x_i) <= 0, add 1 to alpha_i.",
        perceptron,
        (
            Claim("both make the same mistakes", _passes),
            Claim("the alphas are those of the lecture's loop", _alphas),
            Claim("theta = sum_j alpha_j y_j phi(x_j)", _theta),
        ),
        _draw_perceptron,
    ),
    Example(
        "min",
        LECTURE,
        "min is a kernel on the non-negative reals, by the indicators of [0, x]",
        "phi(x) is the function that is 1 on [0, x] and 0 elsewhere; the inner product of two of them is the length of "
        "what they share, min(x, z).",
        minimum,
        (
            Claim("<1_[0, x], 1_[0, z]> = min(x, z)", _indicators),
            Claim("min is a kernel on the non-negative reals", _proven("nonnegative", "proven")),
            Claim("min is no kernel on the integers", _proven("integers", "refuted")),
        ),
        _draw_minimum,
    ),
)
