"""What is known of the error of a lift: a bound, how surely it holds, and for what."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mercer.html import Markup, Shown, badge, element, table

Kind = Literal["exact", "maximum", "mean", "quantile"]


@dataclass(frozen=True)
class Certificate(Shown):
    """A bound on how far phi(x).phi(z) is from k(x, z) on the pairs of a table, or distances are, relatively.

    Parameters
    ----------
    bound : float
        The error is at most this; infinity where nothing is claimed.
    probability : float
        With at least this probability; 1 where the bound is computed, not estimated.
    kind : {"exact", "maximum", "mean", "quantile"}
        "exact": only rounding; "maximum": over all pairs; "mean": the mean absolute error over all pairs; "quantile":
        over all pairs but the share that the sentence says.
    sentence : str
        The same in words.

    Examples
    --------
    >>> print(Certificate(0.01, 1.0, "maximum", "No entry is off by more than 0.01."))
    No entry is off by more than 0.01.
    """

    bound: float
    probability: float
    kind: Kind
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", badge("certificate"), " ", self.sentence)
        yield table([("bound", f"{self.bound:.4g}"), ("probability", f"{self.probability:g}"), ("kind", self.kind)])


def bounded(bound: float) -> float:
    """A bound as it is, and infinity where it is NaN: what overflows may be off by anything.

    >>> bounded(0.5), bounded(float("nan"))
    (0.5, inf)
    """
    return math.inf if math.isnan(bound) else bound
