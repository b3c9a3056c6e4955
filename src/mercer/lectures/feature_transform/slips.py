"""Slips of the lecture "Feature transform"."""

from __future__ import annotations

from math import lgamma, log, pi

import numpy as np

from mercer.kernels import Gaussian, median_distance
from mercer.learners import KernelRidge
from mercer.lectures.prices import LECTURE_DAYS, prices
from mercer.lectures.slip_record import Slip
from mercer.lectures.verdict import Verdict, agreement
from mercer.lifts import Powers
from mercer.planner.from_shapes import plan
from mercer.planner.machine import ROUGH

LECTURE = "Feature transform"
Pair = tuple[Verdict, Verdict]


def _balls() -> Pair:
    r, cover, reach, pack, last = 0.25, 0, 0.0, 0, -np.inf
    for x in np.arange(0, 1 + 1e-9, r / 64):  # on a line, taking the next one as late, or as early, as possible is best
        if x >= reach and reach < 1:
            cover, reach = cover + 1, x + 2 * r
        if x - last >= 2 * r - 1e-12:
            pack, last = pack + 1, x
    why = f"intervals of radius 1/4 on [0, 1]: {cover} cover it, and {pack} have centers there and do not overlap."
    return Verdict(cover == pack, why, (cover, pack)), Verdict(cover <= pack, why, (cover, pack))


def _exponential() -> Pair:
    r, dimensions = 0.25, (10, 100, 1000)
    base = {d: np.exp((lgamma(d / 2 + 1) - d / 2 * log(pi)) / d) / r for d in dimensions}
    why = "to cover the unit cube takes c^d balls of radius 1/4 at least, with " + ", ".join(
        f"c = {c:.1f} for d = {d}" for d, c in base.items()
    )
    grows = list(base.values()) == sorted(base.values()) and base[1000] > 5 * base[10] / 2
    return Verdict(not grows, f"{why}.", base), Verdict(grows, f"{why}: no one c does.", base)


def _support() -> Pair:
    value = float(Gaussian(1.0)([[0.0]], [[2.0]])[0, 0])
    why = f"a bump two lengthscales away: {value:.3f} of its height."
    return Verdict(value == 0, why, value), Verdict(0 < value < 0.2, why, value)


def _ones() -> Pair:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    shifts = {}
    for kernel, intercept in (("1 + linear", False), ("linear", True)):
        low, high = (
            KernelRidge(kernel, alpha=5.0, fit_intercept=intercept).fit(X, target).predict(X) for target in (y, y + 100)
        )
        shifts[intercept] = float(np.abs(high - low - 100).max())
    said = "y + 100 shifts predictions by 100, to {:.1e}."
    return tuple(Verdict(shifts[each] < 1e-9, said.format(shifts[each])) for each in (False, True))  # type: ignore[return-value]


def _gaussians() -> Pair:
    r, s = 1.0, 2.0
    forms = np.exp([-(r**2) / s**2, -(r**2) / 2, -(r**2) / (2 * s**2)])
    why = f"at r = 1, s = 2: {', '.join(f'{value:.3f}' for value in forms)}."
    wrong = Verdict(len(set(forms.tolist())) == 1, why, forms)
    return wrong, agreement(Gaussian(s)([[0.0]], [[r]])[0, 0], forms[2], 1e-15, "Gaussian(2) and exp(-r^2/(2 s^2))")


def _terms() -> Pair:
    X = np.linspace(-1, 1, 12)[:, None]
    model = KernelRidge(Powers(3), alpha=0.1).fit(X, X[:, 0])
    b, n = np.size(model.coef_), len(X)
    return Verdict(b == n, f"{n} rows, and {b} weights.", b), Verdict(b == 3, f"b = 3: {b} weights.", b)


def _matrix() -> Pair:
    seconds = {}
    for d in (10, 1000):
        found = plan(32_000, d, alpha=0.1, kernel="gaussian(1)", memory_limit="1 TB", machine=ROUGH)
        direct = next(each for each in (found, *found.others) if each.method == "direct")
        seconds[d] = direct.stages[0].seconds
    factor = seconds[1000] / seconds[10]
    why = f"32,000 rows: the planned seconds of the matrix for 1,000 columns are {factor:.1f} times those for 10."
    return Verdict(factor < 1.05, why, seconds), Verdict(factor > 1.05, why, seconds)


