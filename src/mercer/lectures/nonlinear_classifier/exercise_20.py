"""Exercise 20: from a kernel to features."""

from __future__ import annotations

import numpy as np

from mercer.kernels import Linear
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.nonlinear_classifier.equality import Table, compared
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict

M = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
"""k(x, x') = x' M x'': the matrix of the kernel of the exercise."""
CHOICES = {
    "A": ("phi(x) = [x1, x2, x3]", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "B": ("phi(x) = [x1 + x2 + x3]", [[1, 1, 1]]),
    "C": ("phi(x) = [x1, x2 + x3]", [[1, 0, 0], [0, 1, 1]]),
    "D": ("phi(x) = [x1 + x3, x1 + x2]", [[1, 0, 1], [1, 1, 0]]),
}
"""Each as a matrix: phi(x) = A x."""


def kernel(X: Table, Z: Table) -> Table:
    """x1 x1' + x2 x2' + x3 x3' + x2 x3' + x3 x2'."""
    return np.asarray(X @ M @ Z.T)


def _claim(letter: str) -> Claim:
    text, rows = CHOICES[letter]

    def decide(_: Found) -> Verdict:
        features = np.array(rows, dtype=float)
        return compared(lambda X: X @ features.T, kernel, columns=3, degree=1)

    return Claim(text, decide)


def _draw(picture: Picture, _: Found) -> None:
    """The matrix A'A of each choice beside that of the kernel."""
    X = np.eye(3)
    drawn = {
        "the kernel": kernel(X, X),
        **{f"{letter}. {text[9:]}": Linear().after(rows)(X) for letter, (text, rows) in CHOICES.items()},
    }
    panels = picture.panels(len(drawn), rows=2)
    for (title, values), axes in zip(drawn.items(), panels, strict=True):
        axes.imshow(values, cmap="Blues", vmin=-0.5, vmax=3)
        for i, j in np.ndindex(3, 3):
            axes.text(j, i, f"{values[i, j]:g}", ha="center", va="center")
        axes.set(xticks=range(3), yticks=range(3), xticklabels=["x1'", "x2'", "x3'"], yticklabels=["x1", "x2", "x3"])
        picture.finish(axes, title)


EXERCISE = Exercise(
    number=20,
    lecture="Nonlinear classifier",
    title="the features of a given kernel",
    question="Which of the following feature vectors phi(x) produces the kernel\n"
    "K(x, x') = phi(x).phi(x') = x1 x1' + x2 x2' + x3 x3' + x2 x3' + x3 x2'?",
    claims={letter: _claim(letter) for letter in CHOICES},
    stated="C",
    reason="Mixed terms such as x2 x3' need a feature in which x2 and x3 stand together: (x2 + x3)(x2' + x3') gives "
    "all four of them, and x1 x1' is left.",
    draw=_draw,
)
