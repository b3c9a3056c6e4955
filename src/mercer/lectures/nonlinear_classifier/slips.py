"""Slips of the lecture "Nonlinear classifier"."""

from __future__ import annotations

import numpy as np

from mercer.geometry import Ball, Ellipse, separable
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.kernels.proof.prove import prove
from mercer.lectures.slip_record import Slip
from mercer.lectures.verdict import Verdict, agreement

LECTURE = "Nonlinear classifier"
Pair = tuple[Verdict, Verdict]


def _updates(bracket_inside: bool, passes: int = 20) -> int:
    """Updates in the last of some passes over x = 1 of the class 1 and x = -1 of the class -1."""
    theta, made = 0.0, 0
    for _ in range(passes):
        made = 0
        for x, y in ((1.0, 1), (-1.0, -1)):
            mistake = y * (theta * x <= 0) if bracket_inside else y * (theta * x) <= 0
            if mistake:
                theta, made = theta + y * x, made + 1
    return made


def _bracket() -> Pair:
    inside, outside = _updates(True), _updates(False)
    said = "of the rows 1 and -1 the 20th pass changes theta at {}."
    return Verdict(inside == 0, said.format(inside), inside), Verdict(outside == 0, said.format(outside), outside)


def _start() -> Pair:
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0])
    thetas = {start: (np.full(2, start) * y) @ X for start in (1.0, 0.0)}
    one, zero = (
        Verdict(not theta.any(), f"alpha = {a:g} is theta = {theta.tolist()}.", theta) for a, theta in thetas.items()
    )
    return one, zero


def _binomial() -> Pair:
    x = np.array([[1.0]])
    total = float((Linear() + Linear() ** 2 + Linear() ** 3)(x)[0, 0])
    power = float(Polynomial(3)(x)[0, 0])
    t = np.linspace(-2, 2, 9)[:, None]
    right = agreement(
        Polynomial(3)(t),
        1 + 3 * t @ t.T + 3 * (t @ t.T) ** 2 + (t @ t.T) ** 3,
        1e-11,
        "Polynomial(3) and 1 + 3 t + 3 t^2 + t^3",
    )
    return Verdict(
        total == power, f"at x = z = 1 with p = 3 the sum is {total:g}, and the power {power:g}.", (total, power)
    ), right


def _circles() -> Pair:
    """Rows labelled by an ellipse sqrt(2) times as wide as high, and by a circle: which of them D separates."""
    X = np.random.default_rng(17).uniform(-3, 3, size=(150, 2))
    answers = []
    for shape in (Ball([0.4, -0.3], 1.5), Ellipse([0.4, -0.3], [1.5 * np.sqrt(2), 1.5], 0.0)):
        rows = X[np.abs(shape.value(X)) > 0.03]
        answers.append(separable(lambda X: np.column_stack([X, X**2 @ [1, 2]]), rows, shape.contains(rows)))
    circle, ellipse = (Verdict(bool(each), f"{each}.".splitlines()[0], each) for each in answers)
    return circle, ellipse


def _does_not_apply() -> Pair:
    linear, minimum = prove("linear", domain="integers"), prove("min", domain="integers")
    why = f"the same proof does not apply to x.z on the integers, and that is {linear.status} to be a kernel."
    return Verdict(linear.status != "proven", why, linear), Verdict(minimum.status == "refuted", minimum.claim, minimum)


def _expressive() -> Pair:
    kernel = Gaussian(1.0).after(np.abs)
    X = np.array([[-1.0], [1.0]])
    rank = int(np.linalg.matrix_rank(Gaussian(0.1).after(np.abs)(np.linspace(0, 5, 40)[:, None])))
    gap = float(np.abs(np.diff(kernel(X), axis=0)).max())
    why = f"exp(-(|x| - |z|)^2 / 2): rank {rank} on 40 points, and k(-1, .) and k(1, .) differ by {gap:g}."
    separates = float(np.linalg.eigvalsh(Gaussian(1.0)(X))[0])
    return Verdict(gap > 0, why, gap), Verdict(
        separates > 0.1, f"Gaussian: least eigenvalue of -1 and 1 {separates:.3f}.", separates
    )


SLIPS = (
    Slip(
        LECTURE,
        "the perceptron changes theta where y (theta.x <= 0)",
        "where y (theta.x) <= 0",
        "the bracket stands at the wrong place; further down it is right",
        _bracket,
    ),
    Slip(
        LECTURE,
        'the alphas of the kernel perceptron start at "some values"',
        "at 0, so that theta starts at 0",
        "other values are another start, with another bound on the mistakes",
        _start,
    ),
    Slip(
        LECTURE,
        "x.z + (x.z)^2 + ... = (1 + x.z)^p",
        "`Linear() + Linear()**2 + ...`, or `Polynomial(p)`",
        "the binomial coefficients are missing",
        _binomial,
    ),
    Slip(
        "Nonlinear classifier, exercise 17",
        'C and D both "give circles"',
        "D, [x1, x2, x1^2 + 2 x2^2], gives ellipses whose axes have the ratio sqrt(2)",
        "neither is every ellipse, so the answer (E) stays; examples/exercise_17.py",
        _circles,
    ),
    Slip(
        "Nonlinear classifier, exercise 17",
        "circles in (x1, y1)",
        "in (x1, x2)",
        "y is the label",
    ),
    Slip(
        "Nonlinear classifier, exercise 21",
        'min on the integers is not a kernel, since its proof on the non-negative reals "does not apply"',
        "refuted by a point: min(-1, -1) = -1",
        'a proof that does not apply refutes nothing (`mercer.prove("min", domain="integers")`)',
        _does_not_apply,
    ),
    Slip(
        "Nonlinear classifier, exercise 21",
        'a kernel lives on a "compact, finite dimensional vector space"',
        "on any set",
        "only the space of the single point 0 is that",
    ),
    Slip(
        LECTURE,
        "infinitely many features have unlimited expressive power",
        "a universal kernel has, as the Gaussian is",
        "exp(-(|x| - |z|)^2 / 2) has infinitely many, and cannot tell x from -x",
        _expressive,
    ),
)
