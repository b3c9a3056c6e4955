"""Slips of the lecture "Liftings"."""

from __future__ import annotations

import numpy as np

from mercer.errors import KernelError
from mercer.geometry import Ball
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.proof.prove import prove
from mercer.lectures.slip_record import Slip
from mercer.lectures.verdict import Verdict, agreement
from mercer.lifts import Parabolic, RandomFourier

LECTURE = "Liftings"
Pair = tuple[Verdict, Verdict]


def _mean_wave(r: float, variance: float) -> float:
    """The mean of cos(w r) over w of the normal law: by a quadrature that is exact to rounding."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ np.cos(np.sqrt(variance) * nodes * r) / weights.sum())


def _frequencies() -> Pair:
    r, s = 1.0, 1.5
    wrong = agreement(
        _mean_wave(r, 1 / s**2), np.exp(-(r**2) / s**2), 1e-12, "at r = 1, s = 1.5 mean and exp(-r^2/s^2)"
    )
    right = agreement(_mean_wave(r, 1 / s**2), Gaussian(s)([[0.0]], [[r]])[0, 0], 1e-12, "mean and Gaussian(1.5)")
    return wrong, right


def _offsets() -> Pair:
    w, x, z = 1.3, 0.4, 1.1
    t = np.arange(64) * 2 * np.pi / 64  # the mean over these is that over all offsets, for sums of few waves
    mean = float(np.mean(np.cos(w * x + t) * np.cos(w * z + t)))
    exact = np.cos(w * (x - z))
    return agreement(mean, exact, 1e-12, "the mean and cos(w (x - z))"), agreement(
        2 * mean, exact, 1e-12, "twice the mean and cos(w (x - z))"
    )


def _sinc() -> Pair:
    minus, four = prove(lambda x, z: -np.sinc(np.linalg.norm(x - z) / np.pi), d=1), prove("sinc", d=4)
    three, product = prove("sinc", d=3), prove("product_sinc")
    wrong = Verdict(
        minus.status != "refuted",
        f"with the minus {minus.status}: k(x, x) = -1; without, for d = 4: {four.status}.",
        four,
    )
    holds = (three.status, product.status) == ("proven", "proven")
    return wrong, Verdict(holds, f"sinc for d = 3: {three.status}; product_sinc for every d: {product.status}.", three)


def _ball() -> Pair:
    ball = Ball([0.3, 0.2], 1.2)
    c, r = ball.center, ball.radius
    X = np.random.default_rng(0).uniform(-2, 2, size=(500, 2))
    phi, inside = Parabolic().fit_transform(X), ball.contains(X)
    counts = [
        int((inside != (phi @ [*weights] - (c @ c - r**2) >= 0)).sum())
        for weights in ([*(-2 * c), 1.0], [*(2 * c), -1.0])
    ]
    return tuple(Verdict(n == 0, f"{n} of 500 points are on another side.", n) for n in counts)  # type: ignore[return-value]


def _closed() -> Pair:
    ball, x = Ball([1.0, 0.0], 2.0), [[3.0, 0.0]]
    weights, intercept = ball.halfspace(Parabolic().fit(x))
    value = float((Parabolic().fit_transform(x) @ weights)[0] + intercept)
    inside = bool(ball.contains(x)[0])
    why = f"at the boundary point (3, 0) of |x - (1, 0)| <= 2 the halfspace is at {value:g}; the ball has it: {inside}."
    return Verdict((value > 0) == inside, f"> 0: {value > 0}; {why}", value), Verdict(
        (value >= 0) == inside, why, value
    )


def _distances() -> Pair:
    X = np.random.default_rng(0).normal(size=(200, 5))
    worst = {}
    for form in ("offset", "pairs"):
        lift = RandomFourier("gaussian(1)", form=form, epsilon=0.1, error="distance", random_state=0).fit(X)
        worst[lift.n_components_] = lift.certificate(X, error="distance").bound
    offset, pairs = worst
    right = Verdict(
        max(worst.values()) <= 0.1,
        f"Gaussian: {offset:,} features with offsets and {pairs:,} in pairs keep 200 points within 0.1 "
        f"with probability 0.99; measured {worst[offset]:.3f} and {worst[pairs]:.3f}.",
        worst,
    )
    try:
        wrong = Verdict(
            True, f"{RandomFourier.components_for('laplace(1)', epsilon=0.1, delta=0.01, n=200, error='distance'):,}."
        )
    except KernelError as error:
        wrong = Verdict(False, str(error), error)
    return wrong, right


def _independent() -> Pair:
    X = np.random.default_rng(0).normal(size=(7, 2))
    ranks = {k: int(np.linalg.matrix_rank(kernel(X))) for k, kernel in (("poly", Polynomial(2)), ("gauss", Gaussian()))}
    wrong = Verdict(ranks["poly"] == 7, f"polynomial(degree=2): seven points, rank {ranks['poly']}.", ranks)
    return wrong, Verdict(ranks["gauss"] == 7, f"gaussian: seven points, rank {ranks['gauss']}.", ranks)


SLIPS = (
    Slip(
        LECTURE,
        "weights N(0, 1/s^2) for exp(-r^2/s^2)",
        "N(0, 1/lengthscale^2) for exp(-r^2/(2 lengthscale^2))",
        "for exp(-r^2/s^2) it would be N(0, 2/s^2)",
        _frequencies,
    ),
    Slip(
        LECTURE,
        "random waves cos(w.x + t) / sqrt(D)",
        "sqrt(2/D) cos(w.x + t)",
        "the mean of 2 cos cos over the offset t is cos of the difference",
        _offsets,
    ),
    Slip(
        LECTURE,
        "sinc kernel with a minus sign, in any dimension",
        "sin(t)/t, t = r/lengthscale, to d = 3; `ProductSinc` for every d",
        'with a minus k(x, x) < 0; for d > 3 points refute it (`mercer.prove("sinc", d=4)`)',
        _sinc,
    ),
    Slip(
        LECTURE,
        "the ball as a halfspace, with the sign turned",
        "<(2c, -1), phi(x)> >= |c|^2 - r^2 for phi(x) = (x, |x|^2)",
        "expand |x - c|^2 <= r^2",
        _ball,
    ),
    Slip(
        LECTURE,
        'a ball with its boundary as a halfspace without its own: "<= r^2" and "> 0"',
        "both with their boundaries: `shape.contains` and `region` have >= 0",
        "the points of the sphere are on the plane",
        _closed,
    ),
    Slip(
        LECTURE,
        "D = C(d + p, d) = C(d + p, d)",
        "D = C(d + p, d) = C(d + p, p)",
        "the second should have p: the same number, chosen from the other side",
    ),
    Slip(
        LECTURE,
        "relative error of the kernel distance for random features, for any kernel",
        "granted for the Gaussian in both forms, refused for the Laplace kernel",
        "waves are smooth, and it is known to fail there (Cheng, Jiang, Wei and Wei, 2022)",
        _distances,
    ),
    Slip(
        LECTURE,
        "lifted points of a reproducing kernel are linearly independent",
        "of a strictly positive definite one, as the Gaussian is",
        "every kernel is reproducing; seven points of the plane under `Polynomial(2)` have six features",
        _independent,
    ),
)