def _sigma() -> Pair:
    _, X, _ = prices(LECTURE_DAYS)
    median = median_distance(X)
    why = (
        f"65 days in equal steps from 0 to 1: the median is {median:.4f}, over the root of 2 {median / np.sqrt(2):.4f}."
    )
    return Verdict(f"{median:.4f}" == "0.2099", why, median), Verdict(
        f"{median / np.sqrt(2):.4f}" == "0.2099", why, median
    )


def _inverse() -> Pair:
    x = np.linspace(-1, 1, 5)
    phi, y = np.vstack([x**k for k in range(1, 8)] + [np.ones(5)]), np.exp(x)
    rank = int(np.linalg.matrix_rank(phi @ phi.T))
    w = phi @ np.linalg.solve(phi.T @ phi, y)
    wrong = Verdict(rank == len(phi), f"5 rows, 8 features: phi(X) phi(X)' has the rank {rank}, and no inverse.", rank)
    shortest = agreement(w, np.linalg.lstsq(phi.T, y)[0], 1e-6, "the shortest w by Woodbury and by lstsq")
    return wrong, shortest


SLIPS = (
    Slip(
        LECTURE,
        "w_LS = (phi(X) phi(X)')^-1 phi(X) y', for any b",
        "where that has an inverse; else the shortest w of least loss",
        "with fewer rows than features it has none",
        _inverse,
    ),
    Slip(
        LECTURE,
        "f(x; w) is a sum over i = 1, ..., n of w_i phi_i(x)",
        "over i = 1, ..., b",
        "there is one weight per feature; one per row has the dual",
        _terms,
    ),
    Slip(
        LECTURE,
        "the number of balls that cover a space is its packing number",
        "its covering number; the packing number counts balls that do not meet",
        "each bounds the other, at half of the radius",
        _balls,
    ),
    Slip(
        LECTURE,
        "b = O(c^d) balls cover a space",
        "so it is for a ball of radius R, which takes (1 + 2R/r)^d at most; the unit cube takes more than any c^d",
        "by volume it takes Gamma(d/2 + 1) / (pi^(d/2) r^d) at least, about sqrt(d / (2 pi)) / r times as many with "
        "each further column",
        _exponential,
    ),
    Slip(
        LECTURE,
        "a stock price is a periodic signal; its symbol is APPL",
        "`Trigonometric(order, period)` has the period as a parameter; AAPL",
        "a price need not end where it began, and the unit of x decides as much as b",
    ),
    Slip(
        LECTURE,
        "the support of f, {x: f(x) != 0}, is balls of radius sigma around the centroids",
        "where f is not small",
        "a Gaussian bump is zero nowhere: two lengthscales away 14 % of it are left",
        _support,
    ),
    Slip(
        LECTURE,
        "the constant is a row of ones in phi(X), and penalised as the others; later it is left out",
        "`fit_intercept=True` has a constant without penalty",
        "a shift of y should shift predictions, and nothing else",
        _ones,
    ),
    Slip(
        LECTURE,
        "the matrix K costs O(n^2)",
        "n^2 d, as the first lecture has it",
        "each of its n^2 entries reads d numbers of two rows",
        _matrix,
    ),
    Slip(
        LECTURE,
        "sigma is the median of the distances; for the prices it is 0.2099",
        '`Gaussian("median")` is the median, 0.2969 on what seems to be the lecture\'s scale; '
        "0.2099 is that over sqrt(2)",
        "the median belongs to exp(-r^2/s^2), and over sqrt(2) to exp(-r^2/(2 s^2)); an inference from two numbers, "
        "0.2099 and 0.1050",
        _sigma,
    ),
    Slip(
        "all",
        "exp(-r^2/s^2), exp(-r^2/2) and exp(-r^2/(2 s^2))",
        "the last",
        "one Gaussian is enough",
        _gaussians,
    ),
)
