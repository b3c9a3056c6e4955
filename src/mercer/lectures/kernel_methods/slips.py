"""Slips of the lecture "Kernel methods"."""

from __future__ import annotations

import numpy as np

from mercer.lectures.slip_record import Slip
from mercer.lectures.verdict import Verdict
from mercer.lifts import Subsets

LECTURE = "Kernel methods"
Pair = tuple[Verdict, Verdict]


def _terms() -> Pair:
    d = 4
    n = len(Subsets().fit([[0.0] * d]).get_feature_names_out())
    why = f"d = {d}: {n} features, so that the sum has {n} terms"
    return Verdict(n == 2 ** (2 * d), f"{why} and not {2 ** (2 * d)}.", n), Verdict(n == 2**d, f"{why}.", n)


def _starts() -> Pair:
    row, target, ends = np.array([1.0, 2.0]), 2.0, []
    for start in ((0.0, 0.0), (1.5, 1.0)):
        w = np.array(start)
        for _ in range(200):
            w = w - 0.03 * 2 * (w @ row - target) * row
        ends.append(w)
    gap = float(np.abs(ends[0] - ends[1]).max())
    shortest = float(np.abs(ends[0] - np.linalg.lstsq(row[None], [target])[0]).max())
    wrong = Verdict(
        gap < 1e-9,
        f"from (0, 0) and (1.5, 1) it ends at {ends[0].round(3).tolist()} and {ends[1].round(3).tolist()}.",
        ends,
    )
    return wrong, Verdict(shortest < 1e-9, f"from 0 it ends within {shortest:.0e} of the shortest w.", shortest)


def _gamma() -> Pair:
    x, y = 2.0, 1.0
    gammas = {w: 2 * (w * x - y) for w in (0.0, 1.0)}
    wrong = Verdict(
        gammas[0.0] == gammas[1.0],
        f"x = 2, y = 1: gamma is {gammas[0.0]:g} at w = 0 and {gammas[1.0]:g} at w = 1.",
        gammas,
    )
    h = 1e-6
    slopes = {w: (((w + h) * x - y) ** 2 - ((w - h) * x - y) ** 2) / (2 * h) for w in gammas}
    gap = max(abs(slopes[w] - gammas[w] * x) for w in gammas)
    return wrong, Verdict(gap < 1e-6, f"gamma x is the derivative of the loss, to {gap:.0e}.", gap)


SLIPS = (
    Slip(
        LECTURE,
        "the inner product of all subsets has 2^(2d) terms",
        "2^d",
        "it is a sum over subsets, not over pairs of them",
        _terms,
    ),
    Slip(
        LECTURE,
        "the loss is convex, so descent ends at one w, wherever it starts",
        "at the w of least loss that is nearest to its start; from 0 the shortest",
        "with fewer rows than features there are many such w",
        _starts,
    ),
    Slip(
        LECTURE,
        "gamma_i is a function of x_i and y_i",
        "of w as well: gamma_i = 2 (w.x_i - y_i), another one in every step",
        "otherwise all steps would be the same",
        _gamma,
    ),
)
