"""Exercise 17: which features make the inside of an ellipse a halfspace."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.geometry import Ellipse, HullsMeet, Separation, separable
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict
from mercer.lifts import Monomials, lift

FEATURES = {
    "A": ["x1", "x2"],
    "B": ["x1", "x2", "x1 x2"],
    "C": ["x1", "x2", "x1^2 + x2^2"],
    "D": ["x1", "x2", "x1^2 + 2 x2^2"],
    "E": ["x1", "x2", "x1 x2", "x1^2", "x2^2"],
}
GAP = 0.03
"""No row is nearer to the boundary, in the value of its polynomial."""


def _rows() -> dict[str, Any]:
    """Points of a square, 1 inside of a turned ellipse and -1 outside: the lecture's own picture is not in its text."""
    ellipse = Ellipse([0.4, -0.3], [2.0, 1.0], np.pi / 6)
    X = np.random.default_rng(17).uniform(-3, 3, size=(150, 2))
    X = X[np.abs(ellipse.value(X)) > GAP]
    y = np.where(ellipse.contains(X), 1, -1)
    answers = {letter: separable(features, X, y) for letter, features in FEATURES.items()}
    plane = ellipse.halfspace(Monomials(degree=2, include_bias=False).fit(X))
    return {"X": X, "y": y, "ellipse": ellipse, "plane": plane, "separations": answers}


def _claim(letter: str) -> Claim:
    def decide(found: Found) -> Verdict:
        answer: Separation = found["separations"][letter]
        return Verdict(bool(answer), _why(answer, found), answer)

    return Claim(f"phi(x) = [{', '.join(FEATURES[letter])}]", decide)


def _why(answer: Separation, found: Found) -> str:
    """How many rows of each class make one point; or the plane."""
    if isinstance(answer, HullsMeet):
        point = ", ".join(f"{value:.3g}" for value in answer.point)
        inside, outside = (sorted(answer.weights[label]) for label in (1, -1))
        return f"phi = ({point}) is a mean of the rows {inside}, labeled 1, and of the rows {outside}, labeled -1."
    weights = ", ".join(f"{weight:.3g}" for weight in found["plane"].weights)
    return (
        f"a plane has all {len(found['X'])} rows on their sides; the ellipse itself has, on x1, x2, x1^2, x1 x2, x2^2, "
        f"the weights {weights}, and every other one has some."
    )


def _draw(picture: Picture, found: Found) -> None:
    """The rows, and, where a plane separates their features, its boundary; else the rows of a point of both hulls."""
    X, y, across = found["X"], found["y"], np.linspace(-3, 3, 201)
    places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    panels = picture.panels(5, rows=2)
    for (letter, features), axes in zip(FEATURES.items(), panels, strict=True):
        answer = found["separations"][letter]
        for label in (1, -1):
            axes.plot(*X[y == label].T, ".", markersize=4, label=f"y = {label}")
        if isinstance(answer, HullsMeet):
            rows = [row for weights in answer.weights.values() for row in weights]
            axes.plot(*X[rows].T, "o", color="black", fillstyle="none", markersize=5, label="rows whose hulls meet")
        else:
            scores = lift(features, 2).transform(places) @ answer.coef + answer.intercept
            axes.contour(across, across, scores.reshape(201, 201), levels=[0], colors="black")
        axes.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
        picture.finish(axes, f"{letter}: {'yes' if answer else 'no'}", f"[{', '.join(features)}]")
    picture.one_legend()


EXERCISE = Exercise(
    number=17,
    lecture="Nonlinear classifier",
    title="which features separate an ellipse",
    question="Given the training examples with x = [x1, x2] in R^2 below, where a boundary between the "
    "positively-labeled examples and the negatively-labeled examples is an ellipse, which of the following feature "
    "vectors phi(x) will guarantee that the training set {(phi(x), y)} is linearly separable? (Choose all that apply.)",
    claims={letter: _claim(letter) for letter in FEATURES},
    stated="E",
    reason="Every ellipse is theta.[x1, x2, x1 x2, x1^2, x2^2] + theta_0 = 0 for some theta. A draws lines, B lines "
    "and "
    "hyperbolas, C circles. D draws ellipses, but only those along the axes that are the root of 2 times as wide as "
    "high; the lecture says circles.",
    draw=_draw,
    compute=_rows,
)
