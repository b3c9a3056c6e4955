"""Sines and cosines of every column, without interactions."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer import kernels
from mercer.kernels import Kernel
from mercer.kernels.coordinate.trigonometric import FULL_TURN
from mercer.lifts.base import Lift


class Trigonometric(Lift):
    """The waves of every column: sin(t), cos(t), sin(2 t), cos(2 t), ... up to sin(order t), cos(order t).

    t = 2 pi x / period, from which whole periods are taken off before anything is rounded: large numbers cost no
    digits. First come the 2 order features of the first column, then those of the second. The kernel is sum_k
    sum_{j=1..order} cos(2 pi j (x_k - z_k) / period); there is no constant feature. Time and memory O(n d order).

    Parameters
    ----------
    order : int, default=1
        At least 1.
    period : float, default=6.283185307179586
        Positive. The default, the float nearest to 2 pi, stands for 2 pi itself: sin(j x), cos(j x).

    Examples
    --------
    >>> from mercer.lifts.trigonometric import Trigonometric
    >>> lift = Trigonometric(order=2, period=12)
    >>> lift.fit_transform([[3.0]])
    array([[ 1.,  0.,  0., -1.]])
    >>> lift.get_feature_names_out().tolist()
    ['sin(2 pi x1 / 12)', 'cos(2 pi x1 / 12)', 'sin(4 pi x1 / 12)', 'cos(4 pi x1 / 12)']

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning (2009), section 5.1.
    """

    def __init__(self, order: int = 1, period: float = FULL_TURN) -> None:
        self.order = order
        self.period = period

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return self._settled

    @property
    def _settled(self) -> kernels.Trigonometric:
        return kernels.Trigonometric(self.order, self.period)

    def learn(self, X: Any) -> None:
        self._settled  # noqa: B018  # the kernel checks the numbers

    def n_features(self) -> int:
        return int(2 * self._settled.order * self.n_features_in_)

    def features(self, X: NDArray[Any]) -> NDArray[Any]:
        return self._settled.features_of(X)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return self._settled.names_of(inputs)
