"""Exercise 20: from a kernel to features."""

from __future__ import annotations

import numpy as np

from mercer.kernels.formulas import read_kernel
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict
from mercer.lifts import lift
from mercer.lifts.checking import check

KERNEL = "x1 x1' + x2 x2' + x3 x3' + x2 x3' + x3 x2'"
CHOICES = {
    "A": ["x1", "x2", "x3"],
    "B": ["x1 + x2 + x3"],
    "C": ["x1", "x2 + x3"],
    "D": ["x1 + x3", "x1 + x2"],
}


def _claim(letter: str) -> Claim:
    features = CHOICES[letter]

    def decide(_: Found) -> Verdict:
        answer = check(phi=features, kernel=KERNEL)
        return Verdict(answer.equal, f"{answer.reason}.", answer)

    return Claim(f"phi(x) = {_listed(features)}", decide)


def _listed(features: list[str]) -> str:
    return f"[{', '.join(features)}]"


def _draw(picture: Picture, _: Found) -> None:
    """The matrix A'A of each choice beside that of the kernel."""
    X = np.eye(3)
    drawn = {
        "the kernel": read_kernel(KERNEL).pairs(X, X),
        **{f"{letter}. {_listed(phi)}": lift(phi, 3).kernel(X) for letter, phi in CHOICES.items()},
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
