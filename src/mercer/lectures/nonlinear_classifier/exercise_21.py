"""Exercise 21: which functions are kernels."""

from __future__ import annotations

import numpy as np

from mercer.kernels import Constant, Kernel, Linear, Min
from mercer.kernels.proof.prove import prove
from mercer.kernels.proof.record import Proof, Witness
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict

CHOICES: dict[str, tuple[str, Kernel, int | None, str]] = {
    "A": ("1", Constant(1.0), None, "reals"),
    "B": ("x.x'", Linear(), None, "reals"),
    "C": ("1 + x.x'", 1 + Linear(), None, "reals"),
    "D": ("(1 + x.x')^2", (1 + Linear()) ** 2, None, "reals"),
    "E": ("exp(x + x'), for x, x' in R", Constant(1.0).weighted("exp"), 1, "reals"),
    "F": ("min(x, x'), for x, x' in Z", Min(), 1, "integers"),
}


def _prove() -> dict[str, Proof]:
    return {letter: prove(kernel, d, domain) for letter, (_, kernel, d, domain) in CHOICES.items()}


def _claim(letter: str) -> Claim:
    def decide(found: Found) -> Verdict:
        proof: Proof = found[letter]
        return Verdict(proof.status == "proven", _why(proof), proof)

    return Claim(CHOICES[letter][0], decide)


def _why(proof: Proof) -> str:
    """The last step of a proof, or the points that refute it."""
    if isinstance(proof.witness, Witness):
        points, weights = proof.witness.points, proof.witness.weights
        if len(points) == 1:
            return f"k(x, x) = {proof.witness.value:g} < 0 at x = {points[0, 0]:g}, and |phi(x)|^2 is never negative."
        return f"c.Kc = {proof.witness.value:g} < 0 at {points.tolist()} with c = {weights.tolist()}."
    return f"{proof.steps[-1].split(' [by ')[0]}."


def _draw(picture: Picture, found: Found) -> None:
    """The matrix of each on the integers -2 to 3, and its least eigenvalue."""
    X = np.arange(-2.0, 4.0)[:, None]
    for (letter, (text, kernel, _, _)), axes in zip(CHOICES.items(), picture.panels(len(CHOICES), rows=2), strict=True):
        # Min refuses to be evaluated where it is no kernel
        K = np.minimum(X, X.T) if letter == "F" else kernel(X)
        least = np.linalg.eigvalsh(K)[0]
        told = 0.0 if abs(least) < 1e-10 * np.abs(K).max() else least
        axes.imshow(K, cmap="Blues", vmin=min(0.0, K.min()))
        axes.set(xticks=[], yticks=[])
        picture.name(axes, f"{letter}. {text.split(', for')[0]}", f"least eigenvalue {told:.3g}")


EXERCISE = Exercise(
    number=21,
    lecture="Nonlinear classifier",
    title="which of these are kernels",
    question="Let x and x' be two vectors of the same dimension. Use the definition of kernels and the kernel "
    "composition rules to decide which of the following are kernels. (Features need not be polynomial. Choose all "
    "those apply.)",
    claims={letter: _claim(letter) for letter in CHOICES},
    stated="ABCDE",
    reason="A has the feature 1, B the features x, C is a sum and D a product of kernels, E has the feature exp(x). F "
    "is "
    "the inner product of the indicators of [0, x] and [0, x'] for x, x' >= 0, and fails at a negative x. (The lecture "
    "says that this proof does not apply on the integers; that alone refutes nothing, but a point does.)",
    draw=_draw,
    compute=_prove,
)
