"""k(x, z) = sum_k sum_{j=1..order} cos(2 pi j (x_k - z_k) / period): the kernel of sines and cosines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.coordinate.periodic import rounded
from mercer.kernels.domain import REALS
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.fields import integer, positive
from mercer.kernels.latex import numeral
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import context, precisely
from mercer.kernels.proof.judgement import Fact

FULL_TURN = 2 * math.pi
"""As a period, this float stands for the number 2 pi itself."""
BLOCK_FEATURES = 1 << 16
"""Features that are held in float64 at once: they stay in the cache."""


class Trigonometric(Kernel):
    """The kernel of the features sin(j t_k), cos(j t_k), j = 1 ... order, with t = 2 pi x / period.

    k(x, z) = sum_k sum_{j=1..order} cos(2 pi j (x_k - z_k) / period), as the inner product of these features, which
    lose whole periods before anything is rounded. Cost: 2 order d operations per pair, in one product of matrices.

    Parameters
    ----------
    order : int, default=1
        The highest frequency, from 1 to 10,000.
    period : float, default=6.283185307179586
        Positive. The default, the float nearest to 2 pi, stands for 2 pi itself: sin(j x), cos(j x).

    Examples
    --------
    >>> from mercer.kernels import Trigonometric
    >>> Trigonometric(order=2, period=12.0)([[3.0]], [[3.0], [9.0], [15.0]])
    array([[2., 0., 2.]])

    References
    ----------
    Zygmund, Trigonometric Series (2002), section II.5 (Dirichlet's kernel, of which this is a half less 1/2).
    """

    dense_only = True
    formula = "sum_k sum_{j=1..order} cos(2 pi j (x_k - z_k) / period)"

    order: int = integer(default=1, minimum=1, maximum=10_000)
    period: float = positive(default=FULL_TURN)

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.after(("waves", self.order, self.period), self._lifted).dot()

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.full(points.values.shape[0], float(self.order * points.values.shape[1]))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        rest = pairs.apart / (2 if self.period == FULL_TURN else self.period)
        half = size = np.zeros(len(rest))
        for j in range(1, self.order + 1):
            turned = j * rest
            sine = np.sin(turned) if self.period == FULL_TURN else np.sin(np.pi * (turned - np.rint(turned)))
            half = half + (2 * sine * sine).sum(axis=1)
            size = size + 2 * rounded(sine, turned * np.pi)  # x - z is rounded where x is whole periods away
        return FeatureGap.stationary(float(self.order * pairs.apart.shape[1]), half, half + size)

    def _lifted(self, points: Points) -> Points:
        return points.mapped(lambda values: waves(values, self.order, self.period))

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.functions(self, 2 * self.order * build.n_columns)

    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """The waves of each row, in the dtype of X: first those of the first column.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, 2 order d)
        """
        out = np.empty((len(X), 2 * self.order * X.shape[1]), X.dtype)
        step = max(1, BLOCK_FEATURES // out.shape[1])
        for start in range(0, len(X), step):  # in float64, whatever X is: a period is no float32
            rows = slice(start, start + step)
            out[rows] = waves(X[rows].astype(np.float64), self.order, self.period)
        return out

    def names_of(self, inputs: Sequence[str]) -> list[str]:
        """The names sin(x1), cos(x1), sin(2 x1), ... of the features.

        Parameters
        ----------
        inputs : sequence of str
            The names of the columns.

        Returns
        -------
        list of str
        """
        turns = range(1, self.order + 1)
        return [f"{wave}({self._angle(name, j)})" for name in inputs for j in turns for wave in ("sin", "cos")]

    def _angle(self, name: str, j: int) -> str:
        if self.period == FULL_TURN:
            return name if j == 1 else f"{j} {name}"
        return f"{2 * j} pi {name} / {int(self.period) if self.period.is_integer() else self.period}"

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "cos(j (s - t)) = cos(j s) cos(j t) + sin(j s) sin(j t) is the inner product of the lift [cos(j t), "
            "sin(j t)], and they are added (sum rule)"
        )
        return (Fact(REALS, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        gap = rf"({{{x}}}_k - {{{z}}}_k)"
        angle = rf"j {gap}" if self.period == FULL_TURN else rf"\frac{{2 \pi j {gap}}}{{{numeral(self.period)}}}"
        return rf"\sum_k \sum_{{j=1}}^{{{self.order}}} \cos\left({angle}\right)"


def waves(values: NDArray[Any], order: int, period: float) -> NDArray[Any]:
    """The features of rows: for each column sin(t), cos(t), sin(2 t), cos(2 t), ..., with t = 2 pi x / period.

    values : (n, d) floats of 64 bits, or numbers of 50 digits; gives (n, 2 order d) of the same kind
    """
    sine, cosine = _circle(values, period)
    turns = np.empty((*values.shape, order, 2), dtype=values.dtype)
    turns[..., 0, 0], turns[..., 0, 1] = sine, cosine
    for j in range(1, order):  # one rotation further: a multiple of a large angle would be rounded
        before_sine, before_cosine = turns[..., j - 1, 0], turns[..., j - 1, 1]
        turns[..., j, 0] = before_sine * cosine + before_cosine * sine
        turns[..., j, 1] = before_cosine * cosine - before_sine * sine
    return turns.reshape(len(values), -1)


def _circle(values: NDArray[Any], period: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """sin(t) and cos(t) of t = 2 pi x / period; NumPy itself takes off whole turns exactly where the period is 2 pi."""
    if period == FULL_TURN:
        return np.sin(values), np.cos(values)
    if values.dtype == object:
        turn: Any = precisely(np.array(2 * context().pi / context().mpf(period)))
        return np.sin(values * turn), np.cos(values * turn)
    # Whole periods and quarters of one are taken off without rounding; what is left is at most an eighth.
    rest = np.fmod(values, period)
    rest -= period * np.rint(rest / period)
    quarters = np.rint(4 * (rest / period))
    rest -= quarters * (period / 4)
    sine, cosine = np.sin(FULL_TURN * (rest / period)), np.cos(FULL_TURN * (rest / period))
    place = quarters.astype(np.intp) % 4
    across, along = np.array([0.0, 1.0, 0.0, -1.0])[place], np.array([1.0, 0.0, -1.0, 0.0])[place]
    return sine * along + cosine * across, cosine * along - sine * across
