"""Worked examples of the lecture "Liftings"."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from mercer.displays import BoundaryDisplay, LiftErrorDisplay, ParabolicDisplay
from mercer.errors import KernelError
from mercer.geometry import Ball, Empty, HalfSpace, preimage
from mercer.kernels import Gaussian
from mercer.learners import KernelSVC
from mercer.lectures.example_record import Example
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict
from mercer.lifts import Monomials, Parabolic, Polynomial, RandomFourier

LECTURE = "Liftings"


# -- halfspaces and balls -------------------------------------------------------------------------------------------


def parabolic() -> dict[str, Any]:
    """Points of a square, labelled by a circle; the classifier with the widest margin on (x1, x2, x1^2 + x2^2)."""
    ball = Ball([0.3, 0.2], radius=1.2)
    X = np.random.default_rng(0).uniform(-2, 2, size=(200, 2))
    X = X[np.abs(ball.value(X)) > 0.2]
    y = np.where(ball.contains(X), "within", "outside")
    lift = Parabolic().fit(X)
    model = KernelSVC(Parabolic(), C=np.inf).fit(X, y)
    return {"ball": ball, "X": X, "y": y, "lift": lift, "phi": lift.transform(X), "model": model}


def _ball(found: Found) -> Verdict:
    ball, phi = found["ball"], found["phi"]
    c, r = ball.center, ball.radius
    wrong = int((ball.contains(found["X"]) != (phi @ [*(2 * c), -1.0] >= c @ c - r**2)).sum())
    return Verdict(wrong == 0, f"{wrong} of {len(phi)} points lie on another side.", wrong)


def _halfspace(found: Found) -> Verdict:
    weights, intercept = HalfSpace([3.0, -4.0], 0.5).halfspace(found["lift"])
    why = f"3 x1 - 4 x2 >= 0.5 has the weights {np.round(weights, 3).tolist()} and the intercept {intercept:.3g}."
    return Verdict(weights[2] == 0, why, weights)


def _infeasible(found: Found) -> Verdict:
    c = found["ball"].center
    shape = preimage(found["lift"], [*(2 * c), -1.0], -(c @ c + 0.1))
    return Verdict(isinstance(shape, Empty), f"the region of r' = |c|^2 + 0.1: {shape}.", shape)


def _draw_parabolic(picture: Picture, found: Found) -> None:
    first, second = picture.panels(2, projections={0: "3d"})
    ParabolicDisplay.from_estimator(found["model"], found["X"], found["y"], ax=first, style=picture.style)
    BoundaryDisplay.from_estimator(found["model"], found["X"], found["y"], ax=second, style=picture.style)
    first.get_legend().remove()  # the other panel names the colours
    second.set_aspect("equal")
    picture.name(first, "above: a plane")
    picture.name(second, "below: a circle")


# -- conics ---------------------------------------------------------------------------------------------------------

CONICS = {
    "ellipse": ([0.0, 0.0, -1.0, -1.0, -2.0], 2.0),
    "hyperbola": ([0.0, 0.0, 1.0, 0.0, -1.0], -0.5),
    "parabola": ([0.0, 1.0, -1.0, 0.0, 0.0], 0.5),
    "two lines": ([0.0, 0.0, 0.0, 1.0, 0.0], 0.0),
}
"""Weights of x1, x2, x1^2, x1 x2, x2^2, and what is added to them."""


def conics() -> dict[str, Any]:
    """Four conics as halfspaces of five features; and how many features there are in general."""
    lift = Monomials(degree=2, include_bias=False).fit([[0.0, 0.0]])
    shapes = {name: preimage(lift, weights, intercept) for name, (weights, intercept) in CONICS.items()}
    counts = {
        (d, p): len(Polynomial(p).fit([[0.0] * d]).get_feature_names_out()) for d in range(1, 7) for p in range(1, 5)
    }
    X = np.random.default_rng(2).uniform(-2, 2, size=(2000, 2))
    return {"lift": lift, "shapes": shapes, "counts": counts, "X": X}


def _conics(found: Found) -> Verdict:
    x1, x2 = found["X"].T
    features = np.column_stack([x1, x2, x1**2, x1 * x2, x2**2])
    wrong = {
        name: int((found["shapes"][name].contains(found["X"]) != (features @ weights + intercept >= 0)).sum())
        for name, (weights, intercept) in CONICS.items()
    }
    named = "; ".join(f"{name}: {found['shapes'][name]}" for name in CONICS)
    return Verdict(
        not any(wrong.values()), f"points on another side, of {len(features)}: {sum(wrong.values())}. {named}."
    )


def _count(found: Found) -> Verdict:
    wrong = {shape: n for shape, n in found["counts"].items() if n != comb(sum(shape), shape[1])}
    return Verdict(not wrong, f"counted for {len(found['counts'])} pairs of d and p; {len(wrong)} differ.", wrong)


def _draw_conics(picture: Picture, found: Found) -> None:
    across = np.linspace(-2, 2, 301)
    places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    for (name, shape), axes in zip(found["shapes"].items(), picture.panels(4, rows=2), strict=True):
        values = shape.value(places).reshape(301, 301)
        axes.contourf(across, across, values, levels=[0, np.inf], colors=["tab:blue"], alpha=0.25)
        axes.contour(across, across, values, levels=[0], colors="black")
        axes.set_aspect("equal")
        picture.finish(axes, name, "x1", "x2")


# -- random Fourier features ----------------------------------------------------------------------------------------


FORMS = ("pairs", "offset")


def random_fourier() -> dict[str, Any]:
    """Both forms on 200 points of five columns, with as many features as the bounds on both errors ask for."""
    kernel, epsilon, delta = Gaussian(2.0), 0.2, 0.05
    X = np.random.default_rng(0).normal(size=(200, 5))
    lifts, worst = {}, {}
    for form in ("pairs", "offset"):
        for error in ("kernel", "distance"):
            lift = RandomFourier(
                kernel, form=form, epsilon=epsilon, delta=delta, error=error, center=False, random_state=1
            ).fit(X)
            lifts[form, error] = lift
            worst[form, error] = lift.certificate(X, error=error).bound
    return {"kernel": kernel, "epsilon": epsilon, "delta": delta, "X": X, "lifts": lifts, "worst": worst}


def _within(form: str, error: str) -> Claim:
    says = {
        "kernel": "|k(x, z) - phi(x).phi(z)| <= epsilon for all pairs, with D = O(log(n/delta) / epsilon^2)",
        "distance": "distances have a relative error of at most epsilon, with D of the same order",
    }

    def decide(found: Found) -> Verdict:
        worst, needed = found["worst"][form, error], found["lifts"][form, error].n_components_
        why = (
            f"{needed:,} features for epsilon = {found['epsilon']}, delta = {found['delta']}: worst error {worst:.3f}."
        )
        return Verdict(worst <= found["epsilon"], why, worst)

    return Claim(f"form {form!r}: {says[error]}", decide)


def _laplace(found: Found) -> Verdict:
    try:
        RandomFourier.components_for("laplace", epsilon=0.2, delta=0.05, n=200, error="distance")
    except KernelError as error:
        return Verdict(True, str(error), error)
    return Verdict(False, "a number of features was given.")


def _draw_random_fourier(picture: Picture, found: Found) -> None:
    what = {"kernel": "kernel", "distance": "distance (relative)"}
    drawn = [(error, form) for error in ("kernel", "distance") for form in FORMS]
    for (error, form), axes in zip(drawn, picture.panels(4, rows=2, share=True), strict=True):
        lift = RandomFourier(found["kernel"], form=form, sampling="iid", center=False)
        counts = (64, 128, 256, 512, 1024, 2048)
        LiftErrorDisplay.from_lift(
            lift, found["X"], components=counts, draws=4, error=error, ax=axes, style=picture.style
        )
        picture.name(axes, f"{what[error]}, {form}", y="error")
    picture.one_legend()


EXAMPLES = (
    Example(
        "parabolic",
        LECTURE,
        "halfspaces and balls are halfspaces of the parabolic lift",
        "phi(x) = (x1, ..., xd, |x|^2) makes of a ball |x - c|^2 <= r^2 the halfspace <(2c, -1), phi(x)> >= |c|^2 - "
        "r^2, and of a halfspace one whose last weight is 0. Some thresholds have no points.",
        parabolic,
        (
            Claim("<(2c, -1), phi(x)> >= |c|^2 - r^2 in the ball, and only there", _ball),
            Claim("halfspaces are included, with u' = (u, 0)", _halfspace),
            Claim("some values of r' are not feasible", _infeasible),
        ),
        _draw_parabolic,
    ),
    Example(
        "conics",
        LECTURE,
        "every polynomial boundary is a plane",
        "With phi(x) = (x1, x2, x1^2, x1 x2, x2^2) every conic is a halfspace. Of d columns and degree p there are "
        "C(d + p, p) features, the constant included.",
        conics,
        (
            Claim("each conic is <w, phi(x)> + b >= 0, whatever its kind", _conics),
            Claim("D = C(d + p, p), the constant included", _count),
        ),
        _draw_conics,
    ),
    Example(
        "random_fourier",
        LECTURE,
        "random Fourier features, in both forms",
        "Pairs cos(w.x), sin(w.x), or waves cos(w.x + t) with an offset, approximate the Gaussian's infinite lift: "
        "with D = O(log(n/delta) / epsilon^2) features all values of the kernel on n points are within epsilon, with "
        "probability 1 - delta, and for the Gaussian all distances within a factor of 1 +- epsilon, in both forms.",
        random_fourier,
        (
            *(_within(form, error) for error in ("kernel", "distance") for form in FORMS),
            Claim("for the Laplace kernel that is not promised", _laplace),
        ),
        _draw_random_fourier,
    ),
)
