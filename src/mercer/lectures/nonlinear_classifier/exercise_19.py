"""Exercise 19: from features to a kernel."""

from __future__ import annotations

import numpy as np

from mercer.kernels.formulas import read_kernel
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict
from mercer.lifts import lift
from mercer.lifts.checking import check

FEATURES = ["x1", "x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]
CHOICES = {"A": "x.x'", "B": "x.x' + (x.x')^2", "C": "(x.x')^2", "D": "2 (x.x')^2"}


def _compare() -> dict[str, Verdict]:
    answers = {letter: check(phi=FEATURES, kernel=text) for letter, text in CHOICES.items()}
    return {letter: Verdict(answer.equal, f"{answer.reason}.", answer) for letter, answer in answers.items()}


def _one_of(letter: str) -> Claim:
    return Claim(CHOICES[letter], lambda found: found[letter])


def _none(found: Found) -> Verdict:
    equal = [letter for letter in CHOICES if found[letter].holds]
    return Verdict(not equal, f"{', '.join(equal)} is equal." if equal else "each of them differs somewhere.")


def _draw(picture: Picture, found: Found) -> None:
    """Values against values: only an equal formula lies on the diagonal."""
    X = np.random.default_rng(19).normal(size=(15, 2))
    features = lift(FEATURES, 2).transform(X)
    dots = (features @ features.T).ravel()
    (axes,) = picture.panels()
    for letter, text in CHOICES.items():
        axes.plot(dots, read_kernel(text).pairs(X, X).ravel(), ".", markersize=5, label=f"{letter}. {text}")
    ends = [dots.min(), dots.max()]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    right = ", ".join(letter for letter in CHOICES if found[letter].holds)
    picture.finish(axes, f"{right} lies on the diagonal", "phi(x).phi(x')", "value of the choice")


EXERCISE = Exercise(
    number=19,
    lecture="Nonlinear classifier",
    title="the kernel of given features",
    question="Assume we map x and x' in R^2 to feature vectors given by\n"
    "phi(x) = [x1, x2, x1^2, sqrt(2) x1 x2, x2^2].\n"
    "Which of the following equals the dot product phi(x).phi(x')?",
    claims={**{letter: _one_of(letter) for letter in CHOICES}, "E": Claim("None of the above", _none)},
    stated="B",
    reason="The first two features give x.x'. The others give x1^2 x1'^2 + 2 x1 x2 x1' x2' + x2^2 x2'^2 = (x.x')^2: "
    "the root of 2 makes the 2 of the square.",
    draw=_draw,
    compute=_compare,
)
